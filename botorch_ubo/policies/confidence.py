r"""Confidence bounds of one step: ``beta``, UCB, LCB, Theorem 4.1's radius and the regret bound.

They belong to the strategies, triggers and calls that ask for them; a method that asks for none
pays for none, and is not refused on their account.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from torch import Tensor

from botorch_ubo.acquisition.confidence import (
    LowerConfidenceBound,
    UnboundedUpperConfidenceBound,
    value_at_infinity,
)
from botorch_ubo.acquisition.search import maximize_acquisition
from botorch_ubo.posterior import Radius, theorem_radius

if TYPE_CHECKING:
    from botorch_ubo.policies.context import Context


class Confidence:
    """The bounds of one step; everything is computed at most once, and only if asked for."""

    def __init__(self, context: Context) -> None:
        r"""The confidence bounds of one step.

        Args:
            context: The fitted model and the controller's state.
        """
        self.context = context
        self._ucb: UnboundedUpperConfidenceBound | None = None

    def beta_in(self, box: Tensor, t: int) -> float:
        """``beta`` of step ``t`` in a box of the model's space."""
        context = self.context
        return context.settings.beta(t, box[1] - box[0], context.view)

    def bounds(self, beta: float) -> tuple[UnboundedUpperConfidenceBound, LowerConfidenceBound]:
        """Upper and lower confidence bound with some ``beta``."""
        view = self.context.view
        arguments = (view.model, beta, *view.objective)
        return UnboundedUpperConfidenceBound(*arguments), LowerConfidenceBound(*arguments)

    @cached_property
    def beta(self) -> float:
        """``beta`` of this step in the current box."""
        return self.beta_in(self.context.box, self.context.t_local)

    @cached_property
    def beta_of_run(self) -> float:
        """``beta`` in the current box at this step of the run, not of the box.

        For boxes that move at every step, in which the steps of the box would always be at 1.
        """
        return self.beta_in(self.context.box, self.context.t)

    @cached_property
    def radius(self) -> Radius:
        """Theorem 4.1's radius at this step."""
        return theorem_radius(self.context.view.summary, self.context.epsilon, self.beta)

    def require_radius(self) -> Radius:
        """The radius, or an ``UnsupportedError`` that says why this model has none."""
        return self.radius

    @property
    def ucb(self) -> UnboundedUpperConfidenceBound:
        """The upper confidence bound of this step."""
        if self._ucb is None:
            self._ucb, _ = self.bounds(self.beta)
        return self._ucb

    def is_ucb(self, acq_function: AcquisitionFunction) -> bool:
        """Whether an acquisition function is the upper confidence bound of this step."""
        return acq_function is self._ucb

    @cached_property
    def lcb(self) -> LowerConfidenceBound:
        """The lower confidence bound of this step."""
        return self.bounds(self.beta)[1]

    @cached_property
    def ucb_at_infinity(self) -> float:
        """Limit of the upper confidence bound (Proposition 4.1)."""
        return float(value_at_infinity(self.context.view.summary, self.beta))

    @cached_property
    def ucb_at_data(self) -> Tensor:
        """``n``-dim upper confidence bounds of the evaluated points."""
        with torch.no_grad():
            return self.ucb(self.context.view.X_raw.unsqueeze(-2))

    @cached_property
    def lcb_at_data(self) -> Tensor:
        """``n``-dim lower confidence bounds of the evaluated points."""
        with torch.no_grad():
            return self.lcb(self.context.view.X_raw.unsqueeze(-2))

    @cached_property
    def ucb_maximizer(self) -> tuple[Tensor, float]:
        """The ``1 x d`` maximiser of the upper confidence bound in the search region, and value."""
        context = self.context
        X, value = maximize_acquisition(
            self.ucb,
            context.search_boxes,
            context.view.neighborhood,
            seed=context.seed,
            settings=context.settings.search,
        )
        return X, float(value)

    @property
    def slack(self) -> float:
        """``1 / t_local^2`` of Proposition 5.1, in the model's units."""
        return self.context.unit / self.context.t_local**2

    @cached_property
    def regret_bound(self) -> float:
        """``max UCB - max LCB + 1/t^2`` (Section 4), over the box and the evaluated points."""
        return self.ucb_maximizer[1] - float(self.lcb_at_data.max()) + self.slack
