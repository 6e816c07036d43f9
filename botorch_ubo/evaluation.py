"""Ask, evaluate, tell, until something says stop: in this process, or on an executor."""

from __future__ import annotations

import logging
import math
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any

import numpy as np
import torch
from botorch.exceptions.errors import BotorchError, InputDataError

from botorch_ubo.optimizer import UnboundedOptimizer
from botorch_ubo.trials import FAILED, Trial, as_number

logger = logging.getLogger("botorch_ubo")

Objective = Callable[[Any], Any]
Callback = Callable[[UnboundedOptimizer, Trial], "bool | None"]
INPUT_TYPES = ("floats", "tensor")


class EvaluationError(BotorchError):
    """What an objective raised, as text: the exception itself may not survive being sent."""


def evaluate(
    f: Objective, input_type: str, X: Sequence[float], ticket: str = ""
) -> tuple[float, float | None]:
    r"""Call an objective; at module level, so that it can be sent to another process.

    Args:
        f: The objective.
        input_type: ``"floats"`` or ``"tensor"``.
        X: The point.
        ticket: Different for each evaluation: Dask takes equal calls for one and the same.

    Returns:
        The value and the variance of its noise, if the objective told one.

    Raises:
        EvaluationError: If the objective raised, or returned something that is not a number.
    """
    point = torch.tensor(X, dtype=torch.double) if input_type == "tensor" else list(X)
    try:
        outcome = f(point)
        if not isinstance(outcome, tuple):
            return as_number(outcome, "the value"), None
        value, variance = outcome
        noise = as_number(variance, "the variance")
        if not 0 <= noise < math.inf:
            raise InputDataError(f"Expected a finite variance >= 0; got {noise}.")
        return as_number(value, "the value"), noise
    except Exception as error:
        raise EvaluationError(f"{type(error).__name__}: {error}") from error


class Loop:
    """One run from its first trial, or from where it was interrupted, to its end."""

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
        r"""One run.

        Args:
            optimizer: Proposes and remembers.
            f: The objective.
            input_type: What it is called with.
            budget: Trials to ask for, those of earlier sessions included.
            stop_when_certified: Whether to stop when the box is exhausted.
            callback: Called after each trial; ``True`` stops.
            bar: A progress bar of tqdm.
        """
        self.optimizer, self.budget = optimizer, budget
        self.f, self.input_type = f, input_type
        self.stop_when_certified, self.callback, self.bar = stop_when_certified, callback, bar
        self.todo = [trial for trial in optimizer.pending if trial.asked]  # of an interrupted run
        self.stopped = ""
        self.shown = len(optimizer.box.history)
        self.judged = -1
        bar.update(self._num_asked() - len(self.todo))

    def run(self) -> str:
        """Evaluate one trial after another; returns why it ended."""
        while (trial := self._next()) is not None:
            try:
                outcome = evaluate(self.f, self.input_type, trial.X)
            except EvaluationError as error:
                self._fail(trial, error)
            else:
                self._complete(trial, outcome)
        return self.stopped or "the budget was used up"

    def run_on(self, executor: Executor, num_workers: int) -> str:
        """Keep so many evaluations under way on an executor; returns why it ended."""
        running: dict[Future[Any], Trial] = {}
        session = uuid.uuid4().hex
        try:
            while True:
                # Results first: a proposal made without them would waste them.
                done = sorted(
                    (trial.id, future) for future, trial in running.items() if future.done()
                )
                for _, future in done:
                    self._collect(future, running)
                if done:
                    continue
                trial = self._next() if len(running) < num_workers else None
                if trial is not None:
                    ticket = f"{session}-{trial.id}"
                    task = executor.submit(evaluate, self.f, self.input_type, trial.X, ticket)
                    running[task] = trial
                elif running:
                    wait(running, return_when=FIRST_COMPLETED)
                else:
                    return self.stopped or "the budget was used up"
        except BaseException:
            self._salvage(running)
            raise

    def _next(self) -> Trial | None:
        """The next trial to evaluate, unless there is a reason to stop."""
        if not self.stopped and self.todo:
            return self.todo.pop(0)
        if not self.stopped and self._num_asked() < self.budget and not self._certified():
            trial = self.optimizer.ask()
            history = self.optimizer.box.history
            for record in history[self.shown :]:
                if record.notable and not self.bar.disable:
                    self.bar.write(str(record))
            self.shown = len(history)
            return trial
        return None

    def _certified(self) -> bool:
        """Whether the box is exhausted; asked once per new result."""
        count = len(self.optimizer.completed)
        if self.stop_when_certified and self.judged != count:
            self.judged = count
            known = self.optimizer.box.certificate or self.optimizer.certify()
            if known is not None:
                self.stopped = "a box is exhausted to the accuracy epsilon"
        return bool(self.stopped)

    def _collect(self, future: Future[Any], running: dict[Future[Any], Trial]) -> None:
        """Take a future's outcome to the optimizer; what is not the objective's fault is raised."""
        error = future.exception()  # raises if cancelled, and the trial stays pending
        trial = running[future]
        if error is None:
            outcome = future.result()
            del running[future]
            self._complete(trial, outcome)
        elif isinstance(error, EvaluationError) or _killed_its_workers(error):
            del running[future]
            self._fail(trial, error)
        else:
            error.add_note(
                f"This is not an error of the objective: trial {trial.id} stays pending, and a run "
                "with a checkpoint can be resumed."
            )
            raise error

    def _salvage(self, running: dict[Future[Any], Trial]) -> None:
        """Before an exception ends the run, take in what has come back; the rest stays pending."""
        for future, trial in running.items():
            if future.cancel() or not future.done() or future.exception() is not None:
                continue
            try:
                self.optimizer.tell(trial, *future.result())
            except Exception:  # the exception that ends the run is the one to see
                logger.exception("the result of trial %d could not be kept", trial.id)

    def _complete(self, trial: Trial, outcome: tuple[float, float | None]) -> None:
        self._after(self.optimizer.tell(trial, *outcome))

    def _fail(self, trial: Trial, error: BaseException) -> None:
        logger.debug("trial %d raised", trial.id, exc_info=error)
        reason = str(error) if isinstance(error, EvaluationError) else repr(error)
        self._after(self.optimizer.tell_failed(trial, reason))

    def _after(self, trial: Trial) -> None:
        if trial.status == FAILED:
            logger.warning("trial %d failed: %s", trial.id, trial.reason)
        self.bar.update(1)
        values = [done.value for done in self.optimizer.completed if done.value is not None]
        if values:
            best = max(values) if self.optimizer.direction == "maximize" else min(values)
            self.bar.set_postfix(best=f"{best:.6g}")
        answer = None if self.callback is None else self.callback(self.optimizer, trial)
        if isinstance(answer, bool | np.bool_) and answer:
            self.stopped = self.stopped or "the callback said so"

    def _num_asked(self) -> int:
        return sum(trial.asked for trial in self.optimizer.trials)


def _killed_its_workers(error: BaseException) -> bool:
    """Whether Dask gave a task up after several workers had died of it."""
    return any(kind.__name__ == "KilledWorker" for kind in type(error).__mro__)
