r"""EI-H and EI-Q: the finite region in which a regularised expected improvement lives.

No box expands here; the penalty keeps the search near the user's. With ``mu <= mu_max`` and
``sigma <= theta``, a regularised EI is at most ``theta h((mu_max - best - xi) / theta)``,
``h(u) = phi(u) + u Phi(u)``, and ``h(-6)`` is about ``2e-10``: beyond the level set
``xi = (mu_max - best) + 6 theta`` there is nothing to find, so a bounded search suffices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.acquisition.penalties import HingeQuadraticPenalty, Penalty
from botorch_ubo.acquisition.regularized import LogRegularizedExpectedImprovement
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.factories import best_observation
from botorch_ubo.policies.strategy import Proposal, Strategy
from botorch_ubo.posterior import PosteriorSummary

_DEVIATIONS = 6.0


@dataclass(frozen=True)
class RegularizedBox(Strategy):
    r"""The box around the level set of a penalty beyond which expected improvement is nil.

    It is to be searched with :func:`regularized_log_ei`, which takes the penalty from here. The
    penalty is fixed, so nothing promises that a far optimum is reached.

    Args:
        penalty: Class of the penalty, built from the user's first box.
    """

    nested: ClassVar[bool] = False
    rebuildable: ClassVar[bool] = True

    penalty: type[Penalty] = HingeQuadraticPenalty

    def propose(self, context: Context) -> Proposal:
        """The box around the level set."""
        level = self.level(context)
        box = self.penalty.from_bounds(context.first_box).level_box(level)
        return Proposal(bounds=box, details={"penalty_level": level})

    def level(self, context: Context) -> float:
        """``xi`` beyond which EI is nil, in units of the outcomes' standard deviation; >= 1."""
        summary = context.view.summary
        best = float(context.observed[context.best_observed])
        top = summary.mean_at_infinity + largest_rise(summary)
        level = (top - best + _DEVIATIONS * summary.sigma_at_infinity).max() / context.view.spread
        return max(1.0, float(level))


def regularized_log_ei(context: Context) -> LogRegularizedExpectedImprovement:
    """Log expected improvement under the penalty of the strategy, a :class:`RegularizedBox`."""
    strategy, view = context.settings.strategy, context.view
    if not isinstance(strategy, RegularizedBox):
        raise InputDataError(
            "Expected the strategy of a method with `regularized_log_ei` to be a RegularizedBox, "
            f"which has the penalty; got {strategy.name}."
        )
    return LogRegularizedExpectedImprovement(
        view.model,
        best_observation(context),
        strategy.penalty.from_bounds(context.first_box.to(view.like)),
        view.spread,
        *view.objective,
    )


def largest_rise(summary: PosteriorSummary) -> Tensor:
    r"""How far the posterior mean can rise above its limit, per member (``S``).

    Per output the smaller of ``theta^2 S+``, since ``0 <= k <= theta^2``, and
    ``theta sqrt(r^T z)``, by Cauchy-Schwarz with the residuals ``r = (K + Sigma) z``.

    Args:
        summary: The posterior of the objective to be maximised.

    Returns:
        Bounds in the units of the summary's objective.
    """
    weights = summary.weights * summary.Y_scale  # S x M, raw units per unit
    sign = weights.sign().unsqueeze(-1)
    residual = sign * (summary.targets - summary.prior_mean.unsqueeze(-1))
    z = sign * summary.z
    by_sum = summary.theta.square() * z.clamp_min(0).sum(dim=-1)
    by_norm = summary.theta * (residual * z).sum(dim=-1).clamp_min(0).sqrt()
    return (weights.abs() * torch.minimum(by_sum, by_norm)).sum(dim=-1)
