"""Whether the searches get anywhere; see :mod:`botorch_ubo.policies.progress`."""

from __future__ import annotations

import torch
from torch import Tensor

from botorch_ubo.policies.batched.context import SIDE, BatchedContext
from botorch_ubo.policies.progress import ONE_PLACE, PLATEAU_PLACES, PLATEAU_SHARE


def on_plateau(context: BatchedContext, good: Tensor, idle: Tensor) -> Tensor:
    r"""Which runs have found their best all over the place, and for a while.

    Args:
        context: The fitted models.
        good: ``B x n``: which data are as good as the best.
        idle: ``B`` evaluations without improvement.

    Returns:
        ``B`` booleans.
    """
    present = context.present
    near = present.unsqueeze(-1) & present.unsqueeze(-2)
    for column in context.X.unbind(dim=-1):
        near &= (column.unsqueeze(-1) - column.unsqueeze(-2)).abs() <= ONE_PLACE * SIDE
    place = torch.where(present, 1 / near.sum(dim=-1).to(context.X), 0.0)
    equal = torch.where(good, place, 0.0).sum(dim=-1)
    enough = (PLATEAU_SHARE * place.sum(dim=-1)).clamp_min(PLATEAU_PLACES)
    return (idle >= context.d) & (equal >= enough)
