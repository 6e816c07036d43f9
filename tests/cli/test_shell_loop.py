"""A program of any kind driven from bash, and several shells at one run file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from botorch_ubo import UnboundedOptimizer

pytestmark = pytest.mark.slow

# The five lines of the guide; a function stands in for the installed program.
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "command_line.md"
LOOP = re.findall(r"```bash\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)[0]
# A program that knows nothing of Python, and fails when it is first called.
PROGRAM = """#!/usr/bin/env bash
for pair in "$@"; do declare "$pair"; done
echo "$@" >> calls.txt
[ "$(wc -l < calls.txt)" -gt 1 ] || exit 7
awk -v lr="$lr" -v layers="$layers" 'BEGIN { print -(layers - 5)^2 - 1e-3 / lr }'
"""


def bash(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    stand_in = f'botorch-ubo() {{ "{sys.executable}" -m botorch_ubo "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", stand_in + script],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def test_a_loop_of_five_lines_drives_a_program(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    assert len(LOOP.splitlines()) == 5
    done = bash(LOOP.replace("--budget 30", "--budget 3"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the budget of 3 trials is used up" in done.stderr
    assert "trial 0 failed: exit code 7" in done.stdout
    run = UnboundedOptimizer.open(tmp_path / "run.db")
    assert [trial.status for trial in run.trials] == ["failed", "completed", "completed"]
    assert all(trial.value < 0 for trial in run.completed)
    calls = (tmp_path / "calls.txt").read_text().splitlines()
    asked = [dict(trial.params or {}) for trial in run.trials]
    assert calls == [f"lr={params['lr']} layers={params['layers']}" for params in asked]


def test_two_shells_share_a_run(tmp_path: Path) -> None:
    UnboundedOptimizer({"x": (0.0, 1.0)}, checkpoint=tmp_path / "run.db")
    script = """
    work() { while read -r id params < <(botorch-ubo ask run.db --budget 3); do
        botorch-ubo tell run.db "$id" "${params#x=}"; done; }
    work & work & wait
    """
    done = bash(script, tmp_path)
    trials = UnboundedOptimizer.open(tmp_path / "run.db").trials
    assert [trial.id for trial in trials] == [0, 1, 2], done.stderr
    assert all(trial.params and trial.value == trial.params["x"] for trial in trials)
    assert len({trial.value for trial in trials}) == 3
