"""No box runs away: how wide it may be while the data show nothing to go after."""

from __future__ import annotations

import torch
from torch import Tensor

from botorch_ubo.boxes import clip, contains, fit_inside, hull, pad, scale_about_center
from botorch_ubo.models.sight import MAX_GAP
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.evidence import why_blind

HELD_IN_SIGHT = "held within sight of the data"


def guard(context: Context, box: Tensor) -> tuple[Tensor, str | None]:
    r"""Hold a box back from where the data give no reason to go.

    While the outcomes show no structure it is at most ``blind_limit`` sides of the first box wide,
    about its centre; and it never reaches beyond the sight of the data, where what is evaluated
    would tell nothing about the rest.

    Args:
        context: The fitted model and the controller's state.
        box: The planned ``2 x d`` box, in raw units.

    Returns:
        The box, and why it was held back, if it was.
    """
    planned, first = context.to_model(box), context.first_box
    limit = context.settings.blind_limit
    near = contains(scale_about_center(first, limit), planned).all()
    if near and limit < MAX_GAP / 10:
        return box, None  # in sight of the data wherever they are
    if not near:
        why = why_blind(context.view)
        if why is not None:
            allowed = scale_about_center(first, limit)
            return _within(context, box, allowed), held_blind(limit, why)
    reach = (hull(first, context.X_in_sight) - first).abs().amax(dim=0)
    allowed = pad(first, MAX_GAP / 10 * torch.maximum(reach, first[1] - first[0]))
    if contains(allowed, planned).all():
        return box, None
    return _within(context, box, allowed), HELD_IN_SIGHT


def held_blind(limit: float, why: str) -> str:
    """What the record says of a box that was held back while the data showed nothing."""
    return f"held at {limit:g} sides of the first box, for {why} (`blind_limit` of the method)"


def _within(context: Context, box: Tensor, allowed: Tensor) -> Tensor:
    """Cut the box to what is allowed; one that is nested keeps what it had."""
    planned = context.to_model(box)
    if context.settings.strategy.nested:
        inner = context.to_raw(clip(planned, allowed)).to(box)
        return hull(context.state.bounds, inner)
    return context.to_raw(fit_inside(planned, allowed)).to(box)
