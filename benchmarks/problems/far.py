"""Functions whose optimum lies far from the start box: ``far_smooth2_d30`` and its like.

The start box is the unit cube. From its centre, a direction drawn with the seed leaves it at a
face, and the optimum lies ``D`` sides further that way. Widths are proportional to the distance
``r`` from the centre of the start box to the optimum, so that there is a slope to follow at the
start whatever the distance. With ``z = x - optimum``,

- smooth:      ``exp(-|z|^2 / (2 w^2))`` with ``w = r / 2``: a bell, ``exp(-2)`` at the start;
- anisotropic: a bell with widths from 1 to 10 times the least, in random order, also ``exp(-2)``;
- rippled:     ``-|z|^2 / r^2 - (a / d) sum_i sin^2(pi z_i)`` with ``a = 0.2 / r``: a bowl with
  ripples one side of the start box long, a tenth as high as the bowl changes over that side.

A run ends at 1 % of the regret of the best initial point. The nominal domain, which is what the
oracle is told, is the box of ``3 D`` sides around the start box.
"""

import math
import re
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from benchmarks.problems.problem import Family, Problem, Sources

DISTANCES = (1, 3, 10, 30, 100)
NUM_EVALUATIONS = {2: 40, 5: 60}
TARGET_SHARE = 0.01
LARGEST_RATIO = 10.0  # of two widths of the anisotropic bell
_STREAM = 70  # keeps these draws apart from others with the same seed

Function = Callable[[Tensor], Tensor]


def _smooth(optimizer: Tensor, r: float, rng: np.random.Generator) -> Function:
    return lambda X: torch.exp(-2 * (X - optimizer).square().sum(dim=-1) / r**2)


def _anisotropic(optimizer: Tensor, r: float, rng: np.random.Generator) -> Function:
    ratios = torch.from_numpy(rng.permutation(np.geomspace(1, LARGEST_RATIO, len(optimizer))))
    # Scaled such that the start box's centre, at 1/2 in every coordinate, has exp(-2).
    exponent = ((0.5 - optimizer) / ratios).square().sum()
    return lambda X: torch.exp(-2 * ((X - optimizer) / ratios).square().sum(dim=-1) / exponent)


def _rippled(optimizer: Tensor, r: float, rng: np.random.Generator) -> Function:
    def function(X: Tensor) -> Tensor:
        z = X - optimizer
        ripples = torch.sin(math.pi * z).square().mean(dim=-1)
        return -z.square().sum(dim=-1) / r**2 - 0.2 / r * ripples

    return function


# By name: how to make the function of an optimum and its distance, and its largest value.
KINDS: dict[str, tuple[Callable[[Tensor, float, np.random.Generator], Function], float]] = {
    "smooth": (_smooth, 1.0),
    "rippled": (_rippled, 0.0),
    "anisotropic": (_anisotropic, 1.0),
}

NAMES = tuple(
    f"far_{kind}{dim}_d{distance}"
    for kind in KINDS
    for dim in NUM_EVALUATIONS
    for distance in DISTANCES
)


def make_far(name: str, seed: int, sources: Sources) -> Problem:
    """The problem of that name with the direction of that seed."""
    kind, dim_text, distance_text = re.fullmatch(r"far_([a-z]+)(\d+)_d(\d+)", name).groups()
    dim, distance = int(dim_text), int(distance_text)
    make, optimal_value = KINDS[kind]
    rng = np.random.default_rng([_STREAM, seed, dim])
    direction = torch.from_numpy(rng.standard_normal(dim))
    direction /= direction.norm()
    r = 0.5 / float(direction.abs().max()) + distance
    optimizer = 0.5 + r * direction
    start_box = torch.stack([torch.zeros(dim), torch.ones(dim)]).double()
    return Problem(
        name=name,
        function=make(optimizer, r, rng),
        bounds=0.5 + 3 * distance * (start_box - 0.5),
        optimal_value=optimal_value,
        optimizer=optimizer,
        start_box=start_box,
        distance=float(distance),
        target_share=TARGET_SHARE,
        num_evaluations=NUM_EVALUATIONS[dim],
    )


FAMILY = Family("far", "Far optimum", NAMES, make_far)
