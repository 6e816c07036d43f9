"""The default's boxes; see :mod:`botorch_ubo.strategies.turns`."""

from __future__ import annotations

import torch
from torch import Tensor

from botorch_ubo.boxes import fit_inside
from botorch_ubo.policies.batched import (
    BatchedContext,
    notable_improvement,
    on_plateau,
    rows_of,
)
from botorch_ubo.policies.batched.context import SIDE
from botorch_ubo.strategies.batched.hyperharmonic import hyperharmonic_factors
from botorch_ubo.strategies.batched.proposal import BatchedProposal
from botorch_ubo.strategies.batched.trust_region import trust_regions
from botorch_ubo.strategies.turns import WIDEST_SEARCH, TurnsBox, emptiest


def turns_boxes(strategy: TurnsBox, context: BatchedContext, hard: Tensor) -> BatchedProposal:
    r"""The boxes of this step, and the trust regions in them.

    Args:
        strategy: Its parameters.
        context: The fitted models.
        hard: ``B x 2 x d`` hard limits, in the model's space.

    Returns:
        The boxes, and the parts that are searched in turn.
    """
    region = trust_regions(strategy.local, rows_of(context.X, context.incumbent), context)
    good = context.values >= (context.values.amax(dim=-1) - notable_improvement(context)).unsqueeze(
        -1
    )
    center = _home_among(good, context)
    widest = WIDEST_SEARCH / 2 * SIDE
    come = (center - 0.5).abs() + SIDE / 2
    away = (context.X - center.unsqueeze(-2)).abs()
    extent = torch.where(context.present.unsqueeze(-1), away, 0.0).amax(dim=-2)
    extent = torch.minimum(extent, come.clamp_min(widest))
    least = SIDE / 2 * hyperharmonic_factors(context, -1.0)
    t = context.t
    idle = torch.minimum(context.n - 1 - context.first_index(good), t - 1)
    plateau = on_plateau(context, good, idle)
    doubled = least * 2 ** (idle.to(least) / context.d)
    wider = torch.maximum(least, doubled.clamp_max(widest))
    # Nothing notable has been found at all, or nothing but a plateau.
    searching = (idle == t - 1) | plateau
    least = torch.where(searching, wider, least).unsqueeze(-1)
    reach = torch.maximum(least, extent)
    box = torch.stack([center - reach, center + reach], dim=-2)
    near = torch.stack([center - least, center + least], dim=-2)
    near = torch.clamp(near, hard[:, :1], hard[:, 1:])
    data = torch.where(context.present.unsqueeze(-1), context.X, torch.inf)
    empty = emptiest(near, data, torch.full_like(center[0], SIDE))
    where = plateau[:, None, None]
    parts = torch.where(where, empty, fit_inside(region, box)), torch.where(where, empty, box)
    return BatchedProposal(box, parts, extent > least, searching, plateau)


def _home_among(good: Tensor, context: BatchedContext) -> Tensor:
    """``B x d``: of the points that are as good as the best the one nearest to the first box."""
    distance = (context.X - 0.5).square().sum(dim=-1)
    nearest = torch.where(good, distance, torch.inf).argmin(dim=-1, keepdim=True)
    return rows_of(context.X, nearest)
