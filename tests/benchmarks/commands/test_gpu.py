from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from benchmarks.__main__ import main
from benchmarks.runs.metadata import ROOT
from tests.support.on_devices import needs_simgpu, simgpu

SMALL = ["--sizes", "16", "32", "--dims", "2", "--repeats", "2", "--q", "1", "2"]


@pytest.mark.slow
def test_cpu_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "new" / "gpu.json"
    arguments = ["--devices", "cpu", "--dtypes", "double", "--restarts", "2"]
    assert main(["gpu", *SMALL, *arguments, "--output", str(output)]) == 0
    kept = json.loads(output.read_text())
    stages = {"fit", "geometry", "search", "default: fit", "default: suggestion"}
    assert {t["stage"] for t in kept["timings"]} == stages
    assert all(len(t["seconds"]) == 2 and t["device"] == "cpu" for t in kept["timings"])
    assert kept["metadata"]["packages"]["torch"]
    text = output.with_suffix(".md").read_text()
    assert "## Search" in text and "No other device" in text
    if not torch.cuda.is_available():
        assert "no GPU figure has been measured" in text


@needs_simgpu
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_another_device_fills_its_columns(tmp_path: Path) -> None:
    """All that a CUDA machine does, on the pretend one."""
    output = tmp_path / "gpu.json"
    arguments = ["--devices", "cpu", "simgpu", "--stages", "step", "runs", "--dtypes", "double"]
    arguments += ["--sizes", "12", "--dims", "2", "--repeats", "1", "--q", "1", "--restarts", "2"]
    arguments += ["--runs", "1", "--data", "8", "--output", str(output)]
    with simgpu.without_view_writes():
        assert main(["gpu", *arguments]) == 0
    kept = json.loads(output.read_text())
    assert all(t["error"] is None and t["seconds"] for t in kept["timings"])
    assert [found["equal"] for found in kept["equalities"]] == [True]
    text = output.with_suffix(".md").read_text()
    heads = [line for line in text.splitlines() if "simgpu" in line and "ms" in line]
    assert len(heads) == 6 and "No GPU was there" not in text and "cuda" not in text.split("## ")[1]
    tables = text.split("## ", 1)[1]
    assert "–" not in tables.split("## Equal")[0]  # no empty cell


@pytest.mark.slow
def test_many_runs_at_once(tmp_path: Path) -> None:
    output = tmp_path / "runs.json"
    words = ["--stages", "runs", "--devices", "cpu", "--dtypes", "double", "--dims", "2"]
    words += ["--runs", "1", "3", "--data", "8", "--repeats", "1", "--output", str(output)]
    words += ["--before", str(ROOT)]  # this version, as if it were an older one
    assert main(["gpu", *words]) == 0
    kept = json.loads(output.read_text())["runs"]
    assert [row["runs"] for row in kept] == [1, 3]
    assert all(row["launched"] > 100 and len(row["seconds_one_by_one"]) == 8 for row in kept)
    text = output.with_suffix(".md").read_text()
    assert "## Many runs at once" in text and "## Fit" not in text
    assert all(len(row["seconds_before"]) == 8 and min(row["seconds_before"]) > 0 for row in kept)
    assert "| as one by one in the older version |" in text


def test_bad_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="sizes"):
        main(["gpu", "--sizes", "1"])
    with pytest.raises(SystemExit, match="abacus"):
        main(["gpu", "--devices", "abacus"])
    with pytest.raises(SystemExit):
        main(["gpu", "--output", "gpu.md"])
    assert "FILE.json" in capsys.readouterr().err
