"""What a run tells about the user's box, in words."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from botorch_ubo.boxes import contains, hull
from botorch_ubo.records import Side

_NEAR = 0.01  # of a side of the first box: closer than this counts as being at a face
_LATE = 0.8  # of the evaluations: a best point found after this, further out, is still on its way


def advise(
    X: Tensor,
    best: int,
    initial_bounds: Tensor,
    bounds: Tensor,
    limits: Tensor,
    held: Collection[Side] = (),
) -> str:
    r"""Say in words what the run tells about the box.

    Args:
        X: ``n x d`` evaluations in the order in which they came in.
        best: Index of the best.
        initial_bounds: The user's ``2 x d`` box.
        bounds: The last ``2 x d`` box.
        limits: ``2 x d`` hard limits, infinite on free sides.
        held: Sides beyond which evaluations keep failing.

    Returns:
        One or more sentences.
    """
    point = X[best]
    near = _NEAR * (initial_bounds[1] - initial_bounds[0])
    at_limit = [
        f"stopped by the hard limit on dimension {dim}, {name} side: relax it if it is not physical"
        for row, name in enumerate(("lower", "upper"))
        for dim in ((point - limits[row]).abs() <= near).nonzero().flatten().tolist()
    ]
    failing = [
        f"held back by failed evaluations on dimension {dim}, {name} side" for dim, name in held
    ]
    outside = ((point < initial_bounds[0]) | (point > initial_bounds[1])).nonzero().flatten()
    at_edge = bool(((point - bounds).abs() <= near).any()) and not at_limit
    if outside.numel():
        where = "your box was too small: the best point lies outside it in dimension(s) "
        sentences = [where + f"{outside.tolist()}", *at_limit]
        if at_edge or _on_its_way(X, best, initial_bounds):
            sentences.append("still expanding when the budget ended: more evaluations may pay")
    elif at_limit:
        sentences = at_limit
    elif at_edge:
        sentences = ["the best point lies on the edge of your box: let the box grow"]
    elif torch.equal(bounds, initial_bounds) and contains(initial_bounds, X).all():
        sentences = ["the best point lies inside your box, but nothing beyond it was searched"]
    else:
        sentences = ["your box was enough: the best point lies in it"]
    return "; ".join([*sentences, *failing])


def _on_its_way(X: Tensor, best: int, initial_bounds: Tensor) -> bool:
    """Whether the best point came late, and from beyond all that had been evaluated before."""
    early = int(_LATE * len(X))
    return best >= early and not bool(contains(hull(initial_bounds, X[:early]), X[best]))
