"""``minimize_batch``: many searches of one vectorised function in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.run.arguments import as_count
from botorch_ubo.run.batched.result import BatchResult
from botorch_ubo.run.batched.runs import BatchedRuns

BatchCallback = Callable[[BatchedRuns], bool | None]


def minimize_batch(
    f: Callable[[Tensor], Tensor],
    bounds: Any,
    *,
    budget: int,
    seeds: int | Sequence[int],
    callback: BatchCallback | None = None,
    **options: Any,
) -> BatchResult:
    r"""Minimise a vectorised function in many independent runs at once.

    Args:
        f: From ``R x d`` points, one for each run, to ``R`` values; NaN for a failure. The points
            of runs that were stopped are NaN.
        bounds: One first box for all runs, or ``R x 2 x d``.
        budget: Evaluations of each run.
        seeds: ``R`` seeds, or ``R`` alone.
        callback: Called with the runs after every step; it may stop some
            (:meth:`BatchedRuns.stop`), or all by returning True.
        options: Of :class:`BatchedRuns`: ``method``, ``direction="maximize"``, ``hard_limits``,
            ``device``, ``dtype``, ``checkpoint`` and others.

    Returns:
        The results. With a ``checkpoint``, evaluations of earlier calls count.

    Example:
        >>> result = minimize_batch(simulate, [(-1, 1), (0, 3)], budget=40, seeds=range(100))
        >>> result.best_value.quantile(0.5)
    """
    budget = as_count(budget, "budget")
    runs = BatchedRuns(bounds, seeds, **options)
    reason = "the budget is used up"
    while True:
        spent = (runs.num_asked >= budget) & ~runs.pending & runs.active
        if bool(spent.any()):
            runs.stop(spent)
        if not bool(runs.active.any() | runs.pending.any()):
            break
        X = runs.ask()
        Y = f(X)
        if not isinstance(Y, Tensor) or Y.numel() != len(X):
            raise InputDataError(
                f"Expected the function to return a tensor of {len(X)} values for {len(X)} points; "
                f"got {tuple(Y.shape) if isinstance(Y, Tensor) else type(Y).__name__}."
            )
        runs.tell(Y.reshape(-1))
        if callback is not None and callback(runs):
            reason = "the callback said so"
            break
    return runs.results(reason)
