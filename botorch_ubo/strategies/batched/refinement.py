"""Appendix B for many runs; see :mod:`botorch_ubo.strategies.refinement`."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from botorch_ubo.acquisition.batched import climb_batched
from botorch_ubo.models.batched import BatchedConfidenceBound, BatchedFormula
from botorch_ubo.models.batched.draws import normal, uniform
from botorch_ubo.policies.batched import BatchedContext, rows_of
from botorch_ubo.policies.batched.context import SIDE
from botorch_ubo.strategies.batched.theorem import theorem_radii

_MAX_BALLS = 10
_SAMPLES = 64
_STARTS = 4


@dataclass(frozen=True)
class _InBall:
    """A formula over the unit ball, mapped to the ball around a datum and cut to the box."""

    formula: BatchedFormula
    center: Tensor
    """``B x 1 x d``, in length-scales as the next two."""
    half_widths: Tensor
    """``B x 1 x d``."""
    box: Tensor
    """``B x 2 x d``."""

    def take(self, groups: Tensor) -> _InBall:
        parts = (self.center, self.half_widths, self.box)
        return _InBall(self.formula.take(groups), *(part[groups] for part in parts))

    def to_points(self, U: Tensor) -> Tensor:
        norm = U.norm(dim=-1, keepdim=True).clamp_min(1.0)  # outside the ball: project
        return self.center + self.half_widths * U / norm

    def __call__(self, U: Tensor, gradient: bool = True) -> tuple[Tensor, Tensor]:
        points = self.to_points(U)
        inside = torch.clamp(points, self.box[:, :1], self.box[:, 1:])
        values, slopes = self.formula(inside, gradient)
        if not gradient:
            return values, slopes
        slopes = torch.where(points == inside, slopes, 0.0) * self.half_widths
        norm = U.norm(dim=-1, keepdim=True)
        unit = U / norm.clamp_min(1.0)
        along = (slopes * unit).sum(dim=-1, keepdim=True)
        projected = (slopes - along * unit) / norm.clamp_min(1.0)
        return values, torch.where(norm > 1, projected, slopes)


def refine_in_balls(
    context: BatchedContext, ucb: BatchedConfidenceBound, X: Tensor, value: Tensor, seeds: Tensor
) -> Tensor:
    r"""Exchange maximisers of UCB beyond all balls for epsilon-maximisers within one.

    Args:
        context: The fitted models, and the boxes that were searched.
        ucb: The upper confidence bounds of the step.
        X: ``B x d`` maximisers in the models' space.
        value: ``B`` values.
        seeds: ``B`` whole numbers.

    Returns:
        ``B x d`` points: as they were where they lie in the first box or in a ball, or where the
        theorem's condition fails.
    """
    radii = theorem_radii(context, ucb.root.square())
    away = (X.unsqueeze(-2) - context.X) / radii.half_widths.unsqueeze(-2)
    in_ball = ((away.norm(dim=-1) <= 1) & context.present).any(dim=-1)
    in_first = ((X - 0.5).abs() <= SIDE / 2).all(dim=-1)
    rows = (radii.holds & ~in_ball & ~in_first).nonzero().squeeze(-1)
    if not len(rows):
        return X
    part, own = context.take(rows), ucb.take(rows)
    limit = own.gp.prior_mean + own.root * own.gp.variance.sqrt()
    supremum = torch.maximum(value[rows], limit)
    found, values = _search_balls(part, own, radii.half_widths[rows], seeds[rows])
    good = values >= (supremum - part.epsilon).unsqueeze(-1)
    # The first ball that will do; if there is none, the best.
    first = good.to(torch.int8).argmax(dim=-1, keepdim=True)
    chosen = torch.where(good.any(dim=-1, keepdim=True), first, values.argmax(-1, keepdim=True))
    refined = X.clone()
    refined[rows] = rows_of(found, chosen)
    return refined


def _search_balls(
    context: BatchedContext, ucb: BatchedConfidenceBound, half_widths: Tensor, seeds: Tensor
) -> tuple[Tensor, Tensor]:
    """``B x K x d`` best points of the balls around the best data, and ``B x K`` values."""
    gp = context.gp
    B, n, d = gp.X.shape
    at_data = torch.where(gp.present, ucb(gp.X, False)[0], -torch.inf)
    K = min(_MAX_BALLS, n)
    index = at_data.topk(K, dim=-1).indices
    index = torch.where(gp.present.gather(-1, index), index, index[:, :1])
    centers = gp.X.gather(1, index.unsqueeze(-1).expand(-1, -1, d))
    each = torch.arange(B, device=seeds.device).repeat_interleave(K)
    ball = _InBall(
        ucb.take(each),
        centers.reshape(B * K, 1, d),
        (half_widths / context.lengthscales).unsqueeze(-2)[each],
        gp.to_points(context.box)[each],
    )
    random = uniform(seeds, _SAMPLES * (d + 1), gp.X)
    direction = normal(random[:, _SAMPLES:]).reshape(B, _SAMPLES, d)
    size = random[:, :_SAMPLES].unsqueeze(-1) ** (1 / d)
    U = (direction / direction.norm(dim=-1, keepdim=True) * size)[each]
    best = ball(U, False)[0].topk(_STARTS, dim=-1).indices
    starts = U.gather(1, best.unsqueeze(-1).expand(-1, -1, d))
    cube = torch.ones_like(starts[:, :1]) * torch.tensor([-1.0, 1.0]).to(starts).reshape(1, 2, 1)
    found = climb_batched(ball, cube, starts)
    points = ball.to_points(found.points.unsqueeze(-2)).reshape(B, K, d)
    box = gp.to_points(context.box)
    points = torch.clamp(points, box[:, :1], box[:, 1:])
    return gp.from_points(points), found.values.reshape(B, K)
