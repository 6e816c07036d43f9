"""Very bad outcomes brought nearer, so that a GP spends its resolution on the good ones."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor

LOG_ABSURD = math.log1p(1e4)
MORE_ABSURD = 0.1  # scales that all worse values share, so that they keep their order
SAME_DIGITS = 1e-6  # of their size: nearer values are one, as single precision or a solver gives it
ONE_PLACE = 0.05  # sides of the first box between evaluations that tell of different places
_IN_REACH = 0.06  # further ones need not be found


def compress_bad_outcomes(
    X: Tensor,
    Y: Tensor,
    bounds: Tensor,
    Yvar: Tensor | None = None,
    maximize: bool = True,
) -> tuple[Tensor, Tensor | None]:
    r"""Bring very bad outcomes nearer; leave good ones as they are.

    A box that grows meets values that are orders of magnitude worse than those of the first box,
    and a GP of standardised outcomes would spend its resolution on them. Outcomes that are more
    than twice as far from the best as the median is are compressed logarithmically, with
    continuous slope; beyond 10,000 times that far, where a value says only that it is absurd, they
    come to a limit. All others, and with them every statement on values near the best, are
    untouched, and so is the order.

    The median is one over places: of evaluations in one spot, as when a search has converged,
    the best one counts. It would otherwise become as good as the best.

    Args:
        X: ``n x d`` inputs.
        Y: ``n x 1`` outcomes.
        bounds: The first ``2 x d`` box.
        Yvar: ``n x 1`` observation variances, if known.
        maximize: Whether large outcomes are good.

    Returns:
        Outcomes and variances to fit.
    """
    sign = 1.0 if maximize else -1.0
    values = sign * Y
    median = values[_places(X / (bounds[1] - bounds[0]).to(X), values)].median()
    scale = values.max() - median
    if not scale > SAME_DIGITS * torch.maximum(values.max().abs(), median.abs()):
        return Y, Yvar  # a plateau: what the good half differs by is no unit to measure others in
    beyond = (median - scale - values).clamp_min(0.0)
    excess = beyond / scale
    # Of outcomes beyond floating point in units of the scale, too.
    log_excess = torch.where(excess.isinf(), beyond.log() - scale.log(), excess.log1p())
    further = (log_excess - LOG_ABSURD).clamp_min(0.0)
    damping = MORE_ABSURD / (MORE_ABSURD + further)
    steps = log_excess.clamp_max(LOG_ABSURD) + further * damping
    compressed = torch.where(excess > 0, median - scale * (1 + steps), values)
    slope = damping.square() / (1 + excess)
    return sign * compressed, None if Yvar is None else Yvar * slope * slope


def _places(X: Tensor, values: Tensor) -> Tensor:
    """Indices of points such that every other is close to a better one of them."""
    points = X.detach().to("cpu", torch.double).numpy()
    worse = -values.detach().to("cpu", torch.double).numpy().ravel()
    nearest, _ = cKDTree(points).query(points, k=[2], p=np.inf, distance_upper_bound=_IN_REACH)
    alone = nearest[:, 0] > ONE_PLACE  # most are, and need no comparison one by one
    chosen = np.flatnonzero(alone).tolist()
    left = np.flatnonzero(~alone)
    left = left[worse[left].argsort(kind="stable")]
    while len(left):
        chosen.append(left[0])
        left = left[np.abs(points[left] - points[left[0]]).max(axis=-1) > ONE_PLACE]
    return torch.tensor(chosen, device=X.device)
