"""Killed at any moment and resumed, a run proposes exactly what it would have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="SIGKILL and fork are POSIX")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one_by_one", "in_batches"])
def test_sigkill_changes_nothing(name: str, tmp_path: Path) -> None:
    """Killed at random moments, and right before and after the file changes; then compared.

    All of it is compared, to the last digit: the points proposed, in their order, the results,
    the moves of the box and their reasons.
    """
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.torture.killed_run", name, tmp_path / "run.db", "3"],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    whole, resumed = report["whole"], report["resumed"]
    assert report["killed"] >= 5
    assert [trial["X"] for trial in resumed["trials"]] == [trial["X"] for trial in whole["trials"]]
    assert resumed == whole
    statuses = {trial["status"] for trial in whole["trials"]}
    assert {"completed", "failed"} <= statuses
    assert whole["box"]["history"]
    assert {file.name for file in tmp_path.iterdir()} == {"run.db", "run.db.whole"}
