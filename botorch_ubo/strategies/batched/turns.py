"""The default's boxes; see :mod:`botorch_ubo.strategies.turns`."""

from __future__ import annotations

import torch
from torch import Tensor

from botorch_ubo.policies.batched import BatchedContext, notable_improvement, rows_of
from botorch_ubo.policies.batched.context import SIDE
from botorch_ubo.strategies.batched.hyperharmonic import hyperharmonic_factors
from botorch_ubo.strategies.batched.proposal import BatchedProposal
from botorch_ubo.strategies.batched.trust_region import trust_regions
from botorch_ubo.strategies.turns import WIDEST_SEARCH, TurnsBox


def turns_boxes(strategy: TurnsBox, context: BatchedContext) -> BatchedProposal:
    """The boxes of this step, and the trust regions in them."""
    region = trust_regions(strategy.local, rows_of(context.X, context.incumbent), context)
    good = context.values >= (context.values.amax(dim=-1) - notable_improvement(context)).unsqueeze(
        -1
    )
    center = _home_among(good, context)
    away = (context.X - center.unsqueeze(-2)).abs()
    extent = torch.where(context.present.unsqueeze(-1), away, 0.0).amax(dim=-2)
    least = SIDE / 2 * hyperharmonic_factors(context, -1.0)
    t = context.t
    idle = torch.minimum(context.n - 1 - context.first_index(good), t - 1)
    doubled = least * 2 ** (idle.to(least) / context.d)
    wider = torch.maximum(least, doubled.clamp_max(WIDEST_SEARCH / 2 * SIDE))
    least = torch.where(idle == t - 1, wider, least)  # nothing notable has been found at all
    reach = torch.maximum(least.unsqueeze(-1), extent)
    box = torch.stack([center - reach, center + reach], dim=-2)
    whole = torch.stack(
        [torch.minimum(box[:, 0], region[:, 0]), torch.maximum(box[:, 1], region[:, 1])], dim=-2
    )
    return BatchedProposal(whole, (region, box))


def _home_among(good: Tensor, context: BatchedContext) -> Tensor:
    """``B x d``: of the points that are as good as the best the one nearest to the first box."""
    distance = (context.X - 0.5).square().sum(dim=-1)
    nearest = torch.where(good, distance, torch.inf).argmin(dim=-1, keepdim=True)
    return rows_of(context.X, nearest)
