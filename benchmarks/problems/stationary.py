"""Isotropic kernels of variance 1 and length-scale 1, and the spectra that paths are drawn by.

Each is given as a function of the squared distance with its derivative, and as a scale mixture of
squared exponentials: a frequency is a normal vector times a random factor.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Correlation = Callable[[Tensor], tuple[Tensor, Tensor]]
Factors = Callable[[int, torch.Generator], Tensor]


@dataclass(frozen=True)
class Stationary:
    """A kernel.

    Attributes:
        correlation: Squared distances to values and derivatives by the squared distance.
        factors: ``count x 1`` random factors of frequencies.
        slope: Standard deviation of a partial derivative.
    """

    correlation: Correlation
    factors: Factors
    slope: float


def _squared_exponential(r2: Tensor) -> tuple[Tensor, Tensor]:
    k = (-r2 / 2).exp()
    return k, -k / 2


def _matern52(r2: Tensor) -> tuple[Tensor, Tensor]:
    r = (5 * r2).sqrt()
    e = (-r).exp()
    return (1 + r + r * r / 3) * e, -(5 / 6) * (1 + r) * e


def _matern32(r2: Tensor) -> tuple[Tensor, Tensor]:
    r = (3 * r2).sqrt()
    e = (-r).exp()
    return (1 + r) * e, -1.5 * e


def _rational(r2: Tensor) -> tuple[Tensor, Tensor]:
    base = 1 + r2 / 2  # alpha = 1
    return 1 / base, -0.5 / base.square()


_SHORTER = 3.0  # times, of the second scale of the sum


def _two_scales(r2: Tensor) -> tuple[Tensor, Tensor]:
    (k, dk), (other, d_other) = _squared_exponential(r2), _squared_exponential(_SHORTER**2 * r2)
    return (k + other) / 2, (dk + _SHORTER**2 * d_other) / 2


def _student(degrees: int) -> Factors:
    """A Matern kernel's spectrum is Student's distribution with ``2 nu`` degrees."""

    def draw(count: int, generator: torch.Generator) -> Tensor:
        normal = torch.randn(count, degrees, generator=generator, dtype=torch.double)
        return (degrees / normal.square().sum(dim=-1, keepdim=True)).sqrt()

    return draw


def _ones(count: int, generator: torch.Generator) -> Tensor:
    return torch.ones(count, 1, dtype=torch.double)


def _root_of_exponential(count: int, generator: torch.Generator) -> Tensor:
    return (-(torch.rand(count, 1, generator=generator, dtype=torch.double).log())).sqrt()


def _one_or_shorter(count: int, generator: torch.Generator) -> Tensor:
    half = torch.rand(count, 1, generator=generator, dtype=torch.double) < 0.5
    return torch.where(half, 1.0, _SHORTER).double()


KERNELS: dict[str, Stationary] = {
    "RBF": Stationary(_squared_exponential, _ones, 1.0),
    "Matern 5/2": Stationary(_matern52, _student(5), math.sqrt(5 / 3)),
    "Matern 3/2": Stationary(_matern32, _student(3), math.sqrt(3)),
    "rational quadratic": Stationary(_rational, _root_of_exponential, 1.0),
    "two scales": Stationary(_two_scales, _one_or_shorter, math.sqrt((1 + _SHORTER**2) / 2)),
}
