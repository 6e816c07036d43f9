from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.commands import coverage

ARGUMENTS = ["coverage", "--paths", "1", "--dims", "1", "--lengthscale", "0.5"]
SETTINGS = {"delta": 0.1, "epsilon": 0.05, "lengthscale": 0.5, "max_evaluations": 200}


@pytest.mark.slow
def test_continues_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "new" / "coverage.json"
    assert main([*ARGUMENTS, "--output", str(output)]) == 0
    kept = json.loads(output.read_text())
    assert [s["beta"] for s in kept["searches"]] == ["beta", "beta/5"]
    assert kept["metadata"]["packages"]["botorch"] and kept["settings"] == SETTINGS
    text = output.with_suffix(".md").read_text()
    assert text.startswith("# Coverage") and "promised at least 0.9: met" in text

    asked = []
    original = coverage.search_path
    monkeypatch.setattr(
        coverage, "search_path", lambda key, s: asked.append(key) or original(key, s)
    )
    capsys.readouterr()
    assert main([*ARGUMENTS, "--paths", "2", "--output", str(output)]) == 0
    assert asked == [(1, 1, "beta"), (1, 1, "beta/5")]
    assert len(json.loads(output.read_text())["searches"]) == 4
    assert "| 1 | beta | 2 | 2 |" in capsys.readouterr().out


def test_refuses_a_file_of_other_settings(tmp_path: Path) -> None:
    output = tmp_path / "coverage.json"
    output.write_text(json.dumps({"settings": {"delta": 0.5}, "searches": []}))
    with pytest.raises(SystemExit, match="settings"):
        main([*ARGUMENTS, "--output", str(output)])


@pytest.mark.slow
def test_two_processes(tmp_path: Path) -> None:
    output = tmp_path / "coverage.json"
    assert main([*ARGUMENTS, "--jobs", "2", "--output", str(output)]) == 0
    found = json.loads(output.read_text())["searches"][1]
    assert found == coverage.search_path((1, 0, "beta/5"), SETTINGS)
