from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.commands import hosts
from benchmarks.runs.hosts import PROBLEMS


@pytest.mark.slow
def test_every_host_runs_its_default_and_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hosts, "PROBLEMS", {"far": PROBLEMS["far"]})
    output = tmp_path / "hosts.json"
    arguments = ["--budget", "8", "--seeds", "0", "--repeats", "1", "--output", str(output)]
    assert main(["hosts", *arguments]) == 0
    runs = json.loads(output.read_text())["runs"]
    assert {(run["host"], run["ours"]) for run in runs} == {
        (host, ours) for host in ("SciPy", "Optuna", "Xopt", "Ax") for ours in (False, True)
    }
    assert all(1 <= len(run["values"]) <= 8 for run in runs)
    assert output.with_suffix(".md").read_text() in capsys.readouterr().out
