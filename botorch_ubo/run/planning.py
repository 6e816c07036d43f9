"""Which points come next: a first design, what the model suggests, what the user has evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from botorch.models import SingleTaskGP
from torch import Tensor

from botorch_ubo.acquisition.search import SpaceExhaustedError
from botorch_ubo.boxes import check_inside
from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.controller.initial_in_space import initial_point_of
from botorch_ubo.run.arguments import as_points, as_values
from botorch_ubo.run.goals import Numbers
from botorch_ubo.run.ledger import Ledger
from botorch_ubo.run.trials import as_tensor


def plan_points(
    box: ExpandingBounds,
    ledger: Ledger,
    count: int,
    num_initial: int,
    fit: Callable[[], SingleTaskGP],
) -> list[list[float]]:
    r"""New points to evaluate.

    Args:
        box: The controller, which may move its box.
        ledger: The trials so far.
        count: How many points.
        num_initial: Size of the first design.
        fit: The model of the completed trials.

    Returns:
        The points.

    Raises:
        SpaceExhaustedError: If all points of a grid are known, and the data tell of no noise.
    """
    index, points = len(ledger), list[list[float]]()
    # Without a single result there is no model: go on filling the first box.
    while len(points) < count and (index < num_initial or not ledger.completed):
        point = _initial_point(box, index, ledger, points)
        if point is None and not ledger.completed:
            raise SpaceExhaustedError(len(ledger))
        if point is None:  # whether a repetition is worth something, the model can tell
            break
        points.append(point)
        index += 1
    if len(points) == count:
        return points
    pending = [*(trial.X for trial in ledger.pending), *points]
    X = box.suggest(
        fit(),
        q=count - len(points),
        X_pending=torch.tensor(pending, dtype=torch.double) if pending else None,
        X_failed=as_tensor(ledger.failed) if ledger.failed else None,
    )
    return [*points, *X.to("cpu", torch.double).tolist()]


def add_evaluations(
    ledger: Ledger, data: tuple[Any, ...], limits: Tensor, num_outcomes: int = 1
) -> Ledger:
    r"""A ledger with evaluations that were not asked for.

    Args:
        ledger: The trials so far.
        data: ``n x d`` points, ``n`` values and, if known, ``n`` variances, in any form; ``n x m``
            of several outcomes.
        limits: ``2 x d`` hard limits that the points must respect.
        num_outcomes: ``m``.

    Returns:
        The ledger.
    """
    if not isinstance(data, tuple | list) or len(data) not in (2, 3):
        raise InputDataError(
            "Expected `data` as a pair (X, Y) of points and outcomes, or (X, Y, variance); got "
            f"{data!r}."
        )
    X, Y, variance = data if len(data) == 3 else (*data, None)
    points = as_points(X, limits.shape[-1])
    values = as_values(Y, len(points), "Y", num_outcomes)
    noise: list[Numbers | None] = [None] * len(points)
    if variance is not None:
        noise = list(as_values(variance, len(points), "variance", num_outcomes))
    check_inside(points, limits, "the given points")
    return ledger.add(points.tolist(), values, noise)


def _initial_point(
    box: ExpandingBounds, index: int, ledger: Ledger, planned: list[list[float]]
) -> list[float] | None:
    """A space-filling point in or around the first box; none if all of a grid are known."""
    space = box.settings.space
    if space is None:
        return list(box.initial_points(index + 1)[index].tolist())
    taken = {*(space.snap(trial.X) for trial in ledger.trials), *map(tuple, planned)}
    point = initial_point_of(space, index, box.method.initial_span, box.settings.seed, taken)
    return None if tuple(point) in taken else point
