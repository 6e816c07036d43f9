r"""``minimize`` and ``maximize``: one call for people with a function and a guess."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from typing import Any

from botorch.exceptions.errors import InputDataError
from tqdm.auto import tqdm

from botorch_ubo.arguments import Bounds
from botorch_ubo.boxes import HardLimits
from botorch_ubo.evaluation import INPUT_TYPES, Callback, Loop, Objective
from botorch_ubo.methods import DEFAULT_METHOD
from botorch_ubo.optimizer import UnboundedOptimizer
from botorch_ubo.result import OptimizationResult


def minimize(
    f: Objective,
    bounds: Bounds,
    *,
    budget: int,
    epsilon: float | None = None,
    method: str = DEFAULT_METHOD,
    hard_limits: HardLimits = None,
    seed: int = 0,
    input_type: str = "floats",
    executor: Executor | None = None,
    num_workers: int | None = None,
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Any,
) -> OptimizationResult:
    r"""Minimise a function from a rough guess of where its minimum is.

    Args:
        f: The objective. It takes one point and returns a number, or a tuple of a number and the
            variance of its noise. An exception, NaN or an infinity is a failed evaluation.
        bounds: ``d`` pairs ``(lower, upper)``, or a ``2 x d`` tensor.
        budget: The number of evaluations, failed ones included; with a checkpoint, those of
            earlier sessions too.
        epsilon: If given, stop as soon as the box is certified exhausted to this accuracy, in
            standard deviations of the observed values, very bad ones brought nearer
            (:func:`botorch_ubo.models.temper`). That is a statement about the box, not about what
            is beyond it.
        method: A name of :func:`botorch_ubo.methods.available_methods`.
        hard_limits: Limits that no evaluation crosses: ``{dimension: (lower, upper)}``, with
            ``None`` for a side without.
        seed: Seed of all random choices.
        input_type: What ``f`` is called with: ``"floats"``, a list of ``d`` floats, or
            ``"tensor"``, a ``d``-dim double tensor.
        executor: Evaluate in parallel on any ``concurrent.futures.Executor``; new proposals go
            out as results come in. ``f`` must be picklable if it crosses a process boundary.
            ``Client(...).get_executor()`` of Dask reaches other machines.
        num_workers: Evaluations under way at once; the size of the executor's pool by default.
        callback: Called with the optimizer and each trial that has come back; ``True`` stops,
            after what is under way has come back.
        progress: Show a progress bar, in a terminal or a notebook, and each move of the box.
        checkpoint: A file to keep the run in and to resume it from.
        options: Further arguments of :class:`~botorch_ubo.optimizer.UnboundedOptimizer`:
            ``data``, ``num_initial``, ``max_growth``, ``on_expand`` and more.

    Returns:
        The result.

    Raises:
        NoResultError: If every evaluation failed.

    Example:
        >>> result = minimize(f, [(-1, 1), (0, 3)], budget=60, hard_limits={1: (0, None)})
        >>> print(result)
    """
    return _run(
        f,
        bounds,
        budget,
        input_type,
        executor,
        num_workers,
        callback,
        progress,
        stop_at=epsilon,
        direction="minimize",
        method=method,
        hard_limits=hard_limits,
        seed=seed,
        checkpoint=checkpoint,
        **options,
    )


def maximize(
    f: Objective,
    bounds: Bounds,
    *,
    budget: int,
    epsilon: float | None = None,
    method: str = DEFAULT_METHOD,
    hard_limits: HardLimits = None,
    seed: int = 0,
    input_type: str = "floats",
    executor: Executor | None = None,
    num_workers: int | None = None,
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Any,
) -> OptimizationResult:
    """Maximise a function in its own sign; see :func:`minimize` for the arguments."""
    return _run(
        f,
        bounds,
        budget,
        input_type,
        executor,
        num_workers,
        callback,
        progress,
        stop_at=epsilon,
        direction="maximize",
        method=method,
        hard_limits=hard_limits,
        seed=seed,
        checkpoint=checkpoint,
        **options,
    )


def _run(
    f: Objective,
    bounds: Bounds,
    budget: int,
    input_type: str,
    executor: Executor | None,
    num_workers: int | None,
    callback: Callback | None,
    progress: bool,
    stop_at: float | None,
    **options: Any,
) -> OptimizationResult:
    if budget < 1:
        raise InputDataError(f"Expected `budget` >= 1; got {budget}.")
    if input_type not in INPUT_TYPES:
        raise InputDataError(f"Expected `input_type` to be one of {INPUT_TYPES}; got {input_type}.")
    if executor is None and num_workers is not None:
        raise InputDataError(
            f"Expected an `executor` with `num_workers`={num_workers}; got none. Pass, say, "
            "`concurrent.futures.ThreadPoolExecutor()`."
        )
    workers = None if executor is None else _num_workers(executor, num_workers)
    if stop_at is not None:
        options["epsilon"] = stop_at
    optimizer = UnboundedOptimizer(bounds, **options)
    with tqdm(total=budget, disable=not progress, desc=optimizer.direction) as bar:
        loop = Loop(optimizer, f, input_type, budget, stop_at is not None, callback, bar)
        if executor is None or workers is None:
            reason = loop.run()
        else:
            reason = loop.run_on(executor, workers)
    return optimizer.result(reason)


def _num_workers(executor: Executor, num_workers: int | None) -> int:
    workers = getattr(executor, "_max_workers", None) if num_workers is None else num_workers
    if not isinstance(workers, int) or workers < 1:
        raise InputDataError(
            f"Expected `num_workers` >= 1 with a {type(executor).__name__}; got {workers}. Pass "
            "the number of evaluations to keep under way: not every executor tells its size."
        )
    return workers
