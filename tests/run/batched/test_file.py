"""All runs in one file: killed and resumed, they go on exactly as they would have."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from botorch_ubo import BatchedRuns, CheckpointError, UnboundedOptimizer, minimize_batch
from botorch_ubo.run.storage.errors import DamagedFileError
from tests.run.batched.test_runs import BOX, bowl

SCRIPT = """
import os, signal, torch
from botorch_ubo import minimize_batch
calls = 0
def f(X):
    global calls
    calls += 1
    if calls == {die_at}:
        os.kill(os.getpid(), signal.SIGKILL)
    return torch.where(X[:, 0] > 1.5, torch.nan, (X - 1.7).square().sum(dim=-1))
minimize_batch(f, [(-1.0, 1.0), (0.0, 1.0)], budget=10, seeds=3, checkpoint={path!r})
"""


def test_a_resumed_batch_is_where_it_was(tmp_path):
    path = tmp_path / "runs.db"
    data = [None, ([[0.5, 0.5]], [float("nan")])]

    def begin(checkpoint: Path | None) -> BatchedRuns:
        return BatchedRuns(BOX, seeds=2, data=data, checkpoint=checkpoint)

    whole, kept = begin(None), begin(path)
    for step in range(10):
        if step == 8:
            whole.stop(1), kept.stop(1)
        kept = begin(path)  # another process, before every call
        X = whole.ask()
        assert torch.equal(X.nan_to_num(), kept.ask().nan_to_num())
        kept = begin(path)
        Y = torch.where(X[:, 0] > 1.3, torch.nan, bowl(X))
        whole.tell(Y), kept.tell(Y)
    kept = begin(path)
    for name, value in vars(whole.state).items():
        assert torch.equal(value, getattr(kept.state, name)), name
    assert kept[0].box.history == whole[0].box.history and kept[0].box.history
    assert kept[0].trials == whole[0].trials


@pytest.mark.slow
def test_a_killed_process_leaves_runs_that_end_as_if_it_had_lived(tmp_path):
    path = str(tmp_path / "runs.db")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for die_at in (4, 5):
        script = SCRIPT.format(die_at=die_at, path=path)
        died = subprocess.run([sys.executable, "-c", script], env=environment, check=False)
        assert died.returncode == -signal.SIGKILL

    def f(X):
        return torch.where(X[:, 0] > 1.5, torch.nan, bowl(X))

    resumed = minimize_batch(f, BOX, budget=10, seeds=3, checkpoint=path)
    whole = minimize_batch(f, BOX, budget=10, seeds=3)
    assert torch.equal(resumed.X.nan_to_num(), whole.X.nan_to_num())
    again = minimize_batch(f, BOX, budget=10, seeds=3, checkpoint=path)
    assert torch.equal(again.best_value, whole.best_value)  # without another evaluation


def test_other_arguments_and_other_files_are_refused(tmp_path):
    path = tmp_path / "runs.db"
    BatchedRuns(BOX, seeds=2, checkpoint=path).ask()
    with pytest.raises(CheckpointError, match="these differ: method, seeds"):
        BatchedRuns(BOX, seeds=[0, 5], method="HuBO-EI", checkpoint=path)
    with pytest.raises(DamagedFileError):
        UnboundedOptimizer.open(path)
    single = tmp_path / "run.db"
    UnboundedOptimizer(BOX, checkpoint=single).ask()
    with pytest.raises(CheckpointError, match="it holds one run"):
        BatchedRuns(BOX, seeds=2, checkpoint=single)


def test_a_second_writer_is_noticed_and_nothing_is_lost(tmp_path):
    path = tmp_path / "runs.db"
    first = BatchedRuns(BOX, seeds=2, checkpoint=path)
    second = BatchedRuns(BOX, seeds=2, checkpoint=path)
    first.tell(bowl(first.ask()))
    with pytest.raises(CheckpointError, match="no other process"):
        second.ask()
    assert not second.pending.any()
    assert BatchedRuns(BOX, seeds=2, checkpoint=path).state.num_completed.tolist() == [1, 1]
