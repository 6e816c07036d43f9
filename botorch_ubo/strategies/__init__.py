"""Where to move the box: one strategy, one file, no history inside."""

from botorch_ubo.strategies.base import Proposal, Strategy
from botorch_ubo.strategies.published import PublishedBox
from botorch_ubo.strategies.theorem import TheoremBox

__all__ = ["Proposal", "PublishedBox", "Strategy", "TheoremBox"]
