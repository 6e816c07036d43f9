r"""EI-UBO: Theorem 4.1's box for expected improvement.

``EI = sigma h((mu - best) / sigma)`` has ``|dEI/dmu| = Phi <= 1`` and
``|dEI/dsigma| = phi <= 1/sqrt(2 pi)``, so far from the data

``|EI(x) - EI(inf)| <= S gamma + (theta - sqrt(theta^2 - n lambda_max gamma^2)) / sqrt(2 pi)``,

which is the bound of Theorem 4.1 with ``sqrt(beta) = 1/sqrt(2 pi)``. EI, like UCB, has a positive
limit at infinity and needs a box.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal, Strategy
from botorch_ubo.posterior import ConditionFails, theorem_radius
from botorch_ubo.strategies.theorem import radius_details, stay, theorem_box

IMPROVEMENT_BETA = 1 / (2 * math.pi)


@dataclass(frozen=True)
class ImprovementBox(Strategy):
    """Expand to where expected improvement is within ``epsilon / 2`` of its limit."""

    def propose(self, context: Context) -> Proposal:
        """The box around the balls of Theorem 4.1 for expected improvement, where it holds."""
        summary = context.view.summary
        try:
            radius = theorem_radius(summary, context.epsilon, IMPROVEMENT_BETA)
        except ConditionFails as error:
            return stay(context, error)
        details = radius_details(context, radius, IMPROVEMENT_BETA)
        return Proposal(bounds=theorem_box(context.X_in_sight, radius), details=details)
