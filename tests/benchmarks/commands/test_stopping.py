from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.commands import stopping

ARGUMENTS = ["stopping", "--problems", "path1", "--policies", "LogEI", "--budget", "5"]


def test_continues_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "new" / "stopping.json"
    words = [*ARGUMENTS, "--output", str(output)]
    assert main([*words, "--seeds", "0"]) == 0
    kept = json.loads(output.read_text())
    assert kept["settings"] == {"budget": 5, "share": 0.1, "delta": 0.1}
    assert [run["seed"] for run in kept["runs"]] == [0]
    text = output.with_suffix(".md").read_text()
    assert text.startswith("# When to stop") and "| path1, LogEI | 5 (0 of 0) |" in text
    assert "Started again" not in text
    assert output.with_suffix(".png").stat().st_size > 0

    asked = []
    original = stopping.run_to_the_end
    monkeypatch.setattr(
        stopping, "run_to_the_end", lambda key, s: asked.append(key) or original(key, s)
    )
    assert main([*words, "--seeds", "0-1"]) == 0
    assert asked == [("path1", "LogEI", 1)]
    both = json.loads(output.read_text())["runs"]
    assert both[:1] == kept["runs"] and len(both) == 2
    with pytest.raises(SystemExit, match="settings"):
        main([*words, "--share", "0.5"])


@pytest.mark.parametrize("words", [["--jobs", "0"], ["--share", "0"], ["--delta", "1"]])
def test_refuses_what_makes_no_sense(words: list[str]) -> None:
    with pytest.raises(SystemExit, match="expected --jobs"):
        main([*ARGUMENTS, *words])
