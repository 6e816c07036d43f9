r"""Proposals made nested, capped, held back and limited, of many runs.

The rules are those of :mod:`botorch_ubo.controller.expansion` and its neighbours. All boxes are
``B x 2 x d``, in the models' space.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from botorch_ubo.controller.failures import FAILURES_THAT_STOP_GROWTH
from botorch_ubo.models.sight import MAX_GAP
from botorch_ubo.policies.batched import BatchedContext
from botorch_ubo.policies.batched.context import SIDE
from botorch_ubo.policies.evidence import ALL_EQUAL, MAY_BE_NOISE, min_evidence

GUARDED = ("", "", MAY_BE_NOISE, ALL_EQUAL)
"""What keeps a box back: nothing, the sight of the data, and that they show nothing."""


@dataclass(frozen=True)
class Limits:
    """What no box crosses, and how far one may go at once."""

    hard: Tensor
    """``B x 2 x d`` limits, infinite on free sides."""
    max_growth: float
    blind_limit: float
    nested: bool


@dataclass(frozen=True)
class BatchedMove:
    """The boxes after a move, and what has stopped them."""

    box: Tensor
    stopped_by_limit: Tensor
    """``B x 2 x d`` booleans, like the next two: lower and upper sides."""
    capped: Tensor
    held: Tensor
    guarded: Tensor
    """``B`` whole numbers (``int8``): which of :data:`GUARDED` has held a box back, from 1 on."""

    def put(self, rows: Tensor, other: BatchedMove) -> BatchedMove:
        """With the moves of some runs, by index."""
        parts = {name: value.clone() for name, value in vars(self).items()}
        for name, value in vars(other).items():
            parts[name][rows] = value
        return BatchedMove(**parts)


def move_boxes(
    context: BatchedContext, wanted: Tensor, limits: Limits, failing: Tensor
) -> BatchedMove:
    r"""Move boxes as proposed, within the hard limits and the growth cap.

    Args:
        context: The fitted models and the boxes as they are.
        wanted: The proposed boxes.
        limits: What no box crosses.
        failing: ``B x 2 x d`` sides beyond which evaluations keep failing.

    Returns:
        The move.
    """
    old = context.box
    if limits.nested:
        wanted = hull(old, wanted)
        sides = old[:, 1] - old[:, 0]
        box = clip(wanted, pad(old, limits.max_growth * sides))
    else:
        sides = (old[:, 1] - old[:, 0]).clamp_min(SIDE)
        box = fit_inside(wanted, pad(old, limits.max_growth * sides))
    capped = (box - wanted).abs() > 1e-9 * (wanted[:, 1] - wanted[:, 0]).unsqueeze(-2)
    box, guarded = _guard(context, box, limits)
    limited = (clip if limits.nested else fit_inside)(box, limits.hard)
    lower, upper = limits.hard[:, 0], limits.hard[:, 1]
    stopped = torch.stack([box[:, 0] < lower, box[:, 1] > upper], dim=-2)
    final, held = _keep_failing(old, limited, failing)
    return BatchedMove(final, stopped, capped, held, guarded)


def failing_sides(good: Tensor, worked: Tensor, bad: Tensor, failed: Tensor) -> Tensor:
    r"""Sides on which several evaluations failed further out than any that succeeded.

    Args:
        good: ``B x n x d`` points whose evaluation succeeded.
        worked: ``B x n``: which of them are there.
        bad: ``B x m x d`` points whose evaluation failed.
        failed: ``B x m``: which of them are there.

    Returns:
        ``B x 2 x d`` booleans.
    """
    there = worked.unsqueeze(-1)
    lowest = torch.where(there, good, torch.inf).amin(dim=-2, keepdim=True)
    highest = torch.where(there, good, -torch.inf).amax(dim=-2, keepdim=True)
    beyond = torch.stack([bad < lowest, bad > highest], dim=1) & failed[:, None, :, None]
    return beyond.sum(dim=-2) >= FAILURES_THAT_STOP_GROWTH


def _guard(context: BatchedContext, box: Tensor, limits: Limits) -> tuple[Tensor, Tensor]:
    """Hold boxes back from where the data give no reason to go, and why, as ``guard`` does."""
    narrow = _first_like(box, limits.blind_limit)
    blind = context.outcomes.flat | (context.gp.evidence < min_evidence(context.d))
    outside = ~_contains(narrow, box)
    reach = (hull(_first_like(box), context.hull) - _first_like(box)).abs().amax(dim=-2)
    sight = pad(_first_like(box), MAX_GAP / 10 * reach.clamp_min(SIDE))
    held = (outside & blind)[:, None, None]
    allowed = torch.where(held, narrow, sight)
    # Places in GUARDED
    blindly = 2 + context.outcomes.flat.to(torch.int8)
    guarded = torch.where(outside & blind, blindly, (~_contains(sight, box)).to(torch.int8))
    if limits.nested:
        inner = hull(context.box, clip(box, allowed))
    else:
        inner = fit_inside(box, allowed)
    return torch.where(guarded[:, None, None] > 0, inner, box), guarded


def _keep_failing(old: Tensor, new: Tensor, failing: Tensor) -> tuple[Tensor, Tensor]:
    """Keep some faces from moving outward, and say which would have."""
    inner = torch.stack(
        [torch.maximum(new[:, 0], old[:, 0]), torch.minimum(new[:, 1], old[:, 1])], dim=-2
    )
    kept = torch.where(failing, inner, new)
    # A dimension in which the box has left its old interval behind moves as planned.
    box = torch.where((kept[:, :1] < kept[:, 1:]), kept, new)
    return box, failing & (box != new)


def hull(first: Tensor, second: Tensor) -> Tensor:
    """The smallest boxes that contain two others."""
    lower = torch.minimum(first[:, 0], second[:, 0])
    return torch.stack([lower, torch.maximum(first[:, 1], second[:, 1])], dim=-2)


def pad(box: Tensor, half_widths: Tensor) -> Tensor:
    """Move each face outward."""
    return torch.stack([box[:, 0] - half_widths, box[:, 1] + half_widths], dim=-2)


def clip(box: Tensor, limits: Tensor) -> Tensor:
    """Intersect boxes with limits that they overlap."""
    return torch.clamp(box, limits[:, :1], limits[:, 1:])


def fit_inside(box: Tensor, limits: Tensor) -> Tensor:
    """Cut boxes to limits; move one of which nothing would be left."""
    cut = clip(box, limits)
    center = (box / 2).sum(dim=-2, keepdim=True)
    moved = clip(box + (torch.clamp(center, limits[:, :1], limits[:, 1:]) - center), limits)
    return torch.where(cut[:, :1] < cut[:, 1:], cut, moved)


def _contains(box: Tensor, other: Tensor) -> Tensor:
    """``B``: whether boxes contain others."""
    return ((other[:, 0] >= box[:, 0]) & (other[:, 1] <= box[:, 1])).all(dim=-1)


def _first_like(box: Tensor, sides: float = 1.0) -> Tensor:
    """The first boxes, which are the same for all, with sides so many times as long."""
    half = sides / 2 * SIDE
    ends = torch.tensor([0.5 - half, 0.5 + half], dtype=torch.double).to(box)
    return ends.reshape(1, 2, 1).expand_as(box)
