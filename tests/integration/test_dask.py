"""Dask, the way past one machine: a real local cluster, one of whose workers is killed."""

from __future__ import annotations

import collections
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from botorch_ubo import UnboundedOptimizer, minimize
from botorch_ubo.run.dask_tasks import evaluate_on_dask
from botorch_ubo.run.trials import Trial
from tests.support.objectives import Counted, Deadly, Hanging, bowl, tell_apart
from tests.support.optimizing import BOX, FASTER
from tests.support.trouble import is_running

distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")

BUDGET = 14


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def calls_in(directory: Path) -> collections.Counter[str]:
    return collections.Counter(file.read_text() for file in directory.iterdir())


@pytest.mark.slow
def test_a_killed_worker_loses_nothing_and_nothing_is_counted_twice(
    client: Any, tmp_path: Path
) -> None:
    """What is promised: all trials come back, each once; what is done is not done again.

    An evaluation is repeated only if it was under way when its worker died, and then once.
    """
    calls = tmp_path / "calls"
    calls.mkdir()
    path = tmp_path / "run.db"
    pids = set(client.run(os.getpid).values())
    killed: list[int] = []
    under_way: set[str] = set()

    def kill_a_worker(optimizer: UnboundedOptimizer, trial: Trial) -> None:
        if len(optimizer.completed) == 4:
            killed.append(pids.pop())
            os.kill(killed[0], signal.SIGKILL)
            under_way.update(repr(list(trial.X)) for trial in optimizer.pending)

    result = minimize(
        Counted(calls), BOX, budget=BUDGET, executor=client.get_executor(), num_workers=2,
        callback=kill_a_worker, checkpoint=path, **FASTER,
    )  # fmt: skip
    assert len(killed) == 1
    assert len(result.trials) == BUDGET
    for trial in result.trials:
        assert trial.status == "completed"
        assert trial.value == pytest.approx(bowl(list(trial.X)))
    counts = calls_in(calls)
    assert set(counts) == {repr(list(trial.X)) for trial in result.trials}
    for point, count in counts.items():
        assert count <= (2 if point in under_way else 1)
    kept = UnboundedOptimizer(BOX, checkpoint=path, **FASTER)
    assert kept.trials == result.trials


@pytest.mark.slow
def test_a_result_that_dies_with_its_worker_is_not_computed_again(
    client: Any, tmp_path: Path
) -> None:
    """Dask computes it again as long as anybody holds the future; the objective is not called."""
    (worker,) = list(client.scheduler_info()["workers"])[:1]
    arguments = (Counted(tmp_path), "floats", (0.5, 0.5), "a ticket")
    future = client.submit(evaluate_on_dask, *arguments, workers=[worker], pure=False)
    distributed.wait(future)
    os.kill(client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)
    other = client.submit(evaluate_on_dask, *arguments, pure=False)  # what Dask does by itself
    assert other.result(60) == (2.0, None)
    assert calls_in(tmp_path).total() == 1


@pytest.mark.slow
def test_a_trial_that_kills_its_worker_is_tried_once_more_and_then_failed(
    client: Any, tmp_path: Path
) -> None:
    result = minimize(
        Deadly(tmp_path), BOX, budget=3, num_initial=3, executor=client.get_executor(),
        num_workers=1, seed=2, **FASTER,
    )  # fmt: skip
    failed = [trial for trial in result.trials if trial.status == "failed"]
    assert [it.id for it in failed] == [it.id for it in result.trials if it.X[0] > 0.5]
    assert failed
    counts = calls_in(tmp_path)
    for trial in result.trials:
        assert counts[repr(list(trial.X))] == (2 if trial.status == "failed" else 1)
    assert "its worker died, 2 times" in failed[0].reason


@pytest.mark.slow
def test_an_evaluation_that_takes_too_long_is_ended(client: Any, tmp_path: Path) -> None:
    pids = set(client.run(os.getpid).values())
    result = minimize(
        Hanging(tmp_path), BOX, budget=3, num_initial=3, executor=client.get_executor(),
        num_workers=2, seed=2, timeout=1.0, **FASTER,
    )  # fmt: skip
    failed = [trial for trial in result.trials if trial.status == "failed"]
    assert [it.id for it in failed] == [it.id for it in result.trials if it.X[0] > 0.5]
    assert {it.reason for it in failed} == {"the evaluation took longer than 1 s and was ended"}
    assert not any(is_running(int(file.name)) for file in tmp_path.iterdir())
    assert set(client.run(os.getpid).values()) == pids  # the workers stayed


@pytest.mark.slow
def test_replicates_are_not_one(client: Any) -> None:
    """Equal calls are one to Dask unless told otherwise."""
    values = [
        minimize(
            tell_apart, BOX, budget=1, executor=client.get_executor(), num_workers=1
        ).best_value
        for _ in range(2)
    ]
    assert values[0] != values[1]
