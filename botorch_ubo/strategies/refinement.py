r"""Appendix B: when the maximiser of UCB is "at infinity", search the balls around the data.

Theorem 4.1 says that the union of balls holds a point whose UCB is within epsilon of the
supremum over the whole space. A maximiser that lies in no ball is therefore exchanged for one
that does: the balls are visited in decreasing order of UCB at their centres, and the first that
holds a point with ``UCB >= sup - epsilon`` supplies it. (The printed criterion, "smaller than
the limit minus epsilon", contradicts the theorem; this is its evident meaning.)

NOTE: The appendix goes on until a ball is found. Here the search ends after ten balls, and the
maximiser that was to be exchanged is kept if none of them qualifies.
"""

from __future__ import annotations

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from torch import Tensor

from botorch_ubo.acquisition.search import climb
from botorch_ubo.boxes import clip, contains
from botorch_ubo.models.space import to_model_space
from botorch_ubo.policies.context import Context

_MAX_BALLS = 10
_SAMPLES = 64
_STARTS = 4


class _InBall(AcquisitionFunction):
    """An acquisition function over the unit ball that is mapped to the ball around a datum."""

    def __init__(self, context: Context, center: Tensor, half_widths: Tensor, box: Tensor) -> None:
        super().__init__(model=context.model)
        self.context = context
        self.center, self.half_widths, self.box = center, half_widths, box

    def to_raw(self, U: Tensor) -> Tensor:
        norm = U.norm(dim=-1, keepdim=True).clamp_min(1.0)  # outside the ball: project
        X = self.center + self.half_widths * U / norm
        return clip(self.context.to_raw(X).to(self.box), self.box)

    def forward(self, U: Tensor) -> Tensor:
        return self.context.confidence.ucb(self.to_raw(U))


def refine_in_balls(context: Context, X: Tensor) -> Tensor:
    r"""Exchange a maximiser of UCB beyond all balls for an epsilon-maximiser within one.

    Args:
        context: The fitted model and the controller's state.
        X: The ``1 x d`` maximiser of UCB in the search box, in raw units.

    Returns:
        ``X`` itself if it lies in the first box or in a ball, else a ``1 x d`` point in a ball.
    """
    confidence = context.confidence
    data = context.X.to(X)
    half_widths = confidence.radius.half_widths.to(X)
    inside_first = contains(context.state.initial_bounds.to(X), X).all()
    distance = ((to_model_space(context.model, X) - data) / half_widths).norm(dim=-1)
    if inside_first or (distance <= 1).any():
        return X
    box = context.search_boxes
    box = box if box.dim() == 2 else torch.stack([box[:, 0].amin(0), box[:, 1].amax(0)])
    supremum = max(confidence.ucb_maximizer[1], confidence.ucb_at_infinity)
    best, best_value = X, -torch.inf
    for index in confidence.ucb_at_data.argsort(descending=True)[:_MAX_BALLS]:
        ball = _InBall(context, data[index], half_widths, box)
        candidate, value = _maximize_in_ball(ball, context.seed)
        if value >= supremum - context.epsilon:
            return candidate
        if value > best_value:
            best, best_value = candidate, value
    return best


def _maximize_in_ball(ball: _InBall, seed: int) -> tuple[Tensor, float]:
    d = ball.center.shape[-1]
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randn(_SAMPLES, d, generator=generator, dtype=torch.double).to(ball.center)
    size = torch.rand(_SAMPLES, 1, generator=generator, dtype=torch.double).to(ball.center)
    U = normal / normal.norm(dim=-1, keepdim=True) * size ** (1 / d)
    with torch.no_grad():
        values = ball(U.unsqueeze(-2))
    starts = U[values.topk(_STARTS).indices].unsqueeze(-2)
    ones = torch.ones_like(ball.center)
    best, value = climb(ball, torch.stack([-ones, ones]), starts)
    return ball.to_raw(best).detach(), float(value)
