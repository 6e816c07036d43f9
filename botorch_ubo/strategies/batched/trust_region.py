r"""Trust regions of many runs; see :mod:`botorch_ubo.strategies.trust_region`.

The length is a fold over the observations. For all runs and observations at once it is a product of
maps: an observation that completes a row of successes or failures maps every length that there can
be to the next, any other leaves it, and maps are composed in pairs, in pairs of pairs, and so on.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from botorch_ubo.policies.batched import BatchedContext
from botorch_ubo.policies.batched.context import SIDE
from botorch_ubo.strategies.trust_region import TrustRegionBox


def trust_regions(strategy: TrustRegionBox, center: Tensor, context: BatchedContext) -> Tensor:
    """``B x 2 x d`` trust regions of this step around ``B x d`` points."""
    weights = context.lengthscales / context.lengthscales.log().mean(dim=-1, keepdim=True).exp()
    half = SIDE / 2 * lengths(strategy, context).unsqueeze(-1) * weights
    return torch.stack([center - half, center + half], dim=-2)


def lengths(strategy: TrustRegionBox, context: BatchedContext) -> Tensor:
    """``B`` lengths, in sides of the first box."""
    known, doubled, halved = _transitions(strategy)
    tables = torch.tensor([list(range(len(known))), doubled, halved]).to(context.X.device)
    maps = tables[_events(strategy, context)]  # B x n x L
    while maps.shape[1] > 1:
        if maps.shape[1] % 2:
            maps = torch.cat([maps, tables[0].expand(len(maps), 1, -1)], dim=1)
        maps = maps[:, 1::2].gather(-1, maps[:, ::2])  # the earlier one first
    return torch.tensor(known, dtype=torch.double).to(context.X)[maps[:, 0, 0]]


def _events(strategy: TrustRegionBox, context: BatchedContext) -> Tensor:
    """``B x n``: 1 where an observation doubles the length, 2 where it halves it, else 0."""
    patience = strategy.failure_tolerance or max(4, context.d)
    place = context.present.cumsum(dim=-1) - 1
    counts = context.present & (place >= context.num_initial.unsqueeze(-1))
    best = context.observed.cummax(dim=-1).values
    before = torch.cat([torch.full_like(best[:, :1], -torch.inf), best[:, :-1]], dim=-1)
    success = context.observed > before + strategy.min_improvement
    # A row begins where the outcome changes, and with the first observation of the run.
    changes = success != torch.cat([~success[:, :1], success[:, :-1]], dim=-1)
    begins = counts & (changes | (place == context.num_initial.unsqueeze(-1)))
    length = place - torch.where(begins, place, -1).cummax(dim=-1).values + 1
    doubles = counts & success & (length % strategy.success_tolerance == 0)
    halves = counts & ~success & (length % patience == 0)
    return doubles.long() + 2 * halves.long()


@cache
def _transitions(strategy: TrustRegionBox) -> tuple[list[float], list[int], list[int]]:
    """All lengths that there can be, the first one first, and where each leads."""
    known, doubled, halved = [strategy.length], list[int](), list[int]()
    for length in known:  # which grows on the way
        half = length / 2 if length / 2 >= strategy.length_min else strategy.length
        for target, where in ((min(2 * length, strategy.length_max), doubled), (half, halved)):
            if target not in known:
                known.append(target)
            where.append(known.index(target))
    return known, doubled, halved
