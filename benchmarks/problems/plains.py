"""Generated tuning tasks that start on a plain: ``plain_bell2`` and its like, half to judge by.

Scores from 0 to 1, as of a classifier that has learnt nothing to one that has learnt all there is.
In the start box nothing tells where to go: scores there are equal but for rounding, noise, or a
slope that leads elsewhere. A seed is an instance: it draws the optimum, the start box, an offset
and the shape. The domain is 7 sides of the start box wide. Start boxes that show more than a
hundredth of the way are drawn again.

Two families of each kind, of which one is to look at and one to judge by, as in ``families.py``.
What counts is the share of the way from the start to the optimum.
"""

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from benchmarks.problems.problem import Family, Problem, Sources, distance_in_sides

LOOK, JUDGE = "plains-look", "plains-judge"
DOMAIN = 7.0  # sides of the start box, which is 1 wide
MARGIN = 0.5  # how far the optimum keeps from the domain's faces
FLAT = 0.01
DRAWS = 1000
_STREAM, _SAMPLES = 77, 512

Score = Callable[[Tensor], Tensor]
Shape = Callable[[np.random.Generator, int], Score]


def bell(rng: np.random.Generator, d: int) -> Score:
    """A bell on a plain."""
    width = torch.from_numpy(rng.uniform(0.7, 1.3, d))
    return lambda z: (-(z / width).square().sum(dim=-1) / 2).exp()


def cone(rng: np.random.Generator, d: int) -> Score:
    """A cone on a plain that is exactly flat."""
    width = torch.from_numpy(rng.uniform(1.8, 2.8, d))
    return lambda z: (1 - (z / width).norm(dim=-1)).clamp(min=0)


def gate(rng: np.random.Generator, d: int) -> Score:
    """Each parameter must be on the right side of a threshold; the best is a little beyond it."""
    sign = torch.from_numpy(rng.choice([-1.0, 1.0], d))
    steep = torch.from_numpy(rng.uniform(3, 6, d))

    def score(z: Tensor) -> Tensor:
        open_ = torch.sigmoid(steep * (sign * z + 1.2)) / torch.sigmoid(1.2 * steep)
        return (open_ * (1 - 0.15 * torch.tanh(z / 2).square())).clamp(max=1).prod(dim=-1)

    return score


def channel(rng: np.random.Generator, d: int) -> Score:
    """Parameters must fit to each other (their sum is in a band), and the first be large enough."""
    width, steep = rng.uniform(0.8, 1.4), rng.uniform(2, 4)

    def score(z: Tensor) -> Tensor:
        band = (-(z.sum(dim=-1) / width).square() / (2 * d)).exp()
        enough = torch.sigmoid(steep * (z[..., 0] + 1.5)) * (1 - 0.1 * torch.tanh(z[..., 0]) ** 2)
        return band * enough.clamp(max=1 / (1 + math.exp(-1.5 * steep)))

    return score


def counted(rng: np.random.Generator, d: int) -> Score:
    """A bell whose score is a count of 50, as that of a small test set."""
    smooth = bell(rng, d)
    return lambda z: (50 * smooth(z / 1.3)).round() / 50


def graded(rng: np.random.Generator, d: int) -> Score:
    """A share of 30 thresholds that are passed, each at a radius of its own."""
    radii = torch.from_numpy(np.sort(rng.uniform(0.1, 2.6, 30)))
    width = torch.from_numpy(rng.uniform(0.8, 1.2, d))
    return lambda z: (((z / width).norm(dim=-1, keepdim=True)) < radii).double().mean(dim=-1)


def leaning(rng: np.random.Generator, d: int) -> Score:
    """A bell on a plain that rises away from it by a hundredth, and saturates."""
    smooth, side = bell(rng, d), rng.choice([-1.0, 1.0])
    return lambda z: smooth(z) + 0.004 * torch.tanh(side * z[..., 0] / 3) * (1 - smooth(z))


def moat(rng: np.random.Generator, d: int) -> Score:
    """A bell behind a ring that is worse than the plain."""
    smooth = bell(rng, d)

    def score(z: Tensor) -> Tensor:
        hill = smooth(z)
        return hill - 0.6 * smooth(z / 2) * (1 - hill)

    return score


def ladder(rng: np.random.Generator, d: int) -> Score:
    """The first parameter brings something by itself, the others only together."""
    hill = bell(rng, d)
    return lambda z: 0.25 * (-z[..., 0].square() / 4).exp() + 0.75 * hill(z / 1.2)


def ledge(rng: np.random.Generator, d: int) -> Score:
    """A step up in one direction, flat in all, with a cone on it."""
    hill = cone(rng, d)

    def score(z: Tensor) -> Tensor:
        return 0.3 * torch.sigmoid(8 * (z[..., -1] + 2)) + 0.7 * hill(z)

    return score


@dataclass(frozen=True)
class Kind:
    """Two families that are plain in the same way, each in two dimensions."""

    shapes: tuple[tuple[str, Shape], tuple[str, Shape]]
    dims: tuple[int, int]
    noise: float = 0.0


KINDS = (
    Kind((("bell", bell), ("cone", cone)), (1, 2)),
    Kind((("gate", gate), ("channel", channel)), (2, 4)),
    Kind((("counted", counted), ("graded", graded)), (2, 3)),
    Kind((("noisygate", gate), ("noisycone", cone)), (2, 3), noise=0.01),
    Kind((("leaning", leaning), ("moat", moat)), (2, 3)),
    Kind((("ladder", ladder), ("ledge", ledge)), (2, 5)),
)
HALVES = {
    half: {
        f"plain_{kind.shapes[place][0]}{dim}": (kind, kind.shapes[place][1], dim)
        for kind in KINDS
        for dim in kind.dims
    }
    for place, half in enumerate((LOOK, JUDGE))
}
FUNCTIONS = {**HALVES[LOOK], **HALVES[JUDGE]}


def make_plain(name: str, seed: int, sources: Sources) -> Problem:
    """The instance of that seed."""
    kind, shape, dim = FUNCTIONS[name]
    rng = np.random.default_rng([_STREAM, seed, zlib.crc32(name.encode())])
    score = shape(rng, dim)
    offset = float(rng.normal())  # or zero would mean "nothing learnt"
    best = float(score(torch.zeros(1, dim, dtype=torch.double)))
    domain = torch.tensor([[0.0] * dim, [DOMAIN] * dim], dtype=torch.double)
    for _ in range(DRAWS):
        optimizer = torch.from_numpy(rng.uniform(MARGIN, DOMAIN - MARGIN, dim))
        corner = torch.from_numpy(rng.uniform(0, DOMAIN - 1, dim))
        box = torch.stack([corner, corner + 1])
        inside = score(draw_sobol_samples(box, _SAMPLES, 1, seed=0).squeeze(-2) - optimizer)
        if float(inside.max() - inside.min()) <= FLAT * best:
            return Problem(
                name=name,
                function=_placed(score, optimizer, offset),
                bounds=domain,
                optimal_value=offset + best,
                optimizer=optimizer,
                start_box=box,
                start_value=offset + float(inside.max()),
                distance=distance_in_sides(optimizer, box),
                noise_std=kind.noise,
            )
    raise RuntimeError(f"Expected a flat start box of {name} in {DRAWS} draws; seed {seed}")


def _placed(score: Score, optimizer: Tensor, offset: float) -> Callable[[Tensor], Tensor]:
    return lambda X: offset + score(X - optimizer)


FAMILIES = (
    Family(LOOK, "Plains to look at", tuple(HALVES[LOOK]), make_plain),
    Family(JUDGE, "Plains to judge by", tuple(HALVES[JUDGE]), make_plain),
)
