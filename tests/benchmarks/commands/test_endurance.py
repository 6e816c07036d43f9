from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main


def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "endurance.json"
    arguments = ["--evaluations", "20", "--method", "EI-Vanilla", "--output", str(output)]
    assert main(["endurance", *arguments]) == 0
    assert "per suggestion: median" in capsys.readouterr().out
    kept = json.loads(output.read_text())
    assert kept["steps"]["suggested"] == [False] * 18 + [True] * 2
    assert min(kept["steps"]["peak_memory"]) > 10 and max(kept["steps"]["seconds"]) > 0
    assert kept["metadata"]["threads"] >= 1
