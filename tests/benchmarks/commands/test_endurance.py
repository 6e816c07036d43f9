from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main


def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "endurance.json"
    arguments = ["--evaluations", "24", "--method", "EI-Vanilla", "--output", str(output)]
    assert main(["endurance", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "per suggestion: median" in printed and "apart from the model, last / first" in printed
    assert printed.strip() in output.with_suffix(".md").read_text()
    kept = json.loads(output.read_text())
    assert kept["steps"]["suggested"] == [False] * 18 + [True] * 6
    assert min(kept["steps"]["peak_memory"]) > 10 and max(kept["steps"]["seconds"]) > 0
    steps = kept["steps"]
    assert 0 < sum(steps["apart"][18:]) < 0.5 * sum(steps["seconds"][18:])
    assert kept["metadata"]["threads"] >= 1


def test_the_record_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "record.json"
    assert main(["endurance", "--record", "--evaluations", "60", "--output", str(output)]) == 0
    assert "bytes written, last / first: 1.0" in capsys.readouterr().out
    steps = json.loads(output.read_text())["steps"]
    assert len(steps["written"]) == 60 and min(steps["written"]) > 0
    assert sum(steps["grown"]) < 60 * 2000
    assert "| 31 to 60 |" in output.with_suffix(".md").read_text()
