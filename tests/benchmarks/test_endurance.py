from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.endurance import Step, summarize


def steps(last_memory: float = 110.0, slowest: float = 2.0) -> list[Step]:
    """200 steps of one second and 100 MiB, but for the last."""
    usual = [Step(i, i > 18, 1.0, 1.5, 100.0, 100.0) for i in range(1, 200)]
    return [*usual, Step(200, True, slowest, 9.0, 100.0, last_memory)]


def test_targets_met() -> None:
    text = summarize(steps())
    assert "process_seconds per suggestion: median 1.00, slowest 2.00 (at evaluation 200)" in text
    assert "slowest / median: 2.00, target 3.0: met" in text
    assert "memory at the end / at 50: 1.10, target 1.25: met" in text


def test_targets_missed() -> None:
    text = summarize(steps(last_memory=130.0, slowest=3.5))
    assert "slowest / median: 3.50, target 3.0: MISSED" in text
    assert "memory at the end / at 50: 1.30, target 1.25: MISSED" in text


def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "endurance.json"
    arguments = ["--evaluations", "20", "--method", "EI-Vanilla", "--output", str(output)]
    assert main(["endurance", *arguments]) == 0
    assert "per suggestion: median" in capsys.readouterr().out
    kept = json.loads(output.read_text())
    assert [step["suggested"] for step in kept["steps"]] == [False] * 18 + [True] * 2
    assert all(step["memory"] > 10 for step in kept["steps"])
    assert kept["metadata"]["threads"] >= 1
