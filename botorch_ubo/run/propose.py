r"""``propose``: from a record of trials to the next ones, for hosts that keep the record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings, SpaceExhaustedError
from botorch_ubo.boxes import HardLimits, check_inside
from botorch_ubo.controller import DEFAULT_METHOD, ExpandingBounds, Method
from botorch_ubo.controller.arguments import Epsilon
from botorch_ubo.controller.initial import usual_num_initial
from botorch_ubo.controller.initial_in_space import initial_point_of
from botorch_ubo.controller.rebuilding import check_rebuildable
from botorch_ubo.run.arguments import Bounds, Direction, as_bounds, as_points
from botorch_ubo.spaces import Named, Space, as_space

Point = Mapping[str, Any] | Sequence[float]
_TOO_LARGE = 1e150  # its square is infinite


@dataclass(frozen=True)
class Outcome:
    r"""What is known of one trial: its value, that it failed, or that it is under way.

    Args:
        point: Values by name in a space with names, else ``d`` numbers.
        value: Its outcome; ``None`` if there is none yet. One that is NaN, infinite or beyond 1e150
            is a failure.
        variance: The variance of the outcome's noise, if known; then all outcomes need one.
        failed: Whether there will be none.
    """

    point: Point
    value: float | None = None
    variance: float | None = None
    failed: bool = False

    @property
    def completed(self) -> bool:
        """Whether there is a usable value."""
        return not self.failed and self.value is not None and abs(self.value) < _TOO_LARGE

    @property
    def pending(self) -> bool:
        """Whether there may be a value some day."""
        return not self.failed and self.value is None


def propose(
    space: Named | Bounds,
    record: Sequence[Outcome],
    q: int = 1,
    *,
    direction: Direction = "minimize",
    method: str | Method = DEFAULT_METHOD,
    hard_limits: HardLimits = None,
    num_initial: int | None = None,
    epsilon: Epsilon = 0.05,
    seed: int = 0,
    search: SearchSettings | None = None,
    index: int | None = None,
) -> list[Any]:
    r"""Propose trials from a record of all earlier ones, and from nothing else.

    Called again with the record as it has become, in this process or in another, it goes on as
    :class:`UnboundedOptimizer` does, to the digit: results come in the order of the record, and no
    side of the box was kept by failures or the growth cap, for which a run needs a memory. Methods
    whose box depends on more than the data are refused.

    Args:
        space: Parameters by name, or ``d`` pairs ``(lower, upper)``, or a ``2 x d`` tensor.
        record: All trials, in the order in which they were proposed, always the same one.
        q: The number of trials to propose.
        direction: ``"minimize"`` or ``"maximize"``.
        method: A name of :func:`botorch_ubo.available_methods`, or a method of one's own.
        hard_limits: Limits that no proposal crosses, if ``space`` has no names.
        num_initial: Space-filling trials before the first model; ``3 d``, but no more than 30,
            by default. Give the same number each time.
        epsilon: See :class:`UnboundedOptimizer`.
        seed: Seed of all random choices; the same each time.
        search: How hard to search for the maximum of an acquisition function.
        index: Which space-filling point to begin with, as long as those are due; the length of the
            record by default. Workers that do not see each other pass numbers of their own.

    Returns:
        ``q`` points: dicts of values if parameters have names, else lists of numbers. With names,
        none is known, pending or failed, unless the data tell of noise.

    Raises:
        SpaceExhaustedError: If a finite space has no such points left.

    Example:
        >>> space = {"lr": Float(1e-4, 1e-2, log=True)}
        >>> record = [Outcome({"lr": 1e-3}, 0.3), Outcome({"lr": 3e-3})]  # the second is under way
        >>> propose(space, record)
        [{'lr': ...}]
    """
    if direction not in ("minimize", "maximize"):
        raise InputDataError(f"Expected direction 'minimize' or 'maximize'; got {direction!r}.")
    if q < 1:
        raise InputDataError(f"Expected q >= 1; got {q}.")
    named = as_space(space)
    box = ExpandingBounds(
        as_bounds(space) if named is None else named,
        method=method,
        hard_limits=hard_limits,
        epsilon=epsilon,
        max_growth=math.inf,  # what the last box was, from which growth is counted, is not known
        maximize=direction == "maximize",
        search=search,
        seed=seed,
    )
    check_rebuildable(box.method)
    d = box.initial_bounds.shape[-1]
    total = usual_num_initial(d) if num_initial is None else num_initial
    if total < 1:
        raise InputDataError(f"Expected `num_initial` >= 1; got {num_initial}.")
    points = _points(named, record, d)
    check_inside(points, box.settings.hard_limits, "the points of the record")
    has_data = any(outcome.completed for outcome in record)
    filling = min(q, max(0, total - len(record))) if has_data else q
    start = len(record) if index is None else index
    new = _initial(box, named, points, start, filling)
    if len(new) < filling and not has_data:
        raise SpaceExhaustedError(len(record) + len(new))
    if len(new) < q:
        rest = _suggest(box, record, points, new, q - len(new), total)
        new = torch.cat([new, rest])
    rows = new.tolist()
    return rows if named is None else [named.decode(row) for row in rows]


def _points(space: Space | None, record: Sequence[Outcome], d: int) -> Tensor:
    """``n x d`` coordinates of the record."""
    if not record:
        return torch.empty(0, d, dtype=torch.double)
    if space is None:
        return as_points([outcome.point for outcome in record], d)
    rows = []
    for outcome in record:
        if not isinstance(outcome.point, Mapping):
            raise InputDataError(f"Expected values by name; got {outcome.point!r}.")
        rows.append(space.encode(outcome.point))
    return torch.tensor(rows, dtype=torch.double)


def _initial(
    box: ExpandingBounds, space: Space | None, points: Tensor, start: int, count: int
) -> Tensor:
    if space is None:
        return box.initial_points(start + count)[start:]
    span, seed = box.method.initial_span, box.settings.seed
    taken = set(map(space.snap, points.tolist()))
    rows: list[list[float]] = []
    for index in range(start, start + count):
        row = initial_point_of(space, index, span, seed, taken)
        if tuple(row) in taken:  # all of a grid are known
            break
        rows.append(row)
        taken.add(tuple(row))
    return torch.tensor(rows, dtype=torch.double).reshape(len(rows), points.shape[-1])


def _suggest(
    box: ExpandingBounds,
    record: Sequence[Outcome],
    points: Tensor,
    new: Tensor,
    q: int,
    num_initial: int,
) -> Tensor:
    completed = torch.tensor([outcome.completed for outcome in record])
    pending = torch.tensor([outcome.pending for outcome in record])
    done = [outcome for outcome in record if outcome.completed]
    Y = torch.tensor([[outcome.value] for outcome in done], dtype=torch.double)
    known = [outcome.variance is not None for outcome in done]
    if any(known) and not all(known):
        raise InputDataError(
            "Expected a variance with all outcomes or with none: noise is given or learned."
        )
    Yvar = None
    if all(known):
        Yvar = torch.tensor([[outcome.variance] for outcome in done], dtype=torch.double)
    X = points[completed]
    # The first model was made of what had come in when the first points had been handed out.
    first = max(num_initial, 1 + int(completed.nonzero()[0]))
    box.rebuild(X, int(completed[:first].sum()))
    X_pending = torch.cat([points[pending], new])
    X_failed = points[~completed & ~pending]
    return box.suggest(
        box.fit(X, Y, Yvar),
        q=q,
        X_pending=X_pending if len(X_pending) else None,
        X_failed=X_failed if len(X_failed) else None,
    )
