"""Evaluation on executors: everything comes back once, whatever order, whatever breaks."""

from __future__ import annotations

import multiprocessing
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest
from botorch.exceptions.errors import InputDataError

from botorch_ubo import OptimizationResult, UnboundedOptimizer, minimize
from tests.integration.objectives import Counted, bowl, rude, slow_bowl

BOX = [(-1.0, 1.0), (0.0, 3.0)]
FAST: dict[str, Any] = {"num_restarts": 2, "raw_samples": 32, "options": {"maxiter": 20}}


def assert_complete(result: OptimizationResult, budget: int) -> None:
    """All trials are there, each with the value of its own point."""
    assert len(result.trials) == budget
    assert [trial.id for trial in result.trials] == list(range(budget))
    for trial in result.trials:
        assert trial.status == "completed"
        assert trial.value == pytest.approx(bowl(list(trial.X)))


class TestThreads:
    def test_all_come_back(self) -> None:
        with ThreadPoolExecutor(3) as executor:
            result = minimize(slow_bowl, BOX, budget=10, executor=executor, **FAST)
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
            minimize(f, BOX, budget=12, num_initial=12, executor=executor, num_workers=3, **FAST)
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
            result = minimize(f, BOX, budget=8, executor=executor, **FAST)
        assert_complete(result, 8)
        assert result.trials[0].order >= 6  # it and the one that released it

    def test_failures_in_threads(self) -> None:
        with ThreadPoolExecutor(2) as executor:
            result = minimize(rude, BOX, budget=6, executor=executor, num_initial=6, **FAST)
        failed = [trial for trial in result.trials if trial.status == "failed"]
        assert failed
        assert {trial.reason for trial in failed} == {"Rude: too far"}
        assert len(failed) == sum(trial.X[0] > 0 for trial in result.trials)

    def test_a_stop_takes_in_what_is_under_way(self) -> None:
        with ThreadPoolExecutor(3) as executor:
            result = minimize(slow_bowl, BOX, budget=20, executor=executor, num_initial=20,
                              callback=lambda optimizer, trial: True, **FAST)  # fmt: skip
        assert result.stopped_because == "the callback said so"
        assert_complete(result, len(result.trials))
        assert len(result.trials) < 8

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
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

        path = tmp_path / "run.json"
        options = {"num_initial": 9, "checkpoint": path, **FAST}
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
        path = tmp_path / "run.json"
        options = {"num_initial": 8, "checkpoint": path, "num_workers": 3, **FAST}
        with pytest.raises(Exception, match=r"shutdown|died|^$"):
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


def test_spawned_processes() -> None:
    """Two workers; exceptions that cannot be unpickled are failures like any other."""
    with spawned(2) as executor:
        result = minimize(rude, BOX, budget=9, executor=executor, **FAST)
        assert [trial.id for trial in result.trials] == list(range(9))
        for trial in result.trials:
            if trial.X[0] > 0:
                assert (trial.status, trial.reason) == ("failed", "Rude: too far")
            else:
                assert trial.value == bowl(list(trial.X))
        with pytest.raises(Exception, match=r"(?i)pickle|local object") as error:
            minimize(lambda x: 0.0, BOX, budget=3, executor=executor, **FAST)
        assert "not an error of the objective" in error.value.__notes__[0]


def test_a_killed_process_breaks_the_pool_but_not_the_run(tmp_path: Path) -> None:
    """A pool whose worker dies is lost; a new one takes over, and nothing is lost or doubled."""
    calls = tmp_path / "calls"
    calls.mkdir()
    path = tmp_path / "run.json"
    objective = Counted(calls, kill_at=3)
    options: dict[str, Any] = {"num_initial": 7, "checkpoint": path, **FAST}
    with spawned(1) as executor, pytest.raises(BrokenProcessPool):
        minimize(objective, BOX, budget=7, executor=executor, **options)
    run = UnboundedOptimizer(BOX, **options)
    assert len(run.completed) == 3
    assert len(run.pending) == 1
    with ThreadPoolExecutor(2) as executor:
        result = minimize(Counted(calls), BOX, budget=7, executor=executor, **options)
    assert_complete(result, 7)
    assert len(list(calls.iterdir())) == 8  # the killed one had to be done again, no other
