"""However a run file is damaged, it is refused in words, or it says the same as before."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.torture.damage import mutate
from benchmarks.torture.kept_run import start, write_run
from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.storage import CheckpointError
from botorch_ubo.run.storage.run_file import RunFile

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_run(tmp_path_factory.mktemp("run") / "run.db")


@pytest.mark.parametrize("seed", range(4))
def test_bytes(content: bytes, tmp_path: Path, seed: int) -> None:
    path, chance = tmp_path / "run.db", random.Random(seed)
    path.write_bytes(content)
    events = RunFile(path).load()
    refused = 0
    for _ in range(500):
        damaged = mutate(content, chance)
        path.write_bytes(damaged)
        try:
            assert RunFile(path).load() == events
        except CheckpointError:
            refused += 1
        assert path.read_bytes() == damaged
        assert [file.name for file in tmp_path.iterdir()] == ["run.db"]
    assert refused > 400


def test_whatever_passes_can_be_used(content: bytes, tmp_path: Path) -> None:
    path, chance = tmp_path / "run.db", random.Random(9)
    for _ in range(60):
        path.write_bytes(mutate(content, chance))
        try:
            optimizer: UnboundedOptimizer = start(path)
        except CheckpointError:
            continue
        optimizer.tell(optimizer.pending[0], 1.0)
        assert len(start(path).pending) == 1
