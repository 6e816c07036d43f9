r"""``minimize`` and ``maximize``: one call for people with a function and a guess."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor
from tqdm.auto import tqdm

from botorch_ubo.optimizer import Bounds, UnboundedOptimizer
from botorch_ubo.result import OptimizationResult
from botorch_ubo.trials import Trial

logger = logging.getLogger("botorch_ubo")

Objective = Callable[[Any], Any]
Callback = Callable[[UnboundedOptimizer, Trial], "bool | None"]


def minimize(
    f: Objective,
    bounds: Bounds,
    *,
    budget: int,
    epsilon: float | None = None,
    input_type: str = "floats",
    executor: Executor | None = None,
    num_workers: int | None = None,
    callback: Callback | None = None,
    progress: bool = False,
    **options: Any,
) -> OptimizationResult:
    r"""Minimise a function from a rough guess of where its minimum is.

    Args:
        f: The objective. It takes one point and returns a number, or a number and the variance of
            its noise. An exception, NaN or an infinity is a failed evaluation.
        bounds: ``d`` pairs ``(lower, upper)``, or a ``2 x d`` tensor.
        budget: The number of evaluations, failed ones included; with a checkpoint, those of
            earlier sessions too.
        epsilon: If given, stop as soon as a box is certified exhausted to this accuracy, in
            standard deviations of the observed values.
        input_type: What ``f`` is called with: ``"floats"``, a list of ``d`` floats, or
            ``"tensor"``, a ``d``-dim double tensor.
        executor: Evaluate in parallel on any ``concurrent.futures.Executor``; new proposals go
            out as results come in. ``f`` must be picklable if it crosses a process boundary.
        num_workers: Evaluations under way at once; that of the executor's pool by default.
        callback: Called with the optimizer and each trial that has come back; ``True`` stops.
        progress: Show a progress bar.
        options: Arguments of :class:`~botorch_ubo.optimizer.UnboundedOptimizer`: ``method``,
            ``hard_limits``, ``seed``, ``checkpoint``, ``on_expand`` and more.

    Returns:
        The result.

    Example:
        >>> result = minimize(f, [(-1, 1), (0, 3)], budget=60, hard_limits={1: (0, None)})
        >>> print(result)
    """
    return _run(f, bounds, "minimize", budget, epsilon, input_type, executor, num_workers,
                callback, progress, options)  # fmt: skip


def maximize(
    f: Objective,
    bounds: Bounds,
    *,
    budget: int,
    epsilon: float | None = None,
    input_type: str = "floats",
    executor: Executor | None = None,
    num_workers: int | None = None,
    callback: Callback | None = None,
    progress: bool = False,
    **options: Any,
) -> OptimizationResult:
    """Maximise a function from a rough guess; see :func:`minimize` for the arguments."""
    return _run(f, bounds, "maximize", budget, epsilon, input_type, executor, num_workers,
                callback, progress, options)  # fmt: skip


def _run(
    f: Objective,
    bounds: Bounds,
    direction: str,
    budget: int,
    epsilon: float | None,
    input_type: str,
    executor: Executor | None,
    num_workers: int | None,
    callback: Callback | None,
    progress: bool,
    options: dict[str, Any],
) -> OptimizationResult:
    if budget < 1:
        raise InputDataError(f"Expected `budget` >= 1; got {budget}.")
    if input_type not in ("floats", "tensor"):
        raise InputDataError(
            f"Expected `input_type` to be 'floats' or 'tensor'; got {input_type!r}."
        )
    if epsilon is not None:
        options = {**options, "epsilon": epsilon}
    optimizer = UnboundedOptimizer(bounds, direction=direction, **options)
    with tqdm(total=budget, disable=not progress, desc=direction) as bar:
        loop = _Loop(optimizer, f, input_type, budget, epsilon is not None, callback, bar)
        reason = loop.run_serial() if executor is None else loop.run_parallel(executor, num_workers)
    return optimizer.result(reason)


class _Loop:
    """Ask, evaluate, tell, until something says stop."""

    def __init__(
        self,
        optimizer: UnboundedOptimizer,
        f: Objective,
        input_type: str,
        budget: int,
        stop_when_certified: bool,
        callback: Callback | None,
        bar: Any,
    ) -> None:
        self.optimizer = optimizer
        self.f, self.input_type, self.budget = f, input_type, budget
        self.stop_when_certified = stop_when_certified
        self.callback, self.bar = callback, bar
        self.stopped = ""
        self.shown = len(optimizer.box.history)
        bar.update(self._finished())

    def run_serial(self) -> str:
        todo = list(self.optimizer.pending)  # of an interrupted run
        while not self.stopped and (todo or self._room()):
            trial = todo.pop(0) if todo else self.optimizer.ask()
            self._show_expansions()
            try:
                outcome = _evaluate(self.f, self.input_type, trial.X)
            except Exception as error:
                self._lost(trial, error)
            else:
                self._came(trial, outcome)
        return self.stopped or "the budget was used up"

    def run_parallel(self, executor: Executor, num_workers: int | None) -> str:
        workers = num_workers or getattr(executor, "_max_workers", None)
        if workers is None:
            raise InputDataError(
                f"Expected `num_workers` with a {type(executor).__name__}, which does not tell its "
                "size. Pass the number of evaluations to keep under way."
            )
        running: dict[Future[Any], Trial] = {}
        todo = list(self.optimizer.pending)
        try:
            while not self.stopped and (running or todo or self._room()):
                while len(running) < workers and (todo or self._room()):
                    trial = todo.pop(0) if todo else self.optimizer.ask()
                    running[executor.submit(_evaluate, self.f, self.input_type, trial.X)] = trial
                self._show_expansions()
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    self._collect(future, running.pop(future))
        finally:
            for future in running:  # they stay pending: a resumed run evaluates them
                future.cancel()
        return self.stopped or "the budget was used up"

    def _collect(self, future: Future[Any], trial: Trial) -> None:
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            raise error  # the pool died, not the objective: the trial stays pending
        if error is not None:
            self._lost(trial, error)
        else:
            self._came(trial, future.result())

    def _came(self, trial: Trial, outcome: tuple[float, float | None]) -> None:
        self._after(self.optimizer.tell(trial, *outcome))

    def _lost(self, trial: Trial, error: BaseException) -> None:
        self._after(self.optimizer.tell_failed(trial, f"{type(error).__name__}: {error}"))

    def _after(self, trial: Trial) -> None:
        if trial.status == "failed":
            logger.warning("trial %d failed: %s", trial.id, trial.reason)
        self.bar.update(1)
        values = [done.value for done in self.optimizer.completed if done.value is not None]
        if values:
            best = max(values) if self.optimizer.direction == "maximize" else min(values)
            self.bar.set_postfix(best=f"{best:.6g}")
        if self.callback is not None and self.callback(self.optimizer, trial) is True:
            self.stopped = "the callback said so"
        if self.stop_when_certified and self.optimizer.box.certificate is not None:
            self.stopped = "a box is exhausted to the accuracy epsilon"

    def _show_expansions(self) -> None:
        history = self.optimizer.box.history
        for record in history[self.shown :] if not self.bar.disable else ():
            self.bar.write(str(record))
        self.shown = len(history)

    def _finished(self) -> int:
        return len(self.optimizer.completed) + len(self.optimizer.failed)

    def _room(self) -> bool:
        return len(self.optimizer.trials) < self.budget


def _evaluate(f: Objective, input_type: str, X: Sequence[float]) -> tuple[float, float | None]:
    """Call an objective; at module level, so that it can be sent to another process."""
    point = torch.tensor(X, dtype=torch.double) if input_type == "tensor" else list(X)
    outcome = f(point)
    if isinstance(outcome, tuple):
        value, variance = outcome
        return _number(value), _number(variance)
    return _number(outcome), None


def _number(outcome: Any) -> float:
    if isinstance(outcome, Tensor) and outcome.numel() != 1:
        raise InputDataError(f"Expected one number; got a tensor of shape {tuple(outcome.shape)}.")
    return float(outcome)
