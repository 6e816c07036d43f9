r"""No expansion at all: the box stays where the user put it (the paper's "Vanilla")."""

from __future__ import annotations

from dataclasses import dataclass

from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal, Strategy


@dataclass(frozen=True)
class FixedBox(Strategy):
    """Keep the current box. It never finds an optimum outside the first one, by construction."""

    def propose(self, context: Context) -> Proposal:
        """The current box."""
        return Proposal(bounds=context.box)
