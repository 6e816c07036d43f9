r"""The expansion as the authors' experiments ran it, to reproduce the published behaviour.

Differences from :class:`~botorch_ubo.strategies.theorem.TheoremBox`: ``z`` and ``lambda_max``
come from the correlation matrix without noise (pseudo-inverse) while the radius divides
``gamma`` by ``theta^2``, so the box is too small for ``theta < 1``; outcomes are in units of
their range; the new box is not united with the old one; and the refinement searches boxes
around the five best observations that were known at the last expansion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from botorch.exceptions.errors import UnsupportedError
from torch import Tensor

from botorch_ubo.boxes import clip, from_model_space, hull, pad
from botorch_ubo.candidates import maximize_acquisition
from botorch_ubo.context import Context
from botorch_ubo.kernel_reach import LOG_UNIT_CORRELATION, kernel_reach, require_finite_reach
from botorch_ubo.radius import Radius
from botorch_ubo.strategies.base import Proposal, Strategy
from botorch_ubo.strategies.theorem import radius_details, theorem_box

_PINV_RCOND = 1e-15
_REFINED_BOXES = 5


@dataclass(frozen=True)
class PublishedBox(Strategy):
    """Expand as the authors' code did."""

    nested: ClassVar[bool] = False

    def propose(self, context: Context) -> Proposal:
        """See :class:`Strategy`."""
        radius = published_radius(context)
        box = theorem_box(context.summary, radius)
        raw = from_model_space(context.model, box).cpu()
        details = radius_details(context.summary, radius, context.beta)
        return Proposal(bounds=raw, details=details)

    def refine(self, context: Context, X: Tensor) -> Tensor:
        """See :class:`Strategy`."""
        gap = context.ucb_maximizer[1] - context.ucb_at_infinity
        history = context.state.history
        if not -context.epsilon <= gap <= 0 or not history:
            return X
        known = history[-1].num_observations
        half_widths = context.summary.X.new_tensor(history[-1].details["half_widths"])
        sign = 1 if context.settings.maximize else -1
        order = (sign * context.Y[:known]).argsort(descending=True)[:_REFINED_BOXES]
        for index in order:
            box = pad(hull(context.summary.X[index : index + 1]), half_widths)
            raw = clip(from_model_space(context.model, box).cpu(), context.settings.hard_limits)
            candidate, value = maximize_acquisition(
                context.ucb, raw.to(X), context.neighborhood, seed=context.seed
            )
            if abs(float(value) - context.ucb_at_infinity) <= context.epsilon:
                return candidate
        return X


def published_radius(context: Context) -> Radius:
    """The radius as the authors' code computed it, with the mixture of scales described above."""
    summary = context.summary
    if summary.kernel.batch_shape or summary.theta.numel() > 1:
        raise UnsupportedError(
            "Expected a model of one output and one set of hyper-parameters, as in the authors' "
            f"experiments; got {type(context.model).__name__}. Use `published_model`, or the "
            "corrected preset."
        )
    epsilon, root = context.epsilon / context.unit, math.sqrt(context.beta)
    theta = float(summary.sigma_at_infinity.mean()) / context.unit
    with torch.no_grad():
        covariance = summary.kernel(summary.X).to_dense()
        correlation = covariance / covariance[0, 0]
        inverse = torch.linalg.pinv(correlation, rtol=_PINV_RCOND, hermitian=True)
        y = (context.Y - context.Y.mean()) / context.unit
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
