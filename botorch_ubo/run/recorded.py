"""A run to look at, whoever has it: a run file, an optimizer or a result."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from botorch.exceptions.errors import InputDataError
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.run.goal_result import GoalResult, front_of
from botorch_ubo.run.goals import RunGoal
from botorch_ubo.run.ledger import Ledger
from botorch_ubo.run.named import with_params
from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.result import OptimizationResult
from botorch_ubo.run.trials import Trial
from botorch_ubo.spaces import Space

MOST_MODELLED = 400
"""Evaluations that a model for figures is fitted to; fitting takes seconds at twice as many."""


@dataclass(frozen=True)
class RecordedRun:
    """Trials and box of a run at one moment, and what follows from them for a reader."""

    box: ExpandingBounds
    ledger: Ledger
    goal: RunGoal
    title: str = "Run"

    @cached_property
    def space(self) -> Space:
        """Parameters by name; ``x0``, ``x1`` and so on where the user gave none."""
        named = self.box.settings.space
        if named is not None:
            return named
        pairs = self.box.initial_bounds.double().T.tolist()
        return Space({f"x{i}": pair for i, pair in enumerate(pairs)})

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """All trials with their parameters by name, in the order of their ids."""
        return with_params(self.space, self.ledger.trials)

    @cached_property
    def completed(self) -> tuple[Trial, ...]:
        """Trials with a value, in the order in which the values came in."""
        return with_params(self.space, self.ledger.completed)

    @cached_property
    def failed(self) -> tuple[Trial, ...]:
        """Trials that failed."""
        return with_params(self.space, self.ledger.failed)

    @cached_property
    def data(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """``n x d`` inputs, ``n x m`` outcomes and variances of the completed trials."""
        return self.ledger.data()

    @property
    def X(self) -> Tensor:
        """``n x d`` completed evaluations."""
        return self.data[0]

    @property
    def Y(self) -> Tensor:
        """``n x m`` outcomes."""
        return self.data[1]

    @property
    def num_initial(self) -> int:
        """How many of the completed evaluations came before the first step of the box."""
        trace = self.box.trace
        return trace[0].num_observations if trace else len(self.completed)

    @cached_property
    def best(self) -> int | None:
        """Index of the best feasible evaluation; of several objectives, of the first in the front.

        ``None`` if there is none.
        """
        if not self.completed or not bool(self.goal.feasible(self.Y).any()):
            return None
        return self.goal.best(self.Y)

    @cached_property
    def front(self) -> list[int]:
        """Indices of the feasible evaluations that no other beats: the best, of one objective."""
        if self.best is None:
            return []
        front = front_of(self.goal.objectives(self.Y), self.goal.feasible(self.Y))
        return [int(i) for i in front.tolist()]

    @cached_property
    def modelled(self) -> Tensor | None:
        """Indices of the evaluations that :attr:`model` is fitted to; ``None`` for all of them."""
        if len(self.completed) <= MOST_MODELLED:
            return None
        first = self.box.initial_bounds.double().cpu()
        center = self.X[self.best if self.best is not None else 0]
        away = ((self.X - center) / (first[1] - first[0])).abs().amax(dim=-1)
        return away.argsort(stable=True)[:MOST_MODELLED]

    @cached_property
    def model(self) -> Model:
        """The recommended model; of a long run, of the evaluations nearest to the best one."""
        X, Y, Yvar = self.data
        if self.modelled is not None:
            X, Y = X[self.modelled], Y[self.modelled]
            Yvar = None if Yvar is None else Yvar[self.modelled]
        return self.box.fit(X, Y, Yvar)


RunSource = (
    str | os.PathLike[str] | UnboundedOptimizer | OptimizationResult | GoalResult | RecordedRun
)
"""What a figure or a page can be made of."""


def as_run(source: Any) -> RecordedRun:
    r"""A run to look at.

    Args:
        source: The path of a run file, which is read and not disturbed; an
            :class:`UnboundedOptimizer`; or a result.

    Returns:
        The run as it is now.
    """
    if isinstance(source, RecordedRun):
        return source
    if isinstance(source, str | os.PathLike):
        return _of_optimizer(UnboundedOptimizer.open(source), Path(source).name)
    if isinstance(source, UnboundedOptimizer):
        file = source.journal.file
        return _of_optimizer(source, "Run" if file is None else file.path.name)
    if isinstance(source, OptimizationResult):
        goal = RunGoal(("maximize" if source.box.settings.maximize else "minimize",))
        return RecordedRun(source.box, Ledger(source.trials), goal)
    if isinstance(source, GoalResult):
        return RecordedRun(source.box, Ledger(source.trials), source.goal)
    raise InputDataError(
        "Expected the path of a run file, an UnboundedOptimizer or a result; got "
        f"{type(source).__name__}."
    )


def _of_optimizer(optimizer: UnboundedOptimizer, title: str) -> RecordedRun:
    return RecordedRun(optimizer.box, optimizer.journal.ledger, optimizer.goal, title)
