"""Evaluations on executors: which function a worker is given, and whether it can be ended."""

from __future__ import annotations

import uuid
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

from botorch.exceptions.errors import InputDataError

from botorch_ubo.run.arguments import InputType
from botorch_ubo.run.dask_tasks import evaluate_on_dask, is_dask
from botorch_ubo.run.evaluation import Objective, evaluate
from botorch_ubo.run.guard import evaluate_guarded
from botorch_ubo.run.trials import Trial

_LONGEST = 2_000_000  # milliseconds are an int in C


class Submission:
    """An executor, and what is sent to it."""

    def __init__(
        self,
        executor: Executor,
        f: Objective,
        input_type: InputType,
        timeout: float | None,
        num_workers: int | None,
    ) -> None:
        r"""An executor.

        Args:
            executor: Any executor of ``concurrent.futures``.
            f: The objective.
            input_type: What it is called with.
            timeout: Seconds per evaluation; :func:`check_timeout` has accepted it.
            num_workers: Evaluations under way at once; the size of the pool if ``None``.
        """
        self.executor, self.f, self.input_type, self.timeout = executor, f, input_type, timeout
        self.num_workers = _num_workers(executor, num_workers)
        self.session = uuid.uuid4().hex

    def submit(self, trial: Trial, attempt: int) -> Future[Any]:
        """Send a trial; attempts at the same are told apart."""
        if is_dask(self.executor):
            ticket = f"{self.session}-{trial.id}-{attempt}"
            return self.executor.submit(
                evaluate_on_dask, self.f, self.input_type, trial.X, ticket, self.timeout
            )
        # In a pool of processes an objective that dies would take the pool along.
        if self.timeout is not None or isinstance(self.executor, ProcessPoolExecutor):
            return self.executor.submit(
                evaluate_guarded, self.f, self.input_type, trial.X, self.timeout
            )
        return self.executor.submit(evaluate, self.f, self.input_type, trial.X)


def check_timeout(timeout: float | None, executor: Executor | None) -> float | None:
    """Refuse a timeout where an evaluation cannot be ended."""
    if timeout is None:
        return None
    try:
        seconds = float(timeout)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 < seconds <= _LONGEST or isinstance(timeout, bool):
        raise InputDataError(
            f"Expected `timeout` in seconds, above 0 and at most {_LONGEST:,} (23 days); got "
            f"{timeout!r}. Leave it out for none."
        )
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        where = "this thread" if executor is None else "a thread"
        raise InputDataError(
            f"Expected an `executor` of processes with `timeout`={timeout}; the objective would "
            f"run in {where}, which nothing can end from outside. Pass "
            "`concurrent.futures.ProcessPoolExecutor(1)`, or Dask's `Client(...).get_executor()`."
        )
    return seconds


def _num_workers(executor: Executor, num_workers: int | None) -> int:
    workers = getattr(executor, "_max_workers", None) if num_workers is None else num_workers
    if not isinstance(workers, int) or workers < 1:
        raise InputDataError(
            f"Expected `num_workers` >= 1 with a {type(executor).__name__}; got {workers}. Pass "
            "the number of evaluations to keep under way: not every executor tells its size."
        )
    return workers
