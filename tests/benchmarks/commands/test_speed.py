from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.commands import speed


@pytest.mark.slow
def test_every_suggestion_of_every_method_is_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(speed, "PROBLEMS", ("beale",))
    output = tmp_path / "speed.json"
    assert main(["speed", "--budget", "2", "--output", str(output)]) == 0
    assert "| beale | 2 |" in capsys.readouterr().out
    (measured,) = json.loads(output.read_text())["problems"]
    assert {name: len(taken) for name, taken in measured["seconds"].items()} == {
        "default": 2, "expanding": 2, "plain": 2, "optuna": 2
    }  # fmt: skip
    assert all(value > 0 for values in measured["seconds"].values() for value in values)
