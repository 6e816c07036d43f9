r"""What is sought: an objective or several, and outcome constraints, as BoTorch states them.

``objective`` maps samples of the model's outcomes to what is to be maximised (or minimised);
``constraints`` map them to numbers that are negative or zero where a point is feasible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from botorch.acquisition.multi_objective.objective import (
    GenericMCMultiOutputObjective,
    MCMultiOutputObjective,
)
from botorch.acquisition.objective import (
    GenericMCObjective,
    IdentityMCObjective,
    LinearMCObjective,
    MCAcquisitionObjective,
    PosteriorTransform,
    ScalarizedPosteriorTransform,
)
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo.models.training_data import is_one_to_many

Constraint = Callable[[Tensor], Tensor]
"""From ``... x m`` outcomes to ``...`` numbers, feasible where they are not positive."""


@dataclass(frozen=True)
class Goal:
    """Objective, sign and constraints; the same throughout a run."""

    maximize: bool = True
    posterior_transform: PosteriorTransform | None = None
    objective: MCAcquisitionObjective | None = None
    constraints: tuple[Constraint, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether one objective is sought that is a Gaussian process, without constraints."""
        return self.objective is None and not self.constraints

    @property
    def is_multi(self) -> bool:
        """Whether several objectives are sought."""
        return isinstance(self.objective, MCMultiOutputObjective)

    def check(self, model: Model) -> None:
        """Refuse a model whose outcomes do not say which of them is the objective."""
        if self.objective is None and model.num_outputs != 1:
            raise UnsupportedError(
                f"Expected an `objective` with `constraints` on a model of {model.num_outputs} "
                "outputs; got none. Pass, for its first output, "
                "`objective=GenericMCObjective(lambda Y, X=None: Y[..., 0])`."
            )
        if is_one_to_many(model):
            raise UnsupportedError(
                "Expected an input transform that makes one point of one with `objective` or "
                "`constraints`; got one that makes several. Use `posterior_transform="
                "ExpectationPosteriorTransform(n_w)` alone, for their mean."
            )

    def evaluate(self, outcomes: Tensor, X: Tensor | None = None) -> Tensor:
        r"""The objectives of some outcomes, such that large is good.

        Args:
            outcomes: ``... x m``.
            X: ``... x d`` points, for objectives that depend on them.

        Returns:
            ``... x k`` values.
        """
        objective = self.objective or IdentityMCObjective()
        values = objective(outcomes, X)
        values = values if self.is_multi else values.unsqueeze(-1)
        return values if self.maximize else -values

    def as_objective(self) -> MCAcquisitionObjective:
        """One objective for a Monte Carlo acquisition function, which maximises."""

        def objective(samples: Tensor, X: Tensor | None = None) -> Tensor:
            return self.evaluate(samples, X).squeeze(-1)

        return GenericMCObjective(objective)

    def as_objectives(self, shift: Tensor, scale: Tensor) -> MCMultiOutputObjective:
        """Several objectives, counted from ``k`` values in ``k`` units."""

        def objectives(samples: Tensor, X: Tensor | None = None) -> Tensor:
            return (self.evaluate(samples, X) - shift) / scale

        return GenericMCMultiOutputObjective(objectives)

    def violations(self, outcomes: Tensor) -> Tensor:
        """``... x c`` values of the constraints at ``... x m`` outcomes; feasible where <= 0."""
        return torch.stack([constraint(outcomes) for constraint in self.constraints], dim=-1)

    def directions(self, Y: Tensor) -> tuple[bool | None, ...]:
        r"""Which way each outcome is the better, so that very bad ones may be brought nearer.

        That is for outcomes of one objective alone. A constraint has a level that must stay where
        it is, and on a front the worst of one objective may be the best of another.

        Args:
            Y: ``n x m`` outcomes, at which slopes are taken.

        Returns:
            ``m`` times ``True`` (large is good), ``False``, or ``None`` where neither can be said.
        """
        if self.is_multi or Y.shape[-1] == 1 or self.objective is None:
            return (None,) * Y.shape[-1]
        with torch.enable_grad():
            at = Y.detach().clone().requires_grad_()
            good = _slope(self.evaluate(at), at)
            levels = [_slope(constraint(at), at) for constraint in self.constraints]
        known = (good > 0).all(dim=0) | (good < 0).all(dim=0)
        for level in levels:
            known &= (level == 0).all(dim=0)
        return tuple(
            bool(up) if sure else None for sure, up in zip(known, good[0] > 0, strict=True)
        )


def _slope(values: Tensor, at: Tensor) -> Tensor:
    if not values.requires_grad:
        return torch.zeros_like(at)
    (slope,) = torch.autograd.grad(values.sum(), at, retain_graph=True, allow_unused=True)
    return torch.zeros_like(at) if slope is None else slope


def check_goal(
    maximize: bool,
    posterior_transform: PosteriorTransform | None,
    objective: MCAcquisitionObjective | None,
    constraints: Sequence[Constraint] | None,
) -> Goal:
    r"""Bring what is sought to one form.

    Args:
        maximize: Whether large values of the objective are good.
        posterior_transform: What makes one objective of several outputs, as a Gaussian process.
        objective: What makes one objective of several outputs by samples, or several objectives.
        constraints: Outcome constraints, feasible where they are not positive.

    Returns:
        The goal. A linear objective without constraints is a posterior transform.

    Raises:
        InputDataError: If an argument is not what it must be.
    """
    if not isinstance(objective, MCAcquisitionObjective | None):
        raise InputDataError(
            "Expected `objective` to be an MCAcquisitionObjective of BoTorch, or an "
            f"MCMultiOutputObjective for several; got {objective!r}. Use "
            "`GenericMCObjective(lambda Y, X=None: ...)` for a function."
        )
    constraints = () if constraints is None else constraints
    if callable(constraints) or not all(map(callable, constraints)):
        raise InputDataError(
            "Expected `constraints` to be a list of functions from `... x m` outcomes to `...` "
            f"numbers, feasible where <= 0; got {constraints!r}. Use `[lambda Y: Y[..., 1]]`."
        )
    if posterior_transform is not None and (objective is not None or constraints):
        raise InputDataError(
            "Expected `posterior_transform` alone, since `objective` and `constraints` are about "
            "the outcomes that it makes one of; got both. Use "
            "`objective=LinearMCObjective(weights)` for a weighted sum."
        )
    if type(objective) is LinearMCObjective and not constraints:
        weights = objective.get_buffer("weights")
        return Goal(maximize, ScalarizedPosteriorTransform(weights))
    return Goal(maximize, posterior_transform, objective, tuple(constraints))


def check_epsilon_unit(goal: Goal, unit: str) -> None:
    """Refuse an accuracy in raw units of several objectives, which have no common one."""
    if goal.is_multi and unit == "raw":
        raise InputDataError(
            "Expected `epsilon` in standard deviations with several objectives; got raw units, of "
            "which each has its own. Pass a number alone."
        )
