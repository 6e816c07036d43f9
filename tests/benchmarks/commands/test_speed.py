from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main


@pytest.mark.slow
def test_every_contender_is_timed_on_every_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "speed.json"
    arguments = ["--sizes", "10", "20", "--dims", "--requests", "1", "--repeats", "1"]
    assert main(["speed", *arguments, "--rivals", "optuna", "ax", "--output", str(output)]) == 0
    printed = capsys.readouterr().out
    assert "By n, d = 6" in printed and "n = 50, d = 6, q = 1, 1 pending" in printed
    measured = json.loads(output.read_text())["measured"]
    found = {(row["n"], row["pending"], row["contender"]) for row in measured}
    plain = {(n, 0, name) for n in (10, 20, 50) for name in ("default", "optuna", "ax")}
    assert found == plain | {(50, 1, "default")}
    assert all(value > 0 for row in measured for value in row["seconds"])
    assert "(n = 20)" in printed and all(r["peak"] > 50 for r in measured if r["memory"])
    assert output.with_suffix(".md").exists() and output.with_suffix(".png").exists()
