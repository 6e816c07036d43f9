"""A program of any kind driven from bash, and several shells at one run file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# The five lines that README shows; a function stands in for the installed program.
LOOP = """
botorch-ubo init run.db --param "lr=1e-4:1e-2,log" --param "layers=1:3,int,limits=1:"
while read -r id params < <(botorch-ubo ask run.db --budget 4); do
    if value=$(./program $params); then botorch-ubo tell run.db "$id" $value
    else botorch-ubo tell-failed run.db "$id" "exit code $?"; fi
done
"""
# A program that knows nothing of Python, and fails for its first call.
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
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_the_loop_of_the_readme(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    done = bash(LOOP + "botorch-ubo status run.db --json", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the budget of 4 trials is used up" in done.stderr
    status = json.loads(done.stdout.splitlines()[-1])
    assert status["trials"] == {"completed": 3, "pending": 0, "failed": 1}
    assert status["best"]["value"] < 0
    calls = (tmp_path / "calls.txt").read_text().splitlines()
    assert len(calls) == 4 and all(call.startswith("lr=") for call in calls)
    assert "trial 0 failed: exit code 7" in done.stdout


def test_three_shells_share_a_run(tmp_path: Path) -> None:
    script = """
    botorch-ubo init run.db --param "x=0:1"
    work() { while read -r id params < <(botorch-ubo ask run.db --budget 6); do
        botorch-ubo tell run.db "$id" "${params#x=}"; done; }
    work & work & work & wait
    botorch-ubo export run.db --json
    """
    done = bash(script, tmp_path)
    trials = json.loads(done.stdout.splitlines()[-1])
    assert [trial["id"] for trial in trials] == list(range(6))
    assert all(trial["value"] == trial["params"]["x"] for trial in trials)
    assert len({trial["value"] for trial in trials}) == 6
