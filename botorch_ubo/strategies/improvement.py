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

from botorch_ubo.boxes import from_model_space
from botorch_ubo.context import Context
from botorch_ubo.radius import theorem_radius
from botorch_ubo.strategies.base import Proposal, Strategy
from botorch_ubo.strategies.theorem import radius_details, theorem_box

IMPROVEMENT_BETA = 1 / (2 * math.pi)


@dataclass(frozen=True)
class ImprovementBox(Strategy):
    """Expand to where expected improvement is within ``epsilon / 2`` of its limit."""

    def propose(self, context: Context) -> Proposal:
        """See :class:`Strategy`."""
        radius = theorem_radius(context.summary, context.epsilon, IMPROVEMENT_BETA)
        box = theorem_box(context.summary, radius)
        return Proposal(
            bounds=from_model_space(context.model, box).cpu(),
            details=radius_details(context.summary, radius, IMPROVEMENT_BETA),
        )
