from __future__ import annotations

import fcntl
from dataclasses import replace
from pathlib import Path

import pytest
from distributed import LocalCluster

from benchmarks.__main__ import main
from benchmarks.catalog import Sources
from benchmarks.plan import Job, describe_missing, find_missing, plan_jobs
from benchmarks.records import Record, read_records, write_record

TINY = ["--problems", "beale", "--methods", "CMA-ES", "EI-Vanilla", "--budget", "1"]


def make_record(job: Job, status: str = "ok") -> Record:
    box = [[0.0, 0.0], [1.0, 1.0]]
    return Record(
        problem=job.problem, method=job.method, seed=job.seed, dim=2, num_initial=1,
        budget=job.budget, start_box=box, X=[[0.5, 0.5]], Y=[0.0], status=status,
    )  # fmt: skip


def test_jobs_come_seed_by_seed() -> None:
    jobs = plan_jobs(["beale", "levy3"], ["EI-UBO", "CMA-ES"], [0, 1], Sources())
    assert [job.seed for job in jobs] == [0] * 4 + [1] * 4
    assert [(job.problem, job.method) for job in jobs[:4]] == [
        ("beale", "EI-UBO"), ("beale", "CMA-ES"), ("levy3", "EI-UBO"), ("levy3", "CMA-ES"),
    ]  # fmt: skip
    assert [job.budget for job in jobs[:3]] == [20, 20, 30]


def test_authors_runs_are_planned_where_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "Beale_1.json").write_text(
        '{"function": "Beale", "seed": 1, "initial_box": [[0, 1], [0, 1]], "X": [[0, 0], [1, 1]], '
        '"Y": [0, 1], "num_initial": 1, "boxes": []}'
    )
    sources = Sources(reference=tmp_path)
    jobs = plan_jobs(["ref_beale", "beale"], ["authors", "EI-UBO"], [0, 1], sources, budget=7)
    assert [(job.problem, job.method, job.seed, job.budget) for job in jobs] == [
        ("beale", "EI-UBO", 0, 7), ("ref_beale", "authors", 1, 1), ("ref_beale", "EI-UBO", 1, 7),
        ("beale", "EI-UBO", 1, 7),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="--reference"):
        plan_jobs(["ref_beale"], ["EI-UBO"], [0], Sources())


def test_failed_runs_are_repeated_on_request_only(tmp_path: Path) -> None:
    jobs = plan_jobs(["beale"], ["EI-UBO", "CMA-ES", "HuBO"], [0], Sources())
    write_record(tmp_path, make_record(jobs[0], "failed"))
    write_record(tmp_path, make_record(jobs[1]))
    assert find_missing(jobs, tmp_path) == [jobs[2]]
    assert find_missing(jobs, tmp_path, retry_failed=True) == [jobs[0], jobs[2]]
    assert "2 of 3 runs are missing" in describe_missing([jobs[0], jobs[2]], 3)


def test_records_of_another_budget_or_version_are_refused(tmp_path: Path) -> None:
    (job,) = plan_jobs(["beale"], ["EI-UBO"], [0], Sources())
    write_record(tmp_path, make_record(replace(job, budget=3)))
    with pytest.raises(ValueError, match=r"budget of 20.*has 3"):
        find_missing([job], tmp_path)
    record = make_record(job)
    record.metadata["problem"] = {"preset": "paper"}
    write_record(tmp_path, record)
    with pytest.raises(ValueError, match=r"preset.*paper"):
        find_missing([job], tmp_path)


def test_second_run_does_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
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
    packed = tmp_path / "packed" / "records.jsonl.gz"
    assert main([*arguments, "--seeds", "0-1", "--pack", str(packed)]) == 0
    assert "nothing to do" in (out := capsys.readouterr().out) and "4 records packed" in out
    assert len(list(read_records(packed))) == 4


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


def test_problem_that_cannot_be_evaluated_stops_the_command(tmp_path: Path) -> None:
    """Data that are not there are no method's failure."""
    arguments = ["--problems", "mnist_mlp", "--methods", "CMA-ES", "--data-dir", str(tmp_path)]
    with pytest.raises(SystemExit, match="mnist_mlp cannot be run"):
        main(["run", *arguments, "--seeds", "0-3", "--output", str(tmp_path / "out")])
    assert not list(tmp_path.rglob("*.jsonl"))


def test_dask_workers(tmp_path: Path) -> None:
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        address = ["--scheduler", cluster.scheduler_address]
        arguments = ["run", *TINY, *address, "--seeds", "0-1", "--output", str(tmp_path)]
        assert main(arguments) == 0
    assert sorted((r.method, r.seed, r.status) for r in read_records(tmp_path)) == [
        ("CMA-ES", 0, "ok"), ("CMA-ES", 1, "ok"), ("EI-Vanilla", 0, "ok"), ("EI-Vanilla", 1, "ok"),
    ]  # fmt: skip


def test_dask_workers_with_several_threads_are_refused(tmp_path: Path) -> None:
    cluster = LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    )
    with cluster, pytest.raises(SystemExit, match="--nthreads 1"):
        address = ["--scheduler", cluster.scheduler_address]
        main(["run", *TINY, *address, "--seeds", "0", "--output", str(tmp_path)])
