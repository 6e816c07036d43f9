"""Dask, the way past one machine: a real local cluster, one of whose workers is killed."""

from __future__ import annotations

import collections
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from botorch_ubo import UnboundedOptimizer, minimize
from botorch_ubo.trials import Trial
from tests.integration.objectives import Counted, bowl, tell_apart

distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")

BOX = [(-1.0, 1.0), (0.0, 3.0)]
FAST: dict[str, Any] = {"num_restarts": 2, "raw_samples": 32, "options": {"maxiter": 20}}
BUDGET = 14


def test_a_killed_worker_loses_nothing_and_nothing_is_counted_twice(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    calls.mkdir()
    path = tmp_path / "run.json"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = set(client.run(os.getpid).values())
        killed: list[int] = []

        def kill_a_worker(optimizer: UnboundedOptimizer, trial: Trial) -> None:
            if len(optimizer.completed) == 4:
                killed.append(pids.pop())
                os.kill(killed[0], signal.SIGKILL)

        result = minimize(
            Counted(calls), BOX, budget=BUDGET, executor=client.get_executor(), num_workers=2,
            callback=kill_a_worker, checkpoint=path, **FAST,
        )  # fmt: skip
        assert len(killed) == 1

        # Equal calls are one to Dask unless told otherwise; replicates are not.
        executor = client.get_executor()
        replicates = [
            minimize(tell_apart, BOX, budget=1, executor=executor, num_workers=1).best_value
            for _ in range(2)
        ]
        assert replicates[0] != replicates[1]

    assert len(result.trials) == BUDGET
    for trial in result.trials:
        assert trial.status == "completed"
        assert trial.value == pytest.approx(bowl(list(trial.X)))
    # Dask repeats what the killed worker had under way; the run counts it once.
    points = collections.Counter(file.read_text() for file in calls.iterdir())
    assert set(points) == {repr(list(trial.X)) for trial in result.trials}
    assert BUDGET <= points.total() <= BUDGET + 1
    kept = UnboundedOptimizer(BOX, checkpoint=path, **FAST)
    assert kept.trials == result.trials
