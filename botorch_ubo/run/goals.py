r"""What a run seeks: one or several objectives, and constraints, all of them told as numbers.

An evaluation of such a run has several outcomes: the objectives, in the order of ``direction``,
then the constraints, each met where it is not positive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import torch
from botorch.acquisition.multi_objective.objective import GenericMCMultiOutputObjective
from botorch.acquisition.objective import GenericMCObjective
from botorch.exceptions.errors import InputDataError
from botorch.utils.multi_objective import is_non_dominated
from torch import Tensor

from botorch_ubo.run.arguments import Direction, as_count, as_doubles
from botorch_ubo.run.trials import as_number

Directions = Direction | Sequence[Direction]
Numbers = float | tuple[float, ...]
"""One outcome, or all outcomes of an evaluation that has several."""


@dataclass(frozen=True)
class RunGoal:
    """Directions of the objectives, and the number of constraints that follow them."""

    directions: tuple[Direction, ...]
    num_constraints: int = 0

    @property
    def num_objectives(self) -> int:
        """How many objectives there are."""
        return len(self.directions)

    @property
    def num_outcomes(self) -> int:
        """How many numbers an evaluation has."""
        return self.num_objectives + self.num_constraints

    @property
    def is_plain(self) -> bool:
        """Whether an evaluation is one number, the objective."""
        return self.num_outcomes == 1

    @property
    def direction(self) -> Direction | tuple[Direction, ...]:
        """As the user would say it."""
        return self.directions[0] if self.num_objectives == 1 else self.directions

    def box_arguments(self) -> dict[str, Any]:
        """Objective, sign and constraints as arguments of ``ExpandingBounds``."""
        if self.is_plain:
            return {"maximize": self.directions[0] == "maximize"}

        def objectives(Y: Tensor, X: Tensor | None = None) -> Tensor:
            return self.objectives(Y)

        def objective(Y: Tensor, X: Tensor | None = None) -> Tensor:
            return self.objectives(Y).squeeze(-1)

        several = self.num_objectives > 1
        return {
            "objective": GenericMCMultiOutputObjective(objectives)
            if several
            else GenericMCObjective(objective),
            "constraints": [_Column(self.num_objectives + i) for i in range(self.num_constraints)],
        }

    def objectives(self, Y: Tensor) -> Tensor:
        """``... x k`` objectives of ``... x m`` outcomes, of which the larger are the better."""
        signs = [1.0 if direction == "maximize" else -1.0 for direction in self.directions]
        return Y[..., : self.num_objectives] * Y.new_tensor(signs)

    def feasible(self, Y: Tensor) -> Tensor:
        """``n`` booleans of ``n x m`` outcomes."""
        return (Y[..., self.num_objectives :] <= 0).all(dim=-1)

    def best(self, Y: Tensor) -> int:
        """Index of the best feasible of ``n x m`` outcomes of one objective."""
        values = self.objectives(Y)[:, 0]
        return int(values.where(self.feasible(Y), -torch.inf).argmax())

    def describe_best(self, Y: Tensor) -> str:
        """What some outcomes (``n x m``) have brought, in a few words."""
        values = self.objectives(Y)[self.feasible(Y)]
        if not len(values):
            return "nothing feasible"
        if self.num_objectives > 1:
            return f"a front of {int(is_non_dominated(values).sum())}"
        return f"best {float(Y[self.best(Y), 0]):.6g}"

    def read(self, value: Any, name: str) -> Numbers:
        r"""Bring what was told to one number, or to one per outcome.

        Args:
            value: Numbers in any form.
            name: What to call them in an error message.

        Returns:
            A float for a plain goal, else a tuple; NaN and infinities are let through.
        """
        if self.is_plain:
            return as_number(value, name)
        try:
            numbers = as_doubles(value, name).reshape(-1)
        except InputDataError as error:
            raise InputDataError(f"{self._expected(name)}; got {value!r}.") from error
        if len(numbers) != self.num_outcomes:
            raise InputDataError(f"{self._expected(name)}; got {len(numbers)}: {value!r}.")
        return tuple(numbers.tolist())

    def _expected(self, name: str) -> str:
        text = f"Expected {name} to be {self.num_outcomes} numbers"
        text += f" ({self.num_objectives} objectives"
        if self.num_constraints:
            text += f", then {self.num_constraints} constraints that are met where <= 0"
        text += ")"
        return text


@dataclass(frozen=True)
class _Column:
    """One outcome as a constraint."""

    index: int

    def __call__(self, Y: Tensor) -> Tensor:
        return Y[..., self.index]


@dataclass(frozen=True)
class Outcomes:
    """What an objective of several outcomes returned."""

    values: tuple[float, ...]


@dataclass(frozen=True)
class SeveralOutcomes:
    """An objective that returns several numbers; it can be sent to another process."""

    f: Callable[[Any], Any]
    goal: RunGoal

    def __call__(self, point: Any) -> Outcomes:
        """The objective's answer as outcomes."""
        values = self.goal.read(self.f(point), "what the objective returns")
        assert isinstance(values, tuple)
        return Outcomes(values)


def parse_goal(direction: Any, constraints: Any = 0) -> RunGoal:
    r"""Bring a direction or several, and a number of constraints, to one form.

    Args:
        direction: ``"minimize"`` or ``"maximize"``, or a list of them.
        constraints: How many constraints an evaluation tells after its objectives.

    Returns:
        The goal.
    """
    given: Any = [direction] if isinstance(direction, str) else direction
    known = isinstance(given, list | tuple) and len(given) > 0
    if not known or any(it not in get_args(Direction) for it in given):
        raise InputDataError(
            "Expected direction 'minimize' or 'maximize', or a list of them for several "
            f"objectives; got {direction!r}."
        )
    if callable(constraints) or isinstance(constraints, list | tuple):
        raise InputDataError(
            "Expected `constraints` to be the number of values, after the objectives, that must be "
            f"<= 0; got {constraints!r}. Return them from the objective and pass "
            "`constraints=1`, say; `ExpandingBounds` takes functions of outcomes."
        )
    return RunGoal(tuple(given), as_count(constraints, "constraints", 0))


def as_rows(values: Sequence[Numbers]) -> Tensor:
    """``n x m`` outcomes, in double."""
    rows = [list(it) if isinstance(it, tuple) else [it] for it in values]
    return torch.tensor(rows, dtype=torch.double)
