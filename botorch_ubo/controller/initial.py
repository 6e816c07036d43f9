"""Initial points of a run: in the guess, and partly around it."""

from __future__ import annotations

import torch
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo.boxes import cast_inward, clip, fit_inside, scale_about_center

_MANY = 30


def usual_num_initial(d: int) -> int:
    """How many points a run begins with: ``3 d``, but no more than 30.

    In many dimensions no design fills the space, and evaluations are better spent where a model
    says.
    """
    return min(3 * d, _MANY)


def initial_points(bounds: Tensor, hard_limits: Tensor, n: int, span: float, seed: int) -> Tensor:
    r"""Space-filling points: the first ``d + 1`` in a box, the others in a wider one.

    The first fix a plane through the guess. Of the others, those that lie around it tell in which
    direction to leave; nobody who knew the domain would have put all of them in one corner.

    Args:
        bounds: The first ``2 x d`` box.
        hard_limits: ``2 x d``, infinite on free sides. The wider box is cut to them; a side of the
            first box that reaches beyond them, as one of a grid does by half a step, stays.
        n: How many. The first of more are the same.
        span: Sides of the wider box, in sides of the first; 1 to have all points in that.
        seed: Of the scrambled Sobol sequences.

    Returns:
        An ``n x d`` tensor, within the limits where ``bounds`` are.
    """
    inner = n if span == 1 else min(n, bounds.shape[-1] + 1)
    wider = fit_inside(scale_about_center(bounds, span), hard_limits)
    around = torch.stack([torch.minimum(wider[0], bounds[0]), torch.maximum(wider[1], bounds[1])])
    parts = [
        draw_sobol_samples(box, count, 1, seed=seed + 7919 * i).squeeze(-2)
        for i, (box, count) in enumerate([(bounds, inner), (around, n - inner)])
        if count
    ]
    return torch.cat(parts) if parts else bounds[:0]


def initial_points_within(
    bounds: Tensor, hard_limits: Tensor, n: int, span: float, seed: int
) -> Tensor:
    """The same, within limits that may have come to cut the first box."""
    X = initial_points(fit_inside(bounds, hard_limits), hard_limits, n, span, seed)
    return clip(X, cast_inward(hard_limits, X))
