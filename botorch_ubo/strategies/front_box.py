"""The default's box with several objectives: around the whole Pareto front."""

from __future__ import annotations

import torch
from torch import Tensor

from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal


def box_around_front(context: Context, least: Tensor, searching: bool) -> Proposal:
    r"""The hull of boxes around the points of the front.

    Each reaches ``max(least, extent)`` on either side, where ``extent`` is how far the points that
    lead lie from it: an end of the front at the edge of the data may go on as far again.

    Args:
        context: The fitted model with several objectives and the controller's state.
        least: ``d`` half-widths.
        searching: Whether nothing notable was found yet, for the record.

    Returns:
        The proposal.
    """
    front = context.X[context.view.incumbents]
    extents = (context.X_leading - front.unsqueeze(1)).abs().amax(dim=1)  # r x d
    reach = torch.maximum(least, extents)
    why = "around the front"
    led = (extents > least).any(dim=0).nonzero().flatten().tolist()
    if led:
        why += f", as far again as the data reach in {', '.join(f'x{i}' for i in led)}"
    elif searching:
        why += ", wider while nothing notable is found"
    return Proposal(
        bounds=torch.stack([(front - reach).amin(dim=0), (front + reach).amax(dim=0)]),
        details={
            "why": why,
            "reach": reach.amax(dim=0).tolist(),
            "hyperharmonic_half_widths": least.tolist(),
            "extent_of_data": extents.amax(dim=0).tolist(),
        },
    )
