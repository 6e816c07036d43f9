r"""The paper's expansion: the box around the balls of Theorem 4.1, refined by appendix B."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from botorch.acquisition.acquisition import AcquisitionFunction
from torch import Tensor

from botorch_ubo.boxes import hull, pad
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal, Strategy
from botorch_ubo.posterior import ConditionFails, Radius, theorem_radius
from botorch_ubo.strategies.refinement import refine_in_balls


@dataclass(frozen=True)
class TheoremBox(Strategy):
    r"""Expand to where the upper confidence bound reaches its limit (Theorem 4.1).

    Args:
        refinement: Whether a suggestion that lies beyond the reach of all data is pulled back to
            a point in reach whose upper confidence bound is at most epsilon lower (appendix B).
    """

    refinement: bool = True

    def propose(self, context: Context) -> Proposal:
        """The box around the balls of Theorem 4.1; the current one where its condition fails."""
        try:
            return self._propose(context)
        except ConditionFails as error:
            return stay(context, error)

    def _propose(self, context: Context) -> Proposal:
        summary, confidence = context.view.summary, context.confidence
        beta, radius = confidence.beta, confidence.radius
        box = theorem_box(context.X_in_sight, radius)
        # The box is searched with its own beta; gamma falls with beta, so use the larger one.
        later = confidence.beta_in(hull(box, context.box), t=1)
        if later > beta:
            beta, radius = later, theorem_radius(summary, context.epsilon, later)
            box = theorem_box(context.X_in_sight, radius)
        return Proposal(bounds=box, details=radius_details(context, radius, beta))

    def check(self, context: Context) -> None:
        """Refuse a model without a radius, also where the box does not move."""
        with suppress(ConditionFails):  # which the next model may fulfil
            context.confidence.require_radius()

    def refine(self, context: Context, X: Tensor, acq_function: AcquisitionFunction) -> Tensor:
        """Appendix B for the upper confidence bound of the step.

        No theorem says that the balls hold a near-maximiser of another acquisition function, so
        its candidates stay as they are.
        """
        if not self.refinement or not context.confidence.is_ucb(acq_function):
            return X
        with suppress(ConditionFails):
            return refine_in_balls(context, X)
        return X


def stay(context: Context, error: ConditionFails) -> Proposal:
    """The current box, since a condition of the theorem fails."""
    return Proposal(bounds=context.box, details={"why": f"the box stays: {error}"})


def theorem_box(X: Tensor, radius: Radius) -> Tensor:
    """``2 x d`` box around the union of balls, Eq. (4), in the model's input space."""
    return pad(hull(X), radius.half_widths)


def radius_details(context: Context, radius: Radius, beta: float) -> dict[str, Any]:
    """The reasons for a radius, as JSON values, theta in raw units."""
    theta = float(context.view.summary.sigma_at_infinity.mean())
    return {
        "beta": beta,
        "theta": context.view.to_raw_difference(theta),
        "lengthscales": radius.lengthscales.tolist(),
        "half_widths": radius.half_widths.tolist(),
        "gamma": radius.gamma,
        "active_term": radius.active_term,
        "radius": radius.in_lengthscales,
    }
