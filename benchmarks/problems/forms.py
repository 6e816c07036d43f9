"""Formulas of generated functions, by name: ``FORMS[name](rng, d)`` is a function to minimise.

Each takes ``n x d`` offsets ``z`` from its minimiser, where it is 0, and is finite and not negative
everywhere. Offsets are in units in which a domain is 10 wide. What ``rng`` draws is all that
differs between two instances, but for the place and the rotation, which are not made here.

Forms of Ackley, Dixon and Price, Lunacek, Rastrigin, Rosenbrock, Schaffer, Schwefel, Styblinski and
Tang, and Weierstrass are those of the literature, with ripples long enough that
some tens of evaluations can tell them from noise.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

Function = Callable[[Tensor], Tensor]
Form = Callable[[np.random.Generator, int], Function]

SIDE = 10.0


def _spread(d: int, condition: float) -> Tensor:
    """``d`` weights from 1 to ``condition``, geometrically."""
    return torch.logspace(0, math.log10(condition), d, dtype=torch.double)


def _quadratic(weights: Tensor) -> Function:
    return lambda z: (weights * z.square()).sum(dim=-1)


def _uniform(rng: np.random.Generator, low: float, high: float, *shape: int) -> Tensor:
    return torch.from_numpy(rng.uniform(low, high, shape))


def cumulative(rng: np.random.Generator, d: int) -> Function:
    return lambda z: z.cumsum(dim=-1).square().sum(dim=-1)


def powers(rng: np.random.Generator, d: int) -> Function:
    exponents = torch.linspace(2, 6, d, dtype=torch.double)
    return lambda z: z.abs().pow(exponents).sum(dim=-1)


def discus(rng: np.random.Generator, d: int) -> Function:
    weights = torch.ones(d, dtype=torch.double)
    weights[0] = 1e4
    return _quadratic(weights)


def ellipsoid(rng: np.random.Generator, d: int) -> Function:
    return _quadratic(_spread(d, 1e4))


def dixon(rng: np.random.Generator, d: int) -> Function:
    index = torch.arange(1, d + 1, dtype=torch.double)
    best = 2 ** -((2**index - 2) / 2**index)

    def function(z: Tensor) -> Tensor:
        w = best + 0.5 * z
        steps = (2 * w[..., 1:].square() - w[..., :-1]).square()
        return (w[..., 0] - 1).square() + (index[1:] * steps).sum(dim=-1)

    return function


def rosenbrock(rng: np.random.Generator, d: int) -> Function:
    def function(z: Tensor) -> Tensor:
        w = 1 + 0.4 * z
        steps = (w[..., 1:] - w[..., :-1].square()).square()
        return (100 * steps + (w[..., :-1] - 1).square()).sum(dim=-1)

    return function


def kink(rng: np.random.Generator, d: int) -> Function:
    weights = _spread(d, 10)
    return lambda z: (weights * z.abs()).amax(dim=-1)


def sharp_ridge(rng: np.random.Generator, d: int) -> Function:
    return lambda z: z[..., 0].square() + 20 * z[..., 1:].norm(dim=-1)


def ackley(rng: np.random.Generator, d: int) -> Function:
    def function(z: Tensor) -> Tensor:
        u = 0.5 * z
        ripples = torch.cos(2 * math.pi * u).mean(dim=-1).exp()
        return 20 + math.e - 20 * (-0.2 * u.square().mean(dim=-1).sqrt()).exp() - ripples

    return function


def rastrigin(rng: np.random.Generator, d: int) -> Function:
    def function(z: Tensor) -> Tensor:
        u = 0.4 * z
        return (u.square() + 1.5 * (1 - torch.cos(2 * math.pi * u))).sum(dim=-1)

    return function


def lunacek(rng: np.random.Generator, d: int) -> Function:
    """Two funnels, of which the wider is the worse."""
    near, share = 2.5, 1 - 1 / (2 * math.sqrt(d + 20) - 8.2)
    far = -math.sqrt((near**2 - 1) / share)

    def function(z: Tensor) -> Tensor:
        funnels = torch.minimum(
            z.square().sum(dim=-1), d + share * (z + near - far).square().sum(dim=-1)
        )
        return funnels + (1 - torch.cos(0.8 * math.pi * z)).sum(dim=-1)

    return function


def peaks(rng: np.random.Generator, d: int, count: int = 12) -> Function:
    """The highest of several bells; the best is the narrowest but two."""
    centers = torch.cat([torch.zeros(1, d).double(), _uniform(rng, -6, 6, count - 1, d)])
    heights = torch.cat([torch.ones(1).double(), _uniform(rng, 0.3, 0.85, count - 1)])
    widths = torch.from_numpy(np.sort(rng.uniform(0.8, 2.0, count)))
    widths[[0, 2]] = widths[[2, 0]]

    def function(z: Tensor) -> Tensor:
        distances = (z.unsqueeze(-2) - centers).square().mean(dim=-1) / (2 * widths.square())
        return 1 - (heights * (-distances).exp()).amax(dim=-1)

    return function


def schaffers(rng: np.random.Generator, d: int) -> Function:
    def function(z: Tensor) -> Tensor:
        s = torch.hypot(z[..., 1:], z[..., :-1])
        ripples = torch.sin(10 * s.pow(0.4)).square()
        return (s.sqrt() * (1 + ripples)).mean(dim=-1).square()

    return function


def weierstrass(rng: np.random.Generator, d: int) -> Function:
    k = torch.arange(5, dtype=torch.double)

    def function(z: Tensor) -> Tensor:
        waves = 1 - torch.cos(0.5 * math.pi * 3**k * z.unsqueeze(-1))
        return (waves * 0.5**k).sum(dim=-1).mean(dim=-1) + 0.1 * z.square().mean(dim=-1)

    return function


def lattice(rng: np.random.Generator, d: int) -> Function:
    """Inputs that are rounded, as integers are."""
    bowl = _quadratic(_spread(d, 10))
    return lambda z: bowl((z / 0.6).round())


def staircase(rng: np.random.Generator, d: int) -> Function:
    """Values that are rounded, as counts of errors are."""
    bowl, step = _quadratic(_spread(d, 10)), 0.5
    return lambda z: (bowl(z).sqrt() / step).floor()


def gentle(rng: np.random.Generator, d: int) -> Function:
    return _quadratic(_spread(d, 10))


def chirp(rng: np.random.Generator, d: int) -> Function:
    """Ripples that become shorter away from the minimiser."""

    def function(z: Tensor) -> Tensor:
        ripples = torch.sin(0.35 * z.abs().pow(1.8)).square()
        return (0.1 * z.square() + ripples).mean(dim=-1)

    return function


def warp(rng: np.random.Generator, d: int) -> Function:
    """Steep near the minimiser and almost flat elsewhere, as on a scale that is not a log scale."""
    weights = _spread(d, 10)
    return lambda z: (weights * torch.asinh(10 * z).square()).sum(dim=-1)


def sector(rng: np.random.Generator, d: int) -> Function:
    """A hundred times as steep on one side of every dimension as on the other."""

    def function(z: Tensor) -> Tensor:
        return torch.where(z > 0, 100 * z, z).square().sum(dim=-1).pow(0.9)

    return function


def cliff(rng: np.random.Generator, d: int) -> Function:
    """Linear on one side of every dimension, exponential on the other."""

    def function(z: Tensor) -> Tensor:
        u = z.clamp(max=40)
        return (u.expm1() - u).sum(dim=-1)

    return function


def funnel(rng: np.random.Generator, d: int) -> Function:
    """A bell on a plain that leans towards it by a thousandth."""

    def function(z: Tensor) -> Tensor:
        distance = z.square().mean(dim=-1)
        return 1 - (-distance / (2 * 1.2**2)).exp() + 1e-3 * distance.sqrt()

    return function


def mesa(rng: np.random.Generator, d: int) -> Function:
    """A bowl in a plain that is exactly flat."""
    return lambda z: (z.square().mean(dim=-1) / 2.2**2).clamp(max=1)


def exploding(rng: np.random.Generator, d: int) -> Function:
    """Values over ten orders of magnitude."""
    bowl = _quadratic(_spread(d, 10) / (d * 20))
    return lambda z: torch.expm1(bowl(z).clamp(max=60))


def product(rng: np.random.Generator, d: int) -> Function:
    weights = _spread(d, 10)
    return lambda z: (1 + weights * z.square()).clamp(max=1e6).prod(dim=-1) - 1


def decaying(rng: np.random.Generator, d: int) -> Function:
    """Each dimension matters a fourth as much as the one before, in random order."""
    weights = torch.from_numpy(rng.permutation(4.0 ** -np.arange(d)))
    return lambda z: (weights * (z.square() + 3 * (1 - torch.cos(z)))).sum(dim=-1)


def embedded(rng: np.random.Generator, d: int) -> Function:
    """Two directions matter, which are no axes once rotated."""
    bowl = rastrigin(rng, 2)
    return lambda z: bowl(z[..., :2])


def basins(rng: np.random.Generator, d: int, count: int = 5) -> Function:
    """The lowest of several bowls of different steepness, with kinks between them."""
    centers = torch.cat([torch.zeros(1, d).double(), _uniform(rng, -6, 6, count - 1, d)])
    offsets = torch.cat([torch.zeros(1).double(), _uniform(rng, 0.5, 3, count - 1)])
    steepness = _uniform(rng, 0.3, 2, count)

    def function(z: Tensor) -> Tensor:
        distances = (z.unsqueeze(-2) - centers).square().mean(dim=-1)
        return (offsets + steepness * distances).amin(dim=-1)

    return function


def double_well(rng: np.random.Generator, d: int) -> Function:
    best, least = -2.9035340277711770, -39.166165703771419
    signs = torch.from_numpy(rng.choice([-1.0, 1.0], d))

    def function(z: Tensor) -> Tensor:
        u = best + 0.7 * signs * z
        wells = (u.pow(4) - 16 * u.square() + 5 * u) / 2 - least
        return wells.sum(dim=-1).clamp(min=0)  # the constants are rounded

    return function
