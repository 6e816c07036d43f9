"""Writes that fail: file and memory stay consistent, the value is kept, and a retry works."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.storage import CheckpointError, database
from tests.support.objectives import bowl
from tests.support.optimizing import BOX, FAST
from tests.support.trouble import locked, num_rows, size_limit, small_disk, unprivileged

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX")


def make(path: Path) -> UnboundedOptimizer:
    return UnboundedOptimizer(BOX, num_initial=3, checkpoint=path, **FAST)


@contextmanager
def held(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(database, "PATIENCE", 0.2)
    with locked(path):
        yield


@pytest.mark.parametrize("trouble", ["full", "locked"])
def test_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str) -> None:
    path = tmp_path / "run.db"
    optimizer = make(path)
    for _ in range(4):  # the last one moves the box
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(trial.X))
    first, second, third = optimizer.ask(3)
    rows, state = num_rows(path), optimizer.box.state_dict()
    words = "full" if trouble == "full" else "holds its lock"
    with size_limit(4096) if trouble == "full" else held(path, monkeypatch):
        with pytest.raises(CheckpointError, match=rf"(?s){words}.*1 result.*kept.*trial 4: 2.5"):
            optimizer.tell(first, 2.5)
        with pytest.raises(CheckpointError, match=r"2 result\(s\) are kept.*trial 5: cold.*save"):
            optimizer.tell_failed(second, "cold")
        with pytest.raises(CheckpointError, match=words):
            optimizer.tell(first, 2.5)  # again: it is kept once
        with pytest.raises(CheckpointError, match=words):
            optimizer.ask()
        with pytest.raises(CheckpointError, match=words):
            optimizer.add_data([[0.0, 0.0]], [1.0])
        with pytest.raises(CheckpointError, match=words):
            optimizer.set_hard_limits({0: (-3, None)})
        with pytest.raises(CheckpointError, match=words):
            optimizer.save()
    # Memory has what was told, and nothing of what was not.
    assert [trial.id for trial in optimizer.pending] == [third.id]
    assert optimizer.trials[first.id].value == 2.5
    assert len(optimizer.trials) == 7
    assert optimizer.box.state_dict() == state
    assert num_rows(path) == rows
    optimizer.tell(third, 3.5)  # and with it what was left
    again = make(path)
    assert again.trials == optimizer.trials
    assert num_rows(path) == rows + 3
    assert [trial.id for trial in again.completed][-2:] == [first.id, third.id]
    optimizer.save()
    assert num_rows(path) == rows + 3
    assert optimizer.ask().X == make(path).trials[-1].X


@pytest.mark.slow
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    with small_disk(tmp_path, 64) as mounted:
        if not mounted:
            pytest.skip("needs the right to mount")
        optimizer = make(tmp_path / "run.db")
        trial = optimizer.ask()
        filler = tmp_path / "filler"
        with pytest.raises(OSError, match="No space"):
            filler.write_bytes(b"x" * 10**6)
        with pytest.raises(CheckpointError, match="the disk is full"):
            optimizer.tell(trial, 1.5)
        filler.unlink()
        optimizer.save()
        assert make(tmp_path / "run.db").completed == optimizer.completed


@pytest.mark.slow
def test_a_file_that_became_read_only(tmp_path: Path) -> None:
    """Permission is taken away and given back while the process runs."""
    tmp_path.chmod(0o777)
    words = unprivileged(
        tmp_path,
        "path = folder / 'run.db'\n"
        "optimizer = UnboundedOptimizer([(0, 1)], checkpoint=path)\n"
        "trial = optimizer.ask()\n"
        "path.chmod(0o444)\n"
        "try:\n"
        "    optimizer.tell(trial, 1.5)\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
        "path.chmod(0o644)\n"
        "optimizer.tell(trial, 1.5)\n"
        "print(UnboundedOptimizer.open(path).completed[0].value)\n",
    )
    assert "CheckpointError" in words
    assert "write permission" in words
    assert words.strip().endswith("1.5")
