"""Very bad outcomes brought nearer, so that a GP spends its resolution on the good ones."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from torch import Tensor

LOG_ABSURD = math.log1p(1e4)
MORE_ABSURD = 0.1  # scales that all worse values share, so that they keep their order
SAME_DIGITS = 1e-6  # of their size: nearer values are one, as single precision or a solver gives it
ONE_PLACE = 0.05  # sides of the first box between evaluations that tell of different places
_IN_REACH = 0.06  # further ones need not be found

Array = NDArray[np.float64]


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
        Outcomes and variances to fit, without gradients.
    """
    sign = 1.0 if maximize else -1.0
    # Both at once: on a device, a copy to the host is what costs.
    table = torch.cat([X / (bounds[1] - bounds[0]).to(X), Y.to(X.device)], dim=-1).detach()
    rows: Array = table.to("cpu", torch.double).numpy()
    values = sign * rows[:, -1:]
    with np.errstate(all="ignore"):  # whatever the caller has numpy do about overflow
        compressed, slope = _compress(values, _places(rows[:, :-1], values.ravel()))
    if compressed is values:
        return Y, Yvar
    nearer = torch.from_numpy(sign * compressed).to(Y)
    if Yvar is None:
        return nearer, None
    factor = torch.from_numpy(slope).to(Yvar)
    return nearer, Yvar * factor * factor  # not by the square, which may be zero


def _compress(values: Array, places: list[int]) -> tuple[Array, Array]:
    """Values of which large is good, the bad ones nearer, and what became of differences."""
    some = np.sort(values[places], axis=None)
    best, median = values.max(), some[(len(some) - 1) // 2]
    scale = best - median
    if not scale > SAME_DIGITS * max(abs(best), abs(median)):
        # a plateau: what the good half differs by is no unit to measure others in
        return values, np.ones_like(values)
    beyond = np.maximum(median - scale - values, 0.0)
    excess = beyond / scale
    # Of outcomes beyond floating point in units of the scale, too.
    log_excess = np.where(np.isinf(excess), np.log(beyond) - np.log(scale), np.log1p(excess))
    further = np.maximum(log_excess - LOG_ABSURD, 0.0)
    damping = MORE_ABSURD / (MORE_ABSURD + further)
    steps = np.minimum(log_excess, LOG_ABSURD) + further * damping
    compressed = np.where(excess > 0, median - scale * (1 + steps), values)
    return compressed, damping * damping / (1 + excess)


def _places(points: Array, values: Array) -> list[int]:
    """Indices of points such that every other is close to a better one of them."""
    worse = -values
    nearest, _ = cKDTree(points).query(points, k=[2], p=np.inf, distance_upper_bound=_IN_REACH)
    alone = nearest[:, 0] > ONE_PLACE  # most are, and need no comparison one by one
    chosen: list[int] = np.flatnonzero(alone).tolist()
    left = np.flatnonzero(~alone)
    left = left[worse[left].argsort(kind="stable")]
    while len(left):
        chosen.append(left[0])
        left = left[np.abs(points[left] - points[left[0]]).max(axis=-1) > ONE_PLACE]
    return chosen
