"""Where to search next in many runs."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class BatchedProposal:
    """Boxes in the model's space."""

    bounds: Tensor
    """``B x 2 x d``."""
    boxes: tuple[Tensor, ...] = ()
    """Parts of it that are searched in turn, each ``B x 2 x d``; none for all of it."""
    led: Tensor | None = None
    """``B x d``, of boxes that grow with their data: where these, not the steps, set the width."""
    searching: Tensor | None = None
    """``B``, of the same: whether nothing notable has been found at all."""
    plateau: Tensor | None = None
    """``B``, of the same: whether the data are a plateau."""
