r"""The expansion as the authors' experiments ran it, to reproduce the published behaviour.

Differences from :class:`~botorch_ubo.strategies.theorem.TheoremBox`: ``z`` and ``lambda_max``
come from the correlation matrix without noise (pseudo-inverse) while the radius divides
``gamma`` by ``theta^2``, so the box is too small for ``theta < 1``; outcomes are in units of
their range; the new box is not united with the old one; and the refinement searches boxes
around the five best observations that were known at the last expansion.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import UnsupportedError
from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings, maximize_acquisition
from botorch_ubo.boxes import clip, hull, pad
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal, Strategy
from botorch_ubo.posterior import ConditionFails, Radius
from botorch_ubo.posterior.kernel_reach import (
    LOG_UNIT_CORRELATION,
    kernel_reach,
    require_finite_reach,
)
from botorch_ubo.posterior.radius import check_epsilon
from botorch_ubo.strategies.theorem import radius_details, stay, theorem_box

_PINV_RCOND = 1e-15
_REFINED_BOXES = 5
_REFINING = SearchSettings(num_restarts=10)


@dataclass(frozen=True)
class PublishedBox(Strategy):
    """Expand as the authors' code did."""

    nested: ClassVar[bool] = False

    def propose(self, context: Context) -> Proposal:
        """The box around the balls of the authors' radius, where the theorem's condition holds."""
        try:
            radius = published_radius(context)
        except ConditionFails as error:
            return stay(context, error)
        details = radius_details(context, radius, context.confidence.beta)
        return Proposal(bounds=theorem_box(context.X_in_sight, radius), details=details)

    def check(self, context: Context) -> None:
        """Refuse a model without a radius, also where the box does not move."""
        with suppress(ConditionFails):  # which the next model may fulfil
            context.confidence.require_radius()

    def refine(self, context: Context, X: Tensor, acq_function: AcquisitionFunction) -> Tensor:
        """Search boxes around the best data where UCB is all but equal to its limit.

        As with the theorem's box, candidates of another acquisition function stay as they are.
        """
        confidence, history = context.confidence, context.state.history
        if not history or not confidence.is_ucb(acq_function):
            return X
        limit = confidence.ucb_at_infinity
        if not -context.epsilon <= confidence.ucb_maximizer[1] - limit <= 0:
            return X
        moves = [record for record in history if "half_widths" in record.details]
        if not moves:  # the theorem's condition has failed so far
            return X
        known = moves[-1].num_observations
        half_widths = context.X.new_tensor(moves[-1].details["half_widths"])
        for index in context.observed[:known].argsort(descending=True)[:_REFINED_BOXES]:
            box = pad(hull(context.X[index : index + 1]), half_widths)
            raw = clip(context.to_raw(box).cpu(), context.settings.hard_limits)
            candidate, value = maximize_acquisition(
                acq_function,
                raw.to(X),
                context.view.neighborhood,
                seed=context.seed,
                settings=_REFINING,
            )
            if abs(float(value) - limit) <= context.epsilon:
                return candidate
        return X


def published_radius(context: Context) -> Radius:
    """The radius as the authors' code computed it, with the mixture of scales described above."""
    summary = context.view.summary
    if summary.kernel.batch_shape or summary.theta.numel() > 1:
        raise UnsupportedError(
            "Expected a model of one output and one set of hyper-parameters, as in the authors' "
            f"experiments; got {type(context.model).__name__}. Use `published_model`, or the "
            "corrected preset."
        )
    epsilon, root = context.epsilon / context.unit, math.sqrt(context.confidence.beta)
    theta = float(summary.sigma_at_infinity.mean()) / context.unit
    check_epsilon(epsilon, root, theta)
    with torch.no_grad():
        covariance = summary.kernel(summary.X).to_dense()
        correlation = covariance / covariance[0, 0]
        inverse = torch.linalg.pinv(correlation, rtol=_PINV_RCOND, hermitian=True)
        y = (summary.Y - summary.Y.mean()) / context.unit
        z = inverse @ y.to(inverse)
        lambda_max = float(torch.linalg.eigvalsh(inverse)[-1])
        total = max(float(z.clamp_min(0).sum()), -float(z.clamp_max(0).sum()), 1e-300)
        gamma_mean = epsilon / 4 / total
        budget = root * theta * epsilon / 2 - epsilon**2 / 16
        gamma_variance = math.sqrt(budget / (summary.n * lambda_max)) / root
        relative = math.log(min(gamma_mean, gamma_variance) / theta**2)
        relative = min(relative, LOG_UNIT_CORRELATION)
        log_variance = covariance[0, 0].log()
        reach = kernel_reach(summary.kernel, log_variance + relative, summary.d)
        unit = kernel_reach(summary.kernel, log_variance + LOG_UNIT_CORRELATION, summary.d)
    return Radius(
        half_widths=require_finite_reach(summary.kernel, reach),
        lengthscales=unit,
        gamma=math.exp(relative),
        active_term="mean" if gamma_mean <= gamma_variance else "variance",
    )
