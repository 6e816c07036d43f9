"""Which of many data a model is conditioned on.

An exact GP of ``n`` data costs ``n^3``. Of thousands, most lie in places that are known to be bad,
and a search for the best does not come back to them. To keep some of those as well, spread over the
space, was worse in the runs that were compared (60 of 150 data, five functions).
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MAX_EXACT = 500
"""Data up to which a default model is conditioned on all of them; of more, on this many."""


def data_that_matter(
    X: Tensor, Y: Tensor, bounds: Tensor, maximize: bool | None, count: int = MAX_EXACT
) -> Tensor:
    r"""Choose the data with the best outcomes, of equal ones the newest.

    Where no outcome is better than another, as of a constraint, they are chosen one by one, each
    the farthest from all before it in sides of the first box (Gonzalez 1985).

    Args:
        X: ``n x d`` inputs.
        Y: ``n x 1`` outcomes.
        bounds: The first ``2 x d`` box.
        maximize: Whether large outcomes are good; ``None`` if neither is.
        count: How many to choose.

    Returns:
        Indices in increasing order; all of them if there are no more than ``count``.
    """
    n = len(X)
    if n <= count:
        return torch.arange(n, device=X.device)
    if maximize is None:
        points = (X - bounds[0]) / (bounds[1] - bounds[0])
        chosen = _farthest(points.detach().to("cpu", torch.double).numpy(), count)
    else:
        values = Y.detach().to("cpu", torch.double).numpy().ravel()
        order = np.lexsort((np.arange(n), values if maximize else -values))
        chosen = order[-count:].tolist()
    return torch.tensor(sorted(chosen), device=X.device)


def _farthest(points: NDArray[np.float64], count: int) -> list[int]:
    """Indices of ``count`` points, each the farthest from all that are chosen before."""
    distance = np.full(len(points), np.inf)
    found: list[int] = []
    for _ in range(count):
        index = int(distance.argmax())
        found.append(index)
        away = points - points[index]
        np.minimum(distance, np.einsum("ij,ij->i", away, away), out=distance)
        distance[index] = -1.0  # even where others are at the same place
    return found
