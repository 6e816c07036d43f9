r"""The box around the points whose posterior variance is below a cap, and the cap's schedule.

``sigma^2(x) <= tau theta^2`` needs ``k^T (K + Sigma)^{-1} k >= (1 - tau) theta^2``, hence a datum
with correlation at least ``sqrt((1 - tau) / (n theta^2 lambda_max))``: the reach of the kernel at
that level bounds the feasible set. It is the variance term of Theorem 4.1, read backwards.

NOTE: The cap adapts by a rule of our own; see :mod:`botorch_ubo.acquisition.variance_cap`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from botorch.exceptions.errors import InputDataError

from botorch_ubo.acquisition.variance_cap import VarianceCappedLogExpectedImprovement
from botorch_ubo.boxes import hull, pad
from botorch_ubo.models.gram import conditional_variance, training_gram
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.factories import best_observation
from botorch_ubo.policies.strategy import Proposal, Strategy
from botorch_ubo.posterior.kernel_reach import LOG_UNIT_CORRELATION
from botorch_ubo.posterior.radius import half_widths_at

CAP = "variance_cap"
_ACTIVE = 0.95  # share of the cap from which a point counts as held back by it


@dataclass(frozen=True)
class VarianceCapBox(Strategy):
    r"""The box around ``{x : sigma^2(x) <= tau theta^2}``, with ``tau`` carried in the memory.

    A point at the cap that improved loosens it; two in a row that did not tighten it.

    Args:
        cap: The first ``tau``; by default ``1 - rho(1)^2``, below which one datum without noise
            is up to one length-scale away.
        loosen: Divisor of ``1 - tau`` after an improvement at the cap.
        tighten: Divisor of ``tau`` after two failures at the cap.
        cap_min: Smallest ``tau``.
        cap_max: Largest ``tau``; below 1, where everything is feasible.
    """

    cap: float = 1 - math.exp(-1)
    loosen: float = 1.5
    tighten: float = 1.2
    cap_min: float = 0.1
    cap_max: float = 0.99

    def __post_init__(self) -> None:
        """Validate."""
        if not 0 < self.cap_min <= self.cap <= self.cap_max < 1:
            raise InputDataError(
                "Expected 0 < cap_min <= cap <= cap_max < 1 (fractions of the prior variance); got "
                f"{self.cap_min}, {self.cap}, {self.cap_max}."
            )
        if self.loosen < 1 or self.tighten < 1:
            raise InputDataError(
                f"Expected loosen >= 1 and tighten >= 1; got {self.loosen}, {self.tighten}."
            )

    def propose(self, context: Context) -> Proposal:
        """The box around the points below the cap of this step."""
        cap, failures = self._schedule(context)
        summary = context.view.summary
        level = ((1 - cap) / (summary.n * summary.lambda_max)).sqrt() * summary.theta
        # Much noise can leave nothing feasible: then one length-scale, as in Theorem 4.1's radius.
        log_level = level.log().minimum(2 * summary.theta.log() + LOG_UNIT_CORRELATION)
        box = pad(
            hull(context.X_in_sight), half_widths_at(summary, log_level).flatten(0, 1).amax(dim=0)
        )
        memory = {CAP: cap, "failures_at_cap": failures}
        return Proposal(bounds=box, details={CAP: cap}, memory=memory)

    def _schedule(self, context: Context) -> tuple[float, int]:
        """The cap of this step, and the failures at it in a row."""
        memory, known = context.state.memory, context.state.num_observed
        cap = memory.get(CAP, self.cap)
        failures = int(memory.get("failures_at_cap", 0))
        if not 0 < known < context.n:
            return cap, failures
        if variance_share(context, known) < _ACTIVE * cap:
            return cap, 0
        if context.observed[known:].max() > context.observed[:known].max():
            return min(1 - (1 - cap) / self.loosen, self.cap_max), 0
        if failures == 0:
            return cap, 1
        return max(cap / self.tighten, self.cap_min), 0


def variance_capped_log_ei(context: Context) -> VarianceCappedLogExpectedImprovement:
    """Log expected improvement under the cap that :class:`VarianceCapBox` keeps in the memory."""
    cap, view = context.state.memory.get(CAP), context.view
    if cap is None:
        raise InputDataError(
            "Expected the strategy of a method with `variance_capped_log_ei` to be a "
            "VarianceCapBox that has moved the box, since the cap is kept there; got "
            f"{context.settings.strategy.name} without a cap. Use the trigger Always()."
        )
    return VarianceCappedLogExpectedImprovement(
        view.model,
        best_observation(context),
        cap * float(view.summary.sigma_at_infinity.square().mean()),
        *view.objective,
    )


def variance_share(context: Context, known: int) -> float:
    """Largest ``sigma^2 / theta^2`` that the latest data had before they were observed."""
    summary = context.view.summary
    covariance = training_gram(context.model).covariance
    covariance = covariance.reshape(*summary.theta.shape, *covariance.shape[-2:])
    variance = conditional_variance(covariance, summary.theta.square(), known)  # S x M x new
    shares = (summary.weights * summary.Y_scale).square().unsqueeze(-1)
    prior = summary.theta.square().unsqueeze(-1)
    return float(((shares * variance).sum(1) / (shares * prior).sum(1)).mean(0).max())
