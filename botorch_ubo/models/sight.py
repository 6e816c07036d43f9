"""Data so far from all others that no model of these can tell anything about them."""

from __future__ import annotations

import torch
from torch import Tensor

MAX_GAP = 1e6
"""Ratio of distances from the first box beyond which a datum is out of sight of the nearer ones.

The longest length-scale of the default model is 66,000 sides of the first box, so that the
correlation across such a gap is zero in floating point. A search that travels leaves no such gap.
"""


def in_sight(X: Tensor, bounds: Tensor) -> Tensor:
    r"""Which data are within sight of those nearest to the first box.

    One datum 1e12 sides away would take the digits of all others, and their extent would be its
    own.

    Args:
        X: ``n x d`` points.
        bounds: The first ``2 x d`` box, in the same space.

    Returns:
        An ``n``-dim mask; the nearest datum is always in it.
    """
    box = bounds.to(X)
    center = box[0] + 0.5 * (box[1] - box[0])
    distance = ((X - center).abs() / (box[1] - box[0])).amax(dim=-1).clamp_min(1.0)
    nearest, farthest = distance.aminmax()
    if farthest <= MAX_GAP * nearest:  # as a rule
        return torch.ones_like(distance, dtype=torch.bool)
    ordered = distance.sort().values
    gaps = (ordered[1:] > MAX_GAP * ordered[:-1]).nonzero()
    if not len(gaps):
        return torch.ones_like(distance, dtype=torch.bool)
    return distance <= ordered[gaps[0, 0]]
