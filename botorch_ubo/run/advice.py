"""What a run tells about the user's box, in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from botorch_ubo.boxes import contains, hull
from botorch_ubo.policies.evidence import why_blind
from botorch_ubo.policies.view import ModelView
from botorch_ubo.records import Side
from botorch_ubo.records.display import format_point
from botorch_ubo.run.trials import Trial
from botorch_ubo.spaces import Space

_NEAR = 0.01  # of a side of the first box: closer than this counts as being at a face
_ROUNDING = 1e-12  # of the largest value
_ENOUGH_PER_DIM = 10  # evaluations: fewer are no ground to speak of noise
_LATE = 0.8  # of the evaluations: a best point found after this, further out, is still on its way


def advise(
    X: Tensor,
    best: int,
    initial_bounds: Tensor,
    bounds: Tensor,
    limits: Tensor,
    held: Collection[Side] = (),
    space: Space | None = None,
) -> str:
    r"""Say in words what the run tells about the box.

    Args:
        X: ``n x d`` evaluations in the order in which they came in.
        best: Index of the best.
        initial_bounds: The user's ``2 x d`` box.
        bounds: The last ``2 x d`` box.
        limits: ``2 x d`` hard limits, infinite on free sides.
        held: Sides beyond which evaluations keep failing.
        space: Parameters whose coordinates the dimensions are, if they have names.

    Returns:
        One or more sentences.
    """
    point = X[best]
    names = [f"dimension {i}" for i in range(len(point))] if space is None else list(space.names)
    # Of listed values there are no more, and an end of the list is a value like others.
    listed = () if space is None else space.listed
    near = _NEAR * (initial_bounds[1] - initial_bounds[0])
    at_limit = [
        f"stopped by the hard limit on {names[dim]}, {name} side: relax it if it is not physical"
        for row, name in enumerate(("lower", "upper"))
        for dim in ((point - limits[row]).abs() <= near).nonzero().flatten().tolist()
        if dim not in listed
    ]
    failing = [
        f"held back by failed evaluations on {names[dim]}, {name} side"
        for dim, name in held
        if dim not in listed
    ]
    outside = ((point < initial_bounds[0]) | (point > initial_bounds[1])).nonzero().flatten()
    inner = [i for i in range(len(point)) if i not in listed]
    at_edge = bool(((point - bounds).abs() <= near)[:, inner].any()) and not at_limit
    if outside.numel():
        sentences = [_outside(outside.tolist(), space), *at_limit]
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


def _outside(dims: list[int], space: Space | None) -> str:
    where = "your box was too small: the best point lies outside it in "
    if space is None:
        return f"{where}dimension(s) {dims}"
    return where + ", ".join(space.names[dim] for dim in dims)


def is_flat(Y: Tensor) -> bool:
    """Whether several values (``n x 1``) differ by no more than rounding."""
    return len(Y) > 1 and bool(Y.max() - Y.min() <= _ROUNDING * Y.abs().max())


def advise_flat(Y: Tensor) -> str:
    """What equal values tell: nothing about where the optimum is."""
    return (
        f"the objective is flat: all {len(Y)} values are {float(Y[0]):.6g}, and nothing tells "
        "where to search. Does it depend on its inputs? If so, begin with a box in which it varies"
    )


def may_be_noise(view: ModelView) -> bool:
    r"""Whether enough evaluations show nothing that independent noise would not show as well.

    Args:
        view: A model of all of them.

    Returns:
        Whether that is so; of fewer than ten to a dimension, never.
    """
    n, d = view.X_raw.shape
    return n >= _ENOUGH_PER_DIM * d and why_blind(view) is not None


def advise_noise(Y: Tensor) -> str:
    """What values tell that may be noise alone: nothing about where the optimum is either."""
    return (
        f"the objective is flat as far as {len(Y)} evaluations can tell: their differences may be "
        "nothing but noise. Average several evaluations of a point, or begin with a box in which "
        "the objective varies by more"
    )


def describe_failures(failed: Sequence[Trial], most: int = 3) -> str:
    """Kinds of failures with their counts and an example of each, the most frequent first."""
    kinds: dict[str, list[Trial]] = {}
    for trial in failed:
        kinds.setdefault(failure_kind(trial.reason), []).append(trial)
    order = sorted(kinds.items(), key=lambda item: -len(item[1]))
    told = [
        f"{len(trials)} x {kind} (trial {trials[0].id}, at {_where(trials[0])}"
        + (f": {_shorten(trials[0].reason)})" if trials[0].reason != kind else ")")
        for kind, trials in order[:most]
    ]
    more = len(order) - most
    return "; ".join([*told, *([f"and {more} other kinds"] if more > 0 else [])])


def _where(trial: Trial) -> str:
    """A point, in names if there are any."""
    if trial.params is None:
        return format_point(trial.X, 4)
    values = ((name, f"{x:.4g}" if isinstance(x, float) else x) for name, x in trial.params.items())
    return ", ".join(f"{name} = {value}" for name, value in values)


def failure_kind(reason: str) -> str:
    """``ValueError`` of ``ValueError: too far``; a reason in other words is its own kind."""
    name, colon, _ = reason.partition(": ")
    return name if colon and name.isidentifier() else _shorten(reason)


def _shorten(text: str, most: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most] + " ..."


def _on_its_way(X: Tensor, best: int, initial_bounds: Tensor) -> bool:
    """Whether the best point came late, and from beyond all that had been evaluated before."""
    early = int(_LATE * len(X))
    return best >= early > 0 and not bool(contains(hull(initial_bounds, X[:early]), X[best]))
