r"""HuBO: a box that grows like a hyperharmonic series and follows the best value [TranThe2020].

At step ``t`` each side is ``side_0 (1 + sum_{j <= t} j^alpha)``, and the centre is the point of a
fixed bounded set closest to the best observation. For ``alpha >= -1`` the sides tend to infinity,
so every point is in the box from some step on; for ``alpha = -1`` they do so as slowly as
``log t``, which is what makes the cumulative regret sub-linear.

NOTE: The law of the sides and the moving centre are confirmed by later code of the same group. The
set of allowed centres, ten first boxes wide, is recalled from the paper, not quoted.

References:
    [TranThe2020] H. Tran-The, S. Gupta, S. Rana, H. Ha, and S. Venkatesh. Sub-linear Regret Bounds
    for Bayesian Optimisation in Unknown Search Spaces. Advances in Neural Information Processing
    Systems 33, 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.boxes import scale_about_center
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal, Strategy


@dataclass(frozen=True)
class HyperharmonicBox(Strategy):
    r"""The box of HuBO, a function of the step and the best observation.

    Args:
        alpha: Exponent of the series, in ``[-1, 0)``; the default is the slowest growth that
            still reaches everything.
        center_span: Sides of the set of allowed centres, in sides of the first box.
    """

    nested: ClassVar[bool] = False
    rebuildable: ClassVar[bool] = True

    alpha: float = -1.0
    center_span: float = 10.0

    def __post_init__(self) -> None:
        """Validate."""
        if not -1 <= self.alpha < 0 or not self.center_span >= 1:
            raise InputDataError(
                "Expected -1 <= alpha < 0, where the sides grow without bound but the regret is "
                f"sub-linear, and center_span >= 1; got alpha={self.alpha}, "
                f"center_span={self.center_span}."
            )

    def propose(self, context: Context) -> Proposal:
        """The box of this step around the best observation."""
        box, details = self.box(context)
        return Proposal(bounds=box, details=details)

    def box(self, context: Context) -> tuple[Tensor, dict[str, Any]]:
        """The ``2 x d`` box, and its reasons."""
        first = context.first_box
        factor = hyperharmonic_factor(context.t, self.alpha)
        allowed = scale_about_center(first, self.center_span)
        center = context.X[context.best_observed].clamp(allowed[0], allowed[1])
        half = factor / 2 * (first[1] - first[0])
        details = {"side_factor": factor, "center": center.tolist()}
        return torch.stack([center - half, center + half]), details


def hyperharmonic_factor(t: int, alpha: float) -> float:
    """``1 + sum_{j <= t} j^alpha``."""
    return 1 + sum(j**alpha for j in range(1, t + 1))
