"""Data of many runs, of different sizes, for the batched path."""

from __future__ import annotations

import torch
from torch import Tensor

from botorch_ubo import SearchSettings, get_method
from botorch_ubo.run.batched.problem import Problem
from botorch_ubo.run.batched.state import COMPLETED, BatchedState

SIZES = (14, 9, 12)


def unit_box(d: int) -> Tensor:
    return torch.tensor([[-1.0] * d, [1.0] * d], dtype=torch.double)


def bowl(X: Tensor) -> Tensor:
    """Minus a bowl with ripples, to be maximised."""
    return -((X - 1.5).square().sum(dim=-1) + torch.sin(3 * X).sum(dim=-1))


def data(d: int = 2, sizes: tuple[int, ...] = SIZES, seed: int = 0) -> tuple[Tensor, ...]:
    """``B x n x d`` inputs, ``B x n`` outcomes, and which of them are there."""
    generator = torch.Generator().manual_seed(seed)
    B, n = len(sizes), max(sizes)
    X = 4 * torch.rand(B, n, d, generator=generator, dtype=torch.double) - 2
    present = torch.arange(n) < torch.tensor(sizes).unsqueeze(-1)
    Y = torch.where(present, bowl(X), 0.0)
    return torch.where(present.unsqueeze(-1), X, 0.0), Y, present


def problem(method: str, R: int, d: int, like: Tensor | None = None, seeds: int = 0) -> Problem:
    """Runs that maximise in the unit box, without limits."""
    like = unit_box(d) if like is None else like
    first = unit_box(d).to(like).repeat(R, 1, 1)
    infinite = torch.full_like(first[:, :1], torch.inf)
    return Problem(
        method=get_method(method),
        first=first,
        hard_limits=torch.cat([-infinite, infinite], dim=1),
        seeds=torch.arange(seeds, seeds + R, device=like.device),
        sign=1.0,
        epsilon=0.05,
        epsilon_unit="std",
        max_growth=10.0,
        search=SearchSettings(),
    )


def state(X: Tensor, Y: Tensor, present: Tensor, num_initial: int = -1) -> BatchedState:
    """Runs with these data and nothing pending, in their first boxes."""
    R, _, d = X.shape
    n = torch.full((R,), num_initial, device=X.device)
    return BatchedState(
        X=X,
        Y=Y,
        status=(COMPLETED * present).to(torch.int8),
        count=present.sum(dim=-1),
        active=torch.ones_like(n, dtype=torch.bool),
        bounds=unit_box(d).to(X).repeat(R, 1, 1),
        num_initial=n,
        num_at_expansion=n,
    )
