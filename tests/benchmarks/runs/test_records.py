from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.runs.records import Record, read_records, slug, write_record


def make_record(**changes: object) -> Record:
    values = {
        "problem": "beale", "method": "EI-UBO", "seed": 0, "dim": 2, "num_initial": 1,
        "budget": 1, "start_box": [[0.0, 0.0], [1.0, 1.0]], "X": [[0.5, 0.5], [0.1, 2.0]],
        "Y": [-3.0, -0.1], "optimal_value": 0.0, "seconds": {"fit": [0.1]},
    }  # fmt: skip
    return Record(**{**values, **changes})


def test_written_and_read_back(tmp_path: Path) -> None:
    records = [make_record(seed=seed) for seed in range(3)]
    for record in records:
        path = write_record(tmp_path, record)
    assert path == tmp_path / "beale" / "ei-ubo.jsonl"
    assert list(read_records(tmp_path)) == records == list(read_records(path))
    assert json.loads(path.read_text().splitlines()[0])["inside"] == [True, True]


@pytest.mark.parametrize("share", [0.01, 0.5, 0.999])
def test_half_written_line_is_skipped_and_then_removed(tmp_path: Path, share: float) -> None:
    write_record(tmp_path, make_record(seed=0))
    path = write_record(tmp_path, make_record(seed=1))
    line = len(path.read_bytes()) // 2
    os.truncate(path, line + int(share * line))  # killed within the second line
    assert [record.seed for record in read_records(tmp_path)] == [0]
    write_record(tmp_path, make_record(seed=2))
    assert [record.seed for record in read_records(tmp_path)] == [0, 2]
    assert len(path.read_text().splitlines()) == 2


def test_first_line_half_written(tmp_path: Path) -> None:
    path = write_record(tmp_path, make_record())
    os.truncate(path, 20)
    assert list(read_records(tmp_path)) == []
    write_record(tmp_path, make_record(seed=7))
    assert [record.seed for record in read_records(path)] == [7]


def test_damaged_line_elsewhere_is_an_error(tmp_path: Path) -> None:
    path = write_record(tmp_path, make_record())
    path.write_text(path.read_text()[:40] + "\n" + path.read_text())
    with pytest.raises(ValueError, match=r"ei-ubo.jsonl, line 1"):
        list(read_records(tmp_path))


def test_last_record_of_a_run_counts(tmp_path: Path) -> None:
    write_record(tmp_path, make_record(status="failed", error="boom"))
    write_record(tmp_path, make_record())
    assert [record.status for record in read_records(tmp_path)] == ["ok"]


def test_infinite_values_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        write_record(tmp_path, make_record(Y=[float("-inf"), 0.0]))
    assert not list(tmp_path.rglob("*.jsonl"))


def test_wrong_content_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"schema": 2}\n')
    with pytest.raises(ValueError, match="schema 1"):
        list(read_records(path))
    path.write_text('{"schema": 1, "problem": "beale"}\n')
    with pytest.raises(ValueError, match=r"x.jsonl, line 1.*'start_box'"):
        list(read_records(path))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        list(read_records(tmp_path / "nowhere"))


def test_unknown_fields_of_later_versions_are_passed_over(tmp_path: Path) -> None:
    path = write_record(tmp_path, make_record())
    path.write_text(json.dumps({**json.loads(path.read_text()), "mood": "good"}) + "\n")
    assert list(read_records(path)) == [make_record()]


def test_file_names() -> None:
    assert slug("GPUCB-UBO (as published)") == "gpucb-ubo-as-published"
    assert slug("far_smooth2_d30") == "far_smooth2_d30"
