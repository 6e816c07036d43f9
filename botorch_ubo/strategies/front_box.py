"""The default's boxes with several objectives: around the whole Pareto front, near and wide."""

from __future__ import annotations

import torch
from torch import Tensor

from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal


def boxes_around_front(
    context: Context, least: Tensor, widest: Tensor, searching: bool
) -> Proposal:
    r"""Hulls of boxes around the points of the front: a near and a wide one, searched in turn.

    In the near one each reaches ``max(least, extent)`` on either side, where ``extent`` is how far
    the points that lead lie from it: an end of the front at the edge of the data may go on as far
    again. Almost every evaluation adds a point to a front, be it one far from the true one, and
    gives no reason to look elsewhere. So in the wide one each reaches ``widest`` at least, and what
    hard limits cut off on one side it has on the other: a front often lies at a limit.

    Args:
        context: The fitted model with several objectives and the controller's state.
        least: ``d`` half-widths of the near box.
        widest: ``d`` half-widths of the wide box.
        searching: Whether nothing notable was found yet, for the record.

    Returns:
        The proposal.
    """
    front = context.X[context.view.incumbents]
    extents = (context.X_leading - front.unsqueeze(1)).abs().amax(dim=1)  # r x d
    near = torch.maximum(least, extents)
    wide = torch.maximum(widest, near)
    why = "around the front"
    led = (extents > least).any(dim=0).nonzero().flatten().tolist()
    if led:
        why += f", as far again as the data reach in {', '.join(f'x{i}' for i in led)}"
    elif searching:
        why += ", wider while nothing notable is found"
    boxes = torch.stack([_hull(front, near), _longer_at_limits(context, _hull(front, wide))])
    return Proposal(
        bounds=boxes[1],
        boxes=boxes,
        details={
            "why": f"{why}; a wide box in turn",
            "reach": near.amax(dim=0).tolist(),
            "wide_reach": wide.amax(dim=0).tolist(),
            "hyperharmonic_half_widths": least.tolist(),
            "extent_of_data": extents.amax(dim=0).tolist(),
        },
    )


def _hull(centers: Tensor, reach: Tensor) -> Tensor:
    """The ``2 x d`` hull of boxes around ``r x d`` centres with ``r x d`` half-widths."""
    return torch.stack([(centers - reach).amin(dim=0), (centers + reach).amax(dim=0)])


def _longer_at_limits(context: Context, box: Tensor) -> Tensor:
    """A ``2 x d`` box, longer on one side by what hard limits will cut off on the other."""
    lost = (context.within_limits(box) - box).abs()
    return torch.stack([box[0] - lost[1], box[1] + lost[0]])
