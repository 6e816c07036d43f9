"""The suite `smoke` as a user runs it: run, kill, run again, report."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks.problems.registry import SUITES
from benchmarks.runs.records import read_records

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 1800.0  # seconds for one command, on a very busy machine


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    return output


def lines(directory: Path) -> list[str]:
    return [line for path in sorted(directory.rglob("*.jsonl")) for line in path.open()]


@pytest.mark.slow
def test_run_kill_resume_report(tmp_path: Path) -> None:
    records = tmp_path / "records"
    command = ("run", "--suite", "smoke", "--output", str(records), "--jobs", "2")
    first = start(*command)
    began = time.monotonic()
    while len(lines(records)) < 3:
        assert first.poll() is None and time.monotonic() - began < PATIENCE
        time.sleep(0.05)
    children = psutil.Process(first.pid).children(recursive=True)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive  # the workers went with it

    kept = lines(records)
    suite = SUITES["smoke"]
    total = len(suite.problems) * len(suite.seeds) * len(suite.methods or ())
    assert 3 <= len(kept) < total
    with next(records.rglob("*.jsonl")).open("a") as file:
        file.write(kept[0][: len(kept[0]) // 2])  # a record that was being written

    output = finish(start(*command))
    assert f"{total - len(kept)} runs finished, 0 failed" in output
    after = lines(records)
    assert len(after) == total and set(kept) <= set(after)
    assert len({record.key for record in read_records(records)}) == total

    finish(start("report", "--records", str(records), "--output", str(tmp_path / "report")))
    report = (tmp_path / "report" / "report.md").read_text()
    assert "EI-UBO" in report and "LogEI-oracle" in report
    figures = list((tmp_path / "report").rglob("*.png"))
    assert figures and all(figure.name in report for figure in figures)
