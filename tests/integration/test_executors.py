"""Evaluation on executors: everything comes back once, whatever order, whatever breaks."""

from __future__ import annotations

import collections
import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest
from botorch.exceptions.errors import InputDataError

from botorch_ubo import OptimizationResult, UnboundedOptimizer, minimize
from botorch_ubo.run.guard import evaluate_guarded
from tests.support.objectives import Deadly, Hanging, bowl, leave, rude, slow_bowl
from tests.support.optimizing import BOX, FASTER
from tests.support.trouble import is_running


def assert_complete(result: OptimizationResult, budget: int) -> None:
    """All trials are there, each with the value of its own point."""
    assert len(result.trials) == budget
    assert [trial.id for trial in result.trials] == list(range(budget))
    for trial in result.trials:
        assert trial.status == "completed"
        assert trial.value == pytest.approx(bowl(list(trial.X)))


class TestThreads:
    @pytest.mark.slow
    def test_all_come_back(self) -> None:
        with ThreadPoolExecutor(3) as executor:
            result = minimize(slow_bowl, BOX, budget=10, executor=executor, **FASTER)
        assert_complete(result, 10)
        assert result.expansions

    def test_as_many_at_once_as_there_are_workers(self) -> None:
        lock, now, most = threading.Lock(), [0], [0]

        def f(x: list[float]) -> float:
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            time.sleep(0.05)
            with lock:
                now[0] -= 1
            return bowl(x)

        with ThreadPoolExecutor(4) as executor:
            minimize(f, BOX, budget=12, num_initial=12, executor=executor, num_workers=3, **FASTER)
        assert most[0] == 3

    def test_a_new_proposal_goes_out_as_soon_as_one_result_is_in(self) -> None:
        """The first evaluation lasts until all others are done."""
        others = threading.Event()
        done: list[int] = []

        def f(x: list[float]) -> float:
            if not done:
                done.append(0)
                assert others.wait(60)
            else:
                done.append(1)
                if len(done) == 8:
                    others.set()
            return bowl(x)

        with ThreadPoolExecutor(2) as executor:
            result = minimize(f, BOX, budget=8, executor=executor, **FASTER)
        assert_complete(result, 8)
        assert result.trials[0].order >= 6  # it and the one that released it

    @pytest.mark.filterwarnings("ignore::botorch_ubo.ObjectiveWarning")
    def test_failures_in_threads(self) -> None:
        with ThreadPoolExecutor(2) as executor:
            result = minimize(rude, BOX, budget=6, executor=executor, num_initial=6, **FASTER)
        failed = [trial for trial in result.trials if trial.status == "failed"]
        assert failed
        assert {trial.reason for trial in failed} == {"Rude: too far"}
        assert len(failed) == sum(trial.X[0] > 0 for trial in result.trials)

    def test_a_stop_takes_in_what_is_under_way(self) -> None:
        with ThreadPoolExecutor(3) as executor:
            result = minimize(slow_bowl, BOX, budget=20, executor=executor, num_initial=20,
                              callback=lambda optimizer, trial: True, **FASTER)  # fmt: skip
        assert result.stopped_because == "the callback said so"
        assert_complete(result, len(result.trials))
        assert len(result.trials) < 8

    @pytest.mark.parametrize(
        "error", [KeyboardInterrupt, pytest.param(SystemExit, marks=pytest.mark.slow)]
    )
    def test_an_interrupt_ends_the_run_and_keeps_what_came_back(
        self, error: type[BaseException], tmp_path: Path
    ) -> None:
        barrier = threading.Barrier(2, timeout=60)
        calls = iter(range(99))

        def f(x: list[float]) -> float:
            number = next(calls)
            if number < 2:
                barrier.wait()
                time.sleep(0.3 * number)
                if number == 1:
                    raise error
            return bowl(x)

        path = tmp_path / "run.db"
        options = {"num_initial": 9, "checkpoint": path, **FASTER}
        with ThreadPoolExecutor(2) as executor, pytest.raises(error) as raised:
            minimize(f, BOX, budget=9, executor=executor, **options)
        assert "stays pending" in raised.value.__notes__[0]
        run = UnboundedOptimizer(BOX, **options)
        assert run.completed
        assert run.pending
        assert not run.failed
        with ThreadPoolExecutor(2) as executor:
            assert_complete(minimize(f, BOX, budget=9, executor=executor, **options), 9)


class Flaky(Executor):
    """Evaluates at once; with a call it refuses, loses or cancels, it does as it is told."""

    def __init__(self, number: int, how: str) -> None:
        self.number, self.how, self.calls = number, how, 0

    def submit(self, f: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        future: Future[Any] = Future()
        if self.calls == self.number and self.how == "refuse":
            raise RuntimeError("cannot schedule new futures after shutdown")
        if self.calls == self.number and self.how == "cancel":
            future.cancel()
            future.set_running_or_notify_cancel()
        elif self.calls == self.number:
            future.set_exception(BrokenProcessPool("a worker died"))
        else:
            future.set_result(f(*args, **kwargs))
        return future


class TestBreakage:
    @pytest.mark.parametrize("how", ["refuse", "cancel", "break"])
    def test_of_the_executor_leaves_trials_pending_for_a_resumed_run(
        self, how: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "run.db"
        options = {"num_initial": 8, "checkpoint": path, "num_workers": 3, **FASTER}
        with pytest.raises(Exception, match=r"shutdown|died|had come back"):
            minimize(bowl, BOX, budget=8, executor=Flaky(4, how), **options)
        run = UnboundedOptimizer(
            BOX, **{key: value for key, value in options.items() if key != "num_workers"}
        )
        assert not run.failed
        assert len(run.completed) >= 2
        assert len(run.pending) >= 1
        assert_complete(minimize(bowl, BOX, budget=8, executor=Flaky(0, ""), **options), 8)

    def test_an_executor_that_does_not_tell_its_size(self) -> None:
        with pytest.raises(InputDataError, match="`num_workers` >= 1 with a Flaky"):
            minimize(bowl, BOX, budget=3, executor=Flaky(0, ""))


def spawned(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::botorch_ubo.ObjectiveWarning")
def test_spawned_processes() -> None:
    """Two workers; exceptions that cannot be unpickled are failures like any other."""
    with spawned(2) as executor:
        result = minimize(rude, BOX, budget=9, executor=executor, **FASTER)
        assert [trial.id for trial in result.trials] == list(range(9))
        for trial in result.trials:
            if trial.X[0] > 0:
                assert (trial.status, trial.reason) == ("failed", "Rude: too far")
            else:
                assert trial.value == bowl(list(trial.X))
        with pytest.raises(Exception, match=r"(?i)pickle|local object") as error:
            minimize(lambda x: 0.0, BOX, budget=3, executor=executor, **FASTER)
        assert "not an error of the objective" in error.value.__notes__[0]


def calls_per_point(directory: Path) -> collections.Counter[str]:
    return collections.Counter(file.read_text() for file in directory.iterdir())


@pytest.mark.slow
class TestProcesses:
    """An objective that dies or hangs takes neither the pool nor the run along."""

    @pytest.mark.parametrize("method", ["fork", "spawn"])
    def test_a_trial_whose_worker_dies_is_tried_once_more_and_then_failed(
        self, tmp_path: Path, method: str
    ) -> None:
        calls = tmp_path / "calls"
        calls.mkdir()
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as executor:
            result = minimize(
                Deadly(calls), BOX, budget=8, num_initial=8, executor=executor, **FASTER
            )
        failed = {repr(list(it.X)) for it in result.trials if it.status == "failed"}
        assert failed == {repr(list(it.X)) for it in result.trials if it.X[0] > 0.5}
        assert failed
        for point, count in calls_per_point(calls).items():
            assert count == (2 if point in failed else 1)
        reasons = {it.reason for it in result.trials if it.status == "failed"}
        assert reasons == {
            "its worker died, 2 times; the last time the process of the evaluation ended by "
            "signal 9"
        }

    def test_a_death_is_remembered_when_the_run_is_resumed(self, tmp_path: Path) -> None:
        calls, path = tmp_path / "calls", tmp_path / "run.db"
        calls.mkdir()
        options: dict[str, Any] = {"num_initial": 8, **FASTER}
        optimizer = UnboundedOptimizer(BOX, checkpoint=path, **options)
        deadly = [trial for trial in optimizer.ask(8) if trial.X[0] > 0.5]
        for _ in range(2):
            optimizer.journal.died(deadly[0], "of a test")
        optimizer.journal.died(deadly[1], "of a test")
        for _ in range(2):
            with ProcessPoolExecutor(2) as executor:
                result = minimize(
                    Deadly(calls), BOX, budget=8, executor=executor, checkpoint=path, **options
                )
        counts = calls_per_point(calls)
        assert counts[repr(list(deadly[0].X))] == 0
        assert counts[repr(list(deadly[1].X))] == 1
        assert not [it for it in result.trials if it.status == "pending"]

    @pytest.mark.parametrize("method", ["fork", "spawn"])
    def test_an_evaluation_that_takes_too_long_is_ended(self, tmp_path: Path, method: str) -> None:
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as executor:
            result = minimize(
                Hanging(tmp_path), BOX, budget=6, num_initial=6, executor=executor, timeout=1.0,
                **FASTER,
            )  # fmt: skip
        failed = [trial for trial in result.trials if trial.status == "failed"]
        assert [it.id for it in failed] == [it.id for it in result.trials if it.X[0] > 0.5]
        assert {it.reason for it in failed} == {"the evaluation took longer than 1 s and was ended"}
        pids = [int(file.name) for file in tmp_path.iterdir()]
        assert len(pids) == 2 * len(failed) > 0
        wait_for(lambda: not any(map(is_running, pids)))

    def test_nobody_is_left_behind_when_a_worker_is_killed(self, tmp_path: Path) -> None:
        """The pool breaks, as it must; what runs below the worker ends with it."""
        with ProcessPoolExecutor(1) as executor:
            future = executor.submit(evaluate_guarded, Hanging(tmp_path), "floats", [1.0, 0.0])
            wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
            pids = [int(file.name) for file in tmp_path.iterdir()]
            (worker,) = executor._processes
            os.kill(worker, signal.SIGKILL)
            with pytest.raises(BrokenProcessPool):
                future.result(60)
        wait_for(lambda: not any(map(is_running, pids)))

    def test_what_ends_a_run_does_so_from_below_a_worker_too(self) -> None:
        with ProcessPoolExecutor(1) as executor, pytest.raises(SystemExit):
            minimize(leave, BOX, budget=3, executor=executor, **FASTER)


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


class TestTimeout:
    @pytest.mark.parametrize("executor", [None, "threads"])
    def test_is_refused_where_an_evaluation_cannot_be_ended(self, executor: str | None) -> None:
        with (
            ThreadPoolExecutor(1) as threads,
            pytest.raises(InputDataError, match=r"which nothing can end.*ProcessPoolExecutor\(1\)"),
        ):
            minimize(bowl, BOX, budget=3, executor=threads if executor else None, timeout=5)

    @pytest.mark.parametrize("timeout", [0, -1.0, "soon", math.nan, math.inf, 1e300, True])
    def test_is_seconds(self, timeout: Any) -> None:
        with ThreadPoolExecutor(1) as threads, pytest.raises(InputDataError, match="in seconds"):
            minimize(bowl, BOX, budget=3, executor=threads, timeout=timeout)
