r"""The paper's expansion: the box around the balls of Theorem 4.1, refined by appendix B."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from botorch_ubo.boxes import from_model_space, hull, pad
from botorch_ubo.context import Context
from botorch_ubo.posterior import PosteriorSummary
from botorch_ubo.radius import Radius, theorem_radius
from botorch_ubo.refinement import refine_in_balls
from botorch_ubo.strategies.base import Proposal, Strategy


@dataclass(frozen=True)
class TheoremBox(Strategy):
    r"""Expand to where the upper confidence bound reaches its limit (Theorem 4.1).

    Args:
        refinement: Whether a suggestion that lies beyond the reach of all data is pulled back to
            a point in reach whose upper confidence bound is at most epsilon lower (appendix B).
    """

    refinement: bool = True

    def propose(self, context: Context) -> Proposal:
        """See :class:`Strategy`."""
        summary, beta = context.summary, context.beta
        radius = context.radius
        box = theorem_box(summary, radius)
        # The box is searched with its own beta; gamma falls with beta, so use the larger one.
        later = context.beta_in(hull(box, context.model_bounds), t=1)
        if later > beta:
            beta, radius = later, theorem_radius(summary, context.epsilon, later)
            box = theorem_box(summary, radius)
        raw = from_model_space(context.model, box).cpu()
        return Proposal(bounds=raw, details=radius_details(summary, radius, beta))

    def refine(self, context: Context, X: Tensor) -> Tensor:
        """See :class:`Strategy`."""
        return refine_in_balls(context, X) if self.refinement else X


def theorem_box(summary: PosteriorSummary, radius: Radius) -> Tensor:
    """``2 x d`` box around the union of balls, Eq. (4), in the model's input space."""
    return pad(hull(summary.X), radius.half_widths)


def radius_details(summary: PosteriorSummary, radius: Radius, beta: float) -> dict[str, Any]:
    """The reasons for a radius, as JSON values."""
    return {
        "beta": beta,
        "theta": float(summary.sigma_at_infinity.mean()),
        "lengthscales": radius.lengthscales.tolist(),
        "half_widths": radius.half_widths.tolist(),
        "gamma": radius.gamma,
        "active_term": radius.active_term,
        "radius": radius.in_lengthscales,
    }
