"""Space-filling points of a space with a grid: each at most once."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from botorch_ubo.acquisition.search import Lattice
from botorch_ubo.controller.initial import initial_points, initial_points_within
from botorch_ubo.policies.state import Settings
from botorch_ubo.spaces import Space

_TRIES = 64  # points of the sequence per one that is new, before a grid counts as exhausted


def initial_point_of(
    space: Space,
    index: int,
    span: float,
    seed: int,
    taken: Collection[tuple[float, ...]] = (),
) -> list[float]:
    r"""A point of a scrambled Sobol sequence; no two indices have the same while there are others.

    Args:
        space: The parameters.
        index: Which of the different points of the sequence.
        span: See :func:`botorch_ubo.controller.initial.initial_points`.
        seed: Its seed.
        taken: Points that are known: one of those is left out while there are others.

    Returns:
        The point, in coordinates.
    """
    drawn = torch.tensor([p.drawn for p in space.parameters.values()], dtype=torch.double).T
    count = index + 1
    while True:
        points = initial_points(drawn, space.limits, count, span, seed).tolist()
        sequence = list(dict.fromkeys(map(space.snap, points)))
        fresh = [point for point in sequence[index:] if point not in taken]
        if fresh:
            return list(fresh[0])
        if count > _TRIES * (index + 1):
            break
        count *= 2
    point = space.snap(points[index])
    fresh = [other for other in sequence if other not in taken]
    fresh += Lattice(space, frozenset(taken)).nearest_fresh(point)
    return list(fresh[0] if fresh else point)


def initial_points_of(settings: Settings, initial_bounds: Tensor, n: int, span: float) -> Tensor:
    r"""The first points of a run, with names or without.

    Args:
        settings: With hard limits, seed and named parameters, if there are any.
        initial_bounds: The first ``2 x d`` box.
        n: How many.
        span: See :func:`botorch_ubo.controller.initial.initial_points`.

    Returns:
        An ``n x d`` tensor in double.
    """
    space, seed = settings.space, settings.seed
    if space is None:
        return initial_points_within(initial_bounds, settings.hard_limits, n, span, seed)
    rows = [initial_point_of(space, index, span, seed) for index in range(n)]
    return torch.tensor(rows, dtype=torch.double).reshape(n, -1)
