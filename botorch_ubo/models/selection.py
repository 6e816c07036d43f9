"""Which of many data a model is conditioned on.

An exact GP of ``n`` data costs ``n^3``. Of thousands, most lie where they tell nothing that others
do not: in places that are known to be bad, or on top of each other where a search has converged.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MAX_EXACT = 500
"""Data up to which a default model is conditioned on all of them; of more, on this many."""
_BEST = 0.5  # of those chosen: the ones with the best outcomes; the others fill the space


def data_that_matter(
    X: Tensor, Y: Tensor, bounds: Tensor, maximize: bool | None, count: int = MAX_EXACT
) -> Tensor:
    r"""Choose data: one half has the best outcomes, the other fills the space between them.

    The second half is chosen one by one, each the farthest from all before it (Gonzalez 1985), in
    sides of the first box.

    Args:
        X: ``n x d`` inputs.
        Y: ``n x 1`` outcomes.
        bounds: The first ``2 x d`` box.
        maximize: Whether large outcomes are good; ``None`` if neither is: all fill the space.
        count: How many to choose.

    Returns:
        Indices in increasing order; all of them if there are no more than ``count``.
    """
    n = len(X)
    if n <= count:
        return torch.arange(n, device=X.device)
    points = ((X - bounds[0]) / (bounds[1] - bounds[0])).detach().to("cpu", torch.double).numpy()
    values = Y.detach().to("cpu", torch.double).numpy().ravel()
    if maximize is None:
        chosen = [0]
    else:
        order = np.argsort(-values if maximize else values, kind="stable")
        chosen = order[: max(1, int(_BEST * count))].tolist()
    chosen += _farthest(points, chosen, count - len(chosen))
    return torch.tensor(sorted(chosen), device=X.device)


def _farthest(points: NDArray[np.float64], chosen: list[int], count: int) -> list[int]:
    """Indices of ``count`` more points, each the farthest from all that are chosen before."""
    distance = np.full(len(points), np.inf)
    for index in chosen:
        _shorten(distance, points, index)
    found: list[int] = []
    for _ in range(count):
        index = int(distance.argmax())
        found.append(index)
        _shorten(distance, points, index)
    return found


def _shorten(distance: NDArray[np.float64], points: NDArray[np.float64], index: int) -> None:
    away = points - points[index]
    np.minimum(distance, np.einsum("ij,ij->i", away, away), out=distance)
    distance[index] = -1.0  # even where others are at the same place
