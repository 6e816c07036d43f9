from __future__ import annotations

import fcntl
from pathlib import Path

import pytest
from distributed import LocalCluster

from benchmarks.__main__ import main
from benchmarks.runs.records import read_records
from benchmarks.runs.table import read_table

TINY = ["--problems", "beale", "--methods", "CMA-ES", "EI-Vanilla", "--budget", "1"]


@pytest.mark.slow
def test_second_run_does_what_is_missing(
    tmp_path: Path, threads: None, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", *TINY, "--output", str(tmp_path)]
    assert main([*arguments, "--seeds", "0"]) == 0
    assert "2 runs finished, 0 failed" in capsys.readouterr().out
    before = {path: path.read_text() for path in tmp_path.rglob("*.jsonl")}
    assert main([*arguments, "--seeds", "0-1", "--dry-run"]) == 0
    assert "2 of 4 runs are missing" in capsys.readouterr().out
    assert main([*arguments, "--seeds", "0-1"]) == 0
    assert "2 runs finished" in capsys.readouterr().out
    assert {path: path.read_text()[: len(text)] for path, text in before.items()} == before
    assert len(list(read_records(tmp_path))) == 4
    packed = tmp_path / "packed" / "records.json.xz"
    assert main([*arguments, "--seeds", "0-1", "--pack", str(packed)]) == 0
    assert "nothing to do" in (out := capsys.readouterr().out) and "4 records packed" in out
    assert len(read_table([packed])) == 4


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    output = ["--output", str(tmp_path)]
    for arguments, message in (
        (["--problems", "bale"], "nearest are beale"),
        (["--problems", "beale", "--methods", "EI-UB0"], "EI-UBO"),
        (["--problems", "ref_beale"], "--reference"),
        ([], "--suite or --problems"),
        (["--problems", "beale", "--jobs", "0"], "--jobs"),
    ):
        with pytest.raises(SystemExit, match=message):
            main(["run", *arguments, *output])
    assert not list(tmp_path.rglob("*.jsonl"))


def test_two_writers_are_kept_apart(tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="no other `run`"):
            main(["run", *TINY, "--seeds", "0", "--output", str(tmp_path)])


def test_problem_that_cannot_be_evaluated_stops_the_command(tmp_path: Path, threads: None) -> None:
    """Data that are not there are no method's failure."""
    arguments = ["--problems", "mnist_mlp", "--methods", "CMA-ES", "--data-dir", str(tmp_path)]
    with pytest.raises(SystemExit, match="mnist_mlp cannot be run"):
        main(["run", *arguments, "--seeds", "0-3", "--output", str(tmp_path / "out")])
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.slow
def test_dask_workers(tmp_path: Path) -> None:
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        address = ["--scheduler", cluster.scheduler_address]
        arguments = ["run", *TINY, *address, "--seeds", "0-1", "--output", str(tmp_path)]
        assert main(arguments) == 0
    assert sorted((r.method, r.seed, r.status) for r in read_records(tmp_path)) == [
        ("CMA-ES", 0, "ok"), ("CMA-ES", 1, "ok"), ("EI-Vanilla", 0, "ok"), ("EI-Vanilla", 1, "ok"),
    ]  # fmt: skip


def test_dask_workers_with_several_threads_are_refused(tmp_path: Path) -> None:
    cluster = LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    )
    with cluster, pytest.raises(SystemExit, match="--nthreads 1"):
        address = ["--scheduler", cluster.scheduler_address]
        main(["run", *TINY, *address, "--seeds", "0", "--output", str(tmp_path)])
