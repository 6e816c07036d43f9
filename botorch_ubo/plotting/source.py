"""What a figure is made of: a run in any form, or a controller with points of one's own loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.run.goals import RunGoal
from botorch_ubo.run.recorded import RunSource, as_run

Source = RunSource | ExpandingBounds
"""A run file, an optimizer, a result; or the controller of a loop of one's own."""


@dataclass(frozen=True)
class Evaluated:
    """A box and the points that were evaluated, in their order."""

    box: ExpandingBounds
    X: Tensor
    """``n x d``, double on the CPU."""
    best: int | None
    """The best of them, if outcomes are known and one is best."""

    @property
    def num_initial(self) -> int:
        """How many points there were at the first step."""
        trace = self.box.trace
        return trace[0].num_observations if trace else len(self.X)

    def columns(self, dims: Sequence[int | str]) -> list[int]:
        """Dimensions by number or by name, checked."""
        d, space = self.X.shape[-1], self.box.settings.space
        names = () if space is None else space.names
        found = [names.index(dim) if dim in names else dim for dim in dims]
        if len(set(found)) != len(found) or any(it not in range(d) for it in found):
            named = f" or of {list(names)}" if names else ""
            raise InputDataError(
                f"Expected different dimensions from 0 to {d - 1}{named}; got {tuple(dims)}."
            )
        return [int(it) for it in found]


def evaluated(run: Source, X: Tensor | None = None, Y: Tensor | None = None) -> Evaluated:
    r"""Bring what a figure is made of to one form.

    Args:
        run: A run, or a controller.
        X: ``n x d`` evaluations in their order, with a controller; a run knows its own.
        Y: ``n`` or ``n x 1`` outcomes, likewise.

    Returns:
        Box, points and which is best.
    """
    if not isinstance(run, ExpandingBounds):
        if X is not None or Y is not None:
            raise InputDataError("Expected no `X` and `Y` beside a run, which has its own.")
        recorded = as_run(run)
        if not recorded.completed:
            raise InputDataError("Expected a run with an evaluation to draw; it has none yet.")
        several = recorded.goal.num_objectives > 1
        return Evaluated(recorded.box, recorded.X, None if several else recorded.best)
    if X is None:
        raise InputDataError("Expected `X`, the evaluations, beside a controller; got none.")
    d = run.bounds.shape[-1]
    if X.dim() != 2 or X.shape[-1] != d:
        raise InputDataError(f"Expected `X` of shape n x {d}; got {tuple(X.shape)}.")
    best = None if Y is None else _best_index(Y, X, run.settings.maximize)
    return Evaluated(run, X.detach().cpu().double(), best)


def goal_and_outcomes(run: RunSource) -> tuple[RunGoal, Tensor]:
    """What a run seeks and the ``n x m`` outcomes that it has."""
    recorded = as_run(run)
    if not recorded.completed:
        raise InputDataError("Expected a run with an evaluation to draw; it has none yet.")
    return recorded.goal, recorded.Y


def check_outcomes(Y: Tensor) -> Tensor:
    """Outcomes of one objective as ``n`` doubles."""
    if Y.dim() > 2 or (Y.dim() == 2 and Y.shape[-1] != 1):
        raise InputDataError(
            f"Expected `Y` of shape n or n x 1, one objective; got {tuple(Y.shape)}."
        )
    return Y.detach().cpu().double().reshape(-1)


def _best_index(Y: Tensor, X: Tensor, maximize: bool) -> int:
    Y = check_outcomes(Y)
    if len(Y) != len(X):
        raise InputDataError(
            f"Expected as many outcomes as evaluations; got {len(Y)} and {len(X)}."
        )
    return int(Y.argmax() if maximize else Y.argmin())
