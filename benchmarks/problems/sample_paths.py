"""Functions drawn from a GP whose hyper-parameters are known, many at once, and their maxima.

Paths are random Fourier series. Each has features of its own, so that over paths the covariance is
exactly the kernel's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from botorch.models import SingleTaskGP
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel
from gpytorch.means import ZeroMean
from torch import Tensor

from benchmarks.problems.stationary import KERNELS
from botorch_ubo.acquisition.batched.maximize import climb_batched

NUM_FEATURES = 1024
NOISE = 1e-6  # variance, of a prior variance of 1: the least that gpytorch takes without a word
RAW_SAMPLES = 8192
NUM_POLISHED = 16


_GPYTORCH: dict[str, Callable[[int], Kernel]] = {
    "RBF": lambda dim: RBFKernel(ard_num_dims=dim),
    "Matern 5/2": lambda dim: MaternKernel(nu=2.5, ard_num_dims=dim),
}


def known_model(
    X: Tensor, Y: Tensor, lengthscale: float, kernel_name: str = "RBF", noise: float = NOISE
) -> SingleTaskGP:
    """The GP that the paths are drawn from, on data: zero mean, variance 1, nothing fitted.

    ``noise`` is the variance of an observation.
    """
    kernel = _GPYTORCH[kernel_name](X.shape[-1]).to(X)
    kernel.lengthscale = lengthscale
    return SingleTaskGP(
        X,
        Y,
        torch.full_like(Y, noise),
        covar_module=kernel,
        mean_module=ZeroMean(),
        outcome_transform=None,
    ).eval()


@dataclass(frozen=True)
class Paths:
    """Functions of points in length-scales, with gradients."""

    frequencies: Tensor
    """``B x m x d``."""
    phases: Tensor
    """``B x m``."""
    weights: Tensor
    """``B x m``."""

    def take(self, groups: Tensor) -> Paths:
        """Some of them, by index."""
        return Paths(self.frequencies[groups], self.phases[groups], self.weights[groups])

    def __call__(self, points: Tensor, gradient: bool = True) -> tuple[Tensor, Tensor]:
        """``B x n`` values at ``B x n x d`` points, and gradients (else nothing)."""
        angles = points @ self.frequencies.mT + self.phases.unsqueeze(-2)
        values = (angles.cos() @ self.weights.unsqueeze(-1)).squeeze(-1)
        if not gradient:
            return values, values
        return values, -(angles.sin() * self.weights.unsqueeze(-2)) @ self.frequencies


def draw_paths(kernel_name: str, dim: int, seeds: Sequence[int]) -> Paths:
    """A path for each seed, of variance 1 and length-scale 1."""
    parts = []
    for seed in seeds:
        generator = torch.Generator().manual_seed(seed)
        normal = partial(torch.randn, generator=generator, dtype=torch.double)
        factors = KERNELS[kernel_name].factors(NUM_FEATURES, generator)
        phases = torch.rand(NUM_FEATURES, generator=generator, dtype=torch.double)
        weights = math.sqrt(2 / NUM_FEATURES) * normal(NUM_FEATURES)
        parts.append((factors * normal(NUM_FEATURES, dim), 2 * math.pi * phases, weights))
    return Paths(*(torch.stack(part) for part in zip(*parts, strict=True)))


def find_maxima(paths: Paths, boxes: Tensor) -> tuple[Tensor, Tensor]:
    """``B x d`` places and ``B`` values of maxima in boxes: many points, the best polished.

    Args:
        paths: The functions.
        boxes: ``B x 2 x d``, in length-scales.

    Returns:
        Places and values.
    """
    unit = torch.stack([torch.zeros(boxes.shape[-1]), torch.ones(boxes.shape[-1])]).double()
    cube = draw_sobol_samples(unit, RAW_SAMPLES, 1, seed=0).squeeze(-2)
    found = []
    for i in torch.arange(len(boxes)).split(1):  # one after another: there are many samples
        path, box = paths.take(i), boxes[i]
        samples = box[:, :1] + cube * (box[:, 1:] - box[:, :1])
        values = path(samples, False)[0]
        starts = samples[:, values[0].topk(NUM_POLISHED).indices]
        found.append(climb_batched(path, box, starts, NUM_POLISHED))
    return torch.cat([f.points for f in found]), torch.cat([f.values for f in found])


@dataclass(frozen=True)
class Path:
    """One function, of points in units of one's own."""

    paths: Paths
    """It alone."""
    lengthscale: float

    def __call__(self, X: Tensor) -> Tensor:
        """``n x 1`` values of ``n x d`` points."""
        return self.paths(X.unsqueeze(0) / self.lengthscale, False)[0].T

    def maximizer_in(self, box: Tensor) -> tuple[Tensor, float]:
        """The ``1 x d`` place of the maximum over a ``2 x d`` box, and its value."""
        place, value = find_maxima(self.paths, box.unsqueeze(0) / self.lengthscale)
        return place * self.lengthscale, float(value)


def draw_path(dim: int, lengthscale: float, seed: int, kernel_name: str = "RBF") -> Path:
    """One function of the prior."""
    return Path(draw_paths(kernel_name, dim, [seed]), lengthscale)
