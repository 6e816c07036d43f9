"""The command: what is there is not run again."""

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.runs.outcomes import first_evaluations


@pytest.mark.slow
def test_runs_are_kept_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["outcomes", "--problems", "bird2", "two_bowls3", "--seeds", "0", "--budget", "1"]
    arguments += ["--output", str(tmp_path)]
    assert main(arguments) == 0
    files = sorted(tmp_path.glob("*.json"))
    assert len(files) == 6  # two problems, three methods
    record = json.loads(files[0].read_text())
    assert record["status"] == "completed" and len(record["measure"]) == 2
    before = [file.stat().st_mtime_ns for file in files]
    assert main(arguments) == 0
    assert [file.stat().st_mtime_ns for file in files] == before
    assert "| bird2 |" in (tmp_path / "report.md").read_text()


def test_unknown_problems_are_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="expected one of"):
        main(["outcomes", "--problems", "nothing", "--output", str(tmp_path)])


def test_a_record_is_cut_to_its_first_evaluations() -> None:
    record = {
        "problem": "bird2",
        "status": "completed",
        "num_initial": 1,
        "budget": 3,
        "X": [[0.0, 0.0]] * 4,
        "Y": [[1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [1.0, 1.0]],
        "measure": [4.0, 3.0, 2.0, 1.0],
        "infeasible": 2,
    }
    cut = first_evaluations(record, 2)
    assert cut["measure"] == [4.0, 3.0, 2.0] and len(cut["X"]) == len(cut["Y"]) == 3
    assert cut["budget"] == 2 and cut["infeasible"] == 1
    assert first_evaluations(record, 3) == record
