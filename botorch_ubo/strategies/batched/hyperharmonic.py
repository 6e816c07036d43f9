"""HuBO's boxes; see :mod:`botorch_ubo.strategies.hyperharmonic`."""

from __future__ import annotations

import torch
from torch import Tensor

from botorch_ubo.policies.batched import BatchedContext, rows_of
from botorch_ubo.policies.batched.context import SIDE
from botorch_ubo.strategies.batched.proposal import BatchedProposal
from botorch_ubo.strategies.hyperharmonic import HyperharmonicBox


def hyperharmonic_boxes(strategy: HyperharmonicBox, context: BatchedContext) -> BatchedProposal:
    """The boxes of this step around the best observations."""
    allowed = strategy.center_span / 2 * SIDE
    center = rows_of(context.X, context.best_observed).clamp(0.5 - allowed, 0.5 + allowed)
    half = SIDE / 2 * hyperharmonic_factors(context, strategy.alpha).unsqueeze(-1)
    return BatchedProposal(torch.stack([center - half, center + half], dim=-2))


def hyperharmonic_factors(context: BatchedContext, alpha: float) -> Tensor:
    """``B`` factors ``1 + sum_{j <= t} j^alpha``."""
    steps = torch.arange(1, context.X.shape[-2] + 2, device=context.X.device).to(context.X)
    return 1 + steps.pow(alpha).cumsum(dim=-1)[context.t - 1]
