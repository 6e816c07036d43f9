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
from botorch.exceptions.errors import UnsupportedError
from torch import Tensor

from botorch_ubo.acquisition.penalties import HingeQuadraticPenalty, Penalty
from botorch_ubo.acquisition.regularized import VARIANTS, prior_mean_weights
from botorch_ubo.boxes import from_model_space
from botorch_ubo.context import Context
from botorch_ubo.strategies.base import Proposal, Strategy

_DEVIATIONS = 6.0


@dataclass(frozen=True)
class RegularizedBox(Strategy):
    r"""The box around the level set of a penalty beyond which expected improvement is nil.

    It is to be searched with
    :class:`~botorch_ubo.acquisition.regularized.LogRegularizedExpectedImprovement` of the same
    penalty and variant. The penalty is fixed, so nothing promises that a far optimum is reached.

    Args:
        penalty: Class of the penalty, built from the user's first box.
        variant: How the penalty enters, ``"target"`` or ``"prior_mean"``.
    """

    nested: ClassVar[bool] = False

    penalty: type[Penalty] = HingeQuadraticPenalty
    variant: str = "target"

    def __post_init__(self) -> None:
        """Validate."""
        if self.variant not in VARIANTS:
            raise UnsupportedError(
                f"Expected `variant` to be one of {VARIANTS}; got {self.variant!r}."
            )

    def propose(self, context: Context) -> Proposal:
        """See :class:`Strategy`."""
        penalty = self.penalty.from_bounds(context.to_model(context.state.initial_bounds))
        level = self.level(context, penalty)
        raw = from_model_space(context.model, penalty.level_box(level)).cpu()
        return Proposal(bounds=raw, details={"penalty_level": level})

    def level(self, context: Context, penalty: Penalty) -> float:
        """``xi`` beyond which EI is nil, in the penalty's unit; at least 1."""
        summary, sign = context.summary, 1 if context.settings.maximize else -1
        best = sign * float(context.Y[context.incumbent])
        top = sign * summary.mean_at_infinity + self._rise(context, penalty)
        level = (top - best + _DEVIATIONS * summary.sigma_at_infinity).max() / summary.Y_std
        return max(1.0, float(level))

    def _rise(self, context: Context, penalty: Penalty) -> Tensor:
        r"""How far the mean (penalty apart) can rise above its limit, per member (``S``).

        Per output the smaller of ``theta^2 S+``, since ``0 <= k <= theta^2``, and
        ``theta sqrt(r^T z)``, by Cauchy-Schwarz with the residuals ``r = (K + Sigma) z``.
        """
        summary = context.summary
        sign = 1 if context.settings.maximize else -1
        weights = sign * summary.weights * summary.Y_scale  # S x M, raw units per unit
        residual = weights.sign().unsqueeze(-1) * (
            summary.targets - summary.prior_mean.unsqueeze(-1)
        )
        z = weights.sign().unsqueeze(-1) * summary.z
        if self.variant == "prior_mean":  # regresses on y + xi(X)
            unit = summary.Y_std / weights.abs().unsqueeze(-1)
            with torch.no_grad():
                residual = residual + unit * penalty(summary.X)
            z = z + unit * prior_mean_weights(context.model, penalty).to(z)
        by_sum = summary.theta.square() * z.clamp_min(0).sum(dim=-1)
        by_norm = summary.theta * (residual * z).sum(dim=-1).clamp_min(0).sqrt()
        return (weights.abs() * torch.minimum(by_sum, by_norm)).sum(dim=-1)
