"""Ask, evaluate, tell, until something says stop: in this process, or on an executor."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

import numpy as np
from botorch.exceptions.errors import InputDataError
from botorch.exceptions.warnings import BotorchWarning

from botorch_ubo.acquisition.search import SpaceExhaustedError
from botorch_ubo.run.arguments import InputType
from botorch_ubo.run.claims import MOST_DEATHS
from botorch_ubo.run.evaluation import (
    EvaluationError,
    Objective,
    ObjectiveWarning,
    Outcome,
    WorkerDiedError,
    evaluate,
    full_name,
)
from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.owner import end_work, start_work
from botorch_ubo.run.progress import Progress
from botorch_ubo.run.submission import Submission
from botorch_ubo.run.trials import FAILED, Trial, as_text

logger = logging.getLogger("botorch_ubo")

Callback = Callable[[UnboundedOptimizer, Trial], "bool | None"]
Catch = tuple[type[BaseException], ...]


class Loop:
    """One run from its first trial, or from where it was interrupted, to its end."""

    def __init__(
        self,
        optimizer: UnboundedOptimizer,
        budget: int,
        stop_when_certified: bool,
        callback: Callback | None,
        catch: Catch,
        progress: Progress,
        take_over: bool = False,
    ) -> None:
        r"""One run.

        Args:
            optimizer: Proposes and remembers.
            budget: Trials to ask for, those of earlier sessions and other processes included.
            stop_when_certified: Whether to stop when the box is exhausted.
            callback: Called after each trial; ``True`` stops.
            catch: Exceptions that are failed evaluations even if the very first raises them.
            progress: What is shown on the way.
            take_over: Whether to evaluate pending trials of processes on other machines.
        """
        self.optimizer, self.budget = optimizer, budget
        self.stop_when_certified, self.callback = stop_when_certified, callback
        self.catch, self.progress = [full_name(kind) for kind in catch], progress
        self.stopped = ""
        self.judged = -1
        self.warned = False
        self.back: list[tuple[Trial, Outcome | None, BaseException | None]] = []
        journal = optimizer.journal
        self.todo = journal.adopt(take_over)  # of an interrupted run
        start_work(journal.owner)
        left = len(journal.elsewhere())
        if left:
            warnings.warn(
                f"{left} pending trial(s) are in the hands of processes on other machines, and are "
                "left to them. If those are gone, pass `take_over=True`.",
                BotorchWarning,
                stacklevel=4,
            )
        progress.start(optimizer, len(self.todo))

    def run(self, f: Objective, input_type: InputType) -> str:
        """Evaluate one trial after another; returns why it ended."""
        while (trial := self._next()) is not None:
            try:
                outcome = evaluate(f, input_type, trial.X)
            except EvaluationError as error:
                self._fail(trial, error)
            else:
                self._complete(trial, outcome)
        return self.stopped or "the budget was used up"

    def run_on(self, submission: Submission) -> str:
        """Keep so many evaluations under way on an executor; returns why it ended."""
        running: dict[Future[Any], Trial] = {}
        try:
            while True:
                # Results first: a proposal made without them would waste them.
                self._take_results(running)
                if self.back:
                    self._collect(*self.back.pop(0))
                    continue
                trial = self._next() if self._has_room(running, submission) else None
                if trial is not None:
                    running[submission.submit(trial, self._deaths(trial))] = trial
                elif running:
                    wait(running, return_when=FIRST_COMPLETED)
                else:
                    return self.stopped or "the budget was used up"
        except BaseException:
            self._salvage(running)
            raise

    def close(self) -> None:
        """Leave trials that are still pending to whoever resumes the run."""
        journal = self.optimizer.journal
        end_work(journal.owner)
        try:
            journal.release()
        except Exception:  # the file says whose they are, and that process will be gone
            logger.exception("pending trials could not be released")

    def _has_room(self, running: dict[Future[Any], Trial], submission: Submission) -> bool:
        """Whether to send one more; a trial that a worker has died of runs alone."""
        if any(self._deaths(trial) for trial in running.values()):
            return False
        alone = bool(self.todo) and self._deaths(self.todo[0]) > 0
        return not running if alone else len(running) < submission.num_workers

    def _deaths(self, trial: Trial) -> int:
        return self.optimizer.journal.claims.deaths.get(trial.id, 0)

    def _next(self) -> Trial | None:
        """The next trial to evaluate, unless there is a reason to stop."""
        while not self.stopped and self.todo:
            trial = self.todo.pop(0)
            if self._deaths(trial) < MOST_DEATHS:
                return trial
            self._after(self.optimizer.tell_failed(trial, _died(self._deaths(trial))))
        if self.stopped or self._certified():
            return None
        try:
            new = self.optimizer.ask_within(self.budget)
        except SpaceExhaustedError:
            self.stopped = "all points of the space are known"
            return None
        if new is not None:
            self.progress.asked(self.optimizer)
        return new

    def _certified(self) -> bool:
        """Whether the box is exhausted; asked once per new result."""
        count = len(self.optimizer.completed)
        if self.stop_when_certified and self.judged != count:
            self.judged = count
            known = self.optimizer.box.certificate or self.optimizer.certify()
            if known is not None:
                self.stopped = "a box is exhausted to the accuracy epsilon"
        return bool(self.stopped)

    def _take_results(self, running: dict[Future[Any], Trial]) -> None:
        """Note what has come back, and let go of the futures at once, before anything else.

        Dask keeps a result on its worker as long as there is a future, and computes it again if
        that worker dies.
        """
        for future in [future for future in running if future.done()]:
            error = future.exception()  # raises if cancelled, and the trial stays pending
            outcome = future.result() if error is None else None
            self.back.append((running.pop(future), outcome, error))
        self.back.sort(key=lambda item: item[0].id)

    def _collect(self, trial: Trial, outcome: Outcome | None, error: BaseException | None) -> None:
        """Take an outcome to the optimizer; what is not the objective's fault is raised."""
        if outcome is not None:
            self._complete(trial, outcome)
        elif isinstance(error, EvaluationError):
            self._fail(trial, error, remote=True)
        elif error is not None and _is_death(error):
            self._bury(trial, error)
        elif error is not None:
            error.add_note(
                f"This is not an error of the objective: trial {trial.id} stays pending, and a run "
                "with a checkpoint can be resumed."
            )
            raise error

    def _bury(self, trial: Trial, error: BaseException) -> None:
        """A worker died of a trial: try it once more, alone, or give it up."""
        logger.warning("trial %d: %s", trial.id, error)
        times = getattr(error, "times", MOST_DEATHS)  # Dask has tried again by itself
        for _ in range(times):
            self.optimizer.journal.died(trial, as_text(error))
        deaths = self._deaths(trial)
        if deaths < MOST_DEATHS:
            self.todo.insert(0, trial)
        else:
            reason = f"{_died(deaths)}; the last time {as_text(error)}"
            self._after(self.optimizer.tell_failed(trial, reason))

    def _salvage(self, running: dict[Future[Any], Trial]) -> None:
        """Before an exception ends the run, take in what has come back; the rest stays pending."""
        for future, trial in running.items():
            if not future.cancel() and future.done() and future.exception() is None:
                self.back.append((trial, future.result(), None))
        for trial, outcome, _ in self.back:
            try:
                if outcome is not None:
                    self.optimizer.tell(trial, *outcome)
            except Exception:  # the exception that ends the run is the one to see
                logger.exception("the result %s of trial %d could not be kept", outcome, trial.id)

    def _complete(self, trial: Trial, outcome: Outcome) -> None:
        try:
            told = self.optimizer.tell(trial, *outcome)
        except InputDataError as error:  # a variance with some results and not with others, say
            reason = f"InputDataError: the objective returned {outcome[0]}. {error}"
            told = self.optimizer.tell_failed(trial, reason)
        self._after(told)

    def _fail(self, trial: Trial, error: EvaluationError, remote: bool = False) -> None:
        first = not self.optimizer.completed and not self.optimizer.failed
        caught = any(kind in self.catch for kind in error.kinds)
        if error.is_bug and first and not caught:
            error.add_note(
                f"The first evaluation, at {trial.point}, ended so; this looks like a mistake in "
                "the objective, and the run stops before it spends the budget on it. The trial "
                "stays pending. If it is a failed evaluation, pass "
                f"`catch={error.reason.split(':')[0]}`."
            )
            error.add_note(error.trace)
            raise error
        if error.trace and not self.warned:
            self.warned = True
            warnings.warn(
                f"The objective raised an exception in trial {trial.id}, at {trial.point}: a "
                "failed evaluation. Further ones are counted in the result and not shown.\n"
                f"{error.trace}",
                ObjectiveWarning,
                stacklevel=6 if remote else 5,  # the caller of `minimize`
            )
        self._after(self.optimizer.tell_failed(trial, str(error)))

    def _after(self, trial: Trial) -> None:
        if trial.status == FAILED:
            logger.warning("trial %d failed: %s", trial.id, trial.reason)
        self.progress.told(self.optimizer)
        answer = None if self.callback is None else self.callback(self.optimizer, trial)
        if isinstance(answer, bool | np.bool_) and answer:
            self.stopped = self.stopped or "the callback said so"


def _died(times: int) -> str:
    return f"its worker died, {times} times"


def _is_death(error: BaseException) -> bool:
    """Whether a worker died, or Dask gave a task up after several had."""
    killed = any(kind.__name__ == "KilledWorker" for kind in type(error).__mro__)
    return killed or isinstance(error, WorkerDiedError)
