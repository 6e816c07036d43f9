from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.problems.problem import Sources, Suite
from benchmarks.runs.plan import Job, find_missing, plan_jobs
from benchmarks.runs.records import Record, write_record
from tests.support.authors_files import write_authors_run


def plan(problems: list[str], methods: list[str], seeds: list[int]) -> list[Job]:
    return plan_jobs([Suite("given", tuple(problems))], Sources(), methods, seeds)


def make_record(job: Job, status: str = "ok") -> Record:
    box = [[0.0, 0.0], [1.0, 1.0]]
    return Record(
        problem=job.problem, method=job.method, seed=job.seed, dim=2, num_initial=1,
        budget=job.budget, start_box=box, X=[[0.5, 0.5]], Y=[0.0], status=status,
    )  # fmt: skip


def test_jobs_come_seed_by_seed() -> None:
    jobs = plan(["beale", "levy3"], ["EI-UBO", "CMA-ES"], [0, 1])
    assert [job.seed for job in jobs] == [0] * 4 + [1] * 4
    assert [(job.problem, job.method) for job in jobs[:4]] == [
        ("beale", "EI-UBO"), ("beale", "CMA-ES"), ("levy3", "EI-UBO"), ("levy3", "CMA-ES"),
    ]  # fmt: skip
    assert [job.budget for job in jobs[:3]] == [20, 20, 30]


def test_authors_runs_are_planned_where_there_are_any(tmp_path: Path) -> None:
    write_authors_run(tmp_path, seed=1)
    suite = Suite("two", ("ref_beale", "beale"))
    jobs = plan_jobs([suite], Sources(reference=tmp_path), ["authors", "EI-UBO"], [0, 1], budget=7)
    assert [(job.problem, job.method, job.seed, job.budget) for job in jobs] == [
        ("beale", "EI-UBO", 0, 7), ("ref_beale", "authors", 1, 1), ("ref_beale", "EI-UBO", 1, 7),
        ("beale", "EI-UBO", 1, 7),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="--reference"):
        plan(["ref_beale"], ["EI-UBO"], [0])


def test_what_is_not_asked_for_is_as_the_suite_says() -> None:
    suite = Suite("one", ("beale",), seeds=(3,), methods=("CMA-ES",), budget=5)
    (job,) = plan_jobs([suite, suite], Sources())
    assert (job.key, job.budget) == (("beale", "CMA-ES", 3), 5)


def test_failed_runs_are_repeated_on_request_only(tmp_path: Path) -> None:
    jobs = plan(["beale"], ["EI-UBO", "CMA-ES", "HuBO"], [0])
    write_record(tmp_path, make_record(jobs[0], "failed"))
    write_record(tmp_path, make_record(jobs[1]))
    assert find_missing(jobs, tmp_path) == [jobs[2]]
    assert find_missing(jobs, tmp_path, retry_failed=True) == [jobs[0], jobs[2]]


def test_records_of_another_budget_or_version_are_refused(tmp_path: Path) -> None:
    (job,) = plan(["beale"], ["EI-UBO"], [0])
    write_record(tmp_path, make_record(replace(job, budget=3)))
    with pytest.raises(ValueError, match=r"budget of 20.*has 3"):
        find_missing([job], tmp_path)
    record = make_record(job)
    record.metadata["problem"] = {"preset": "paper"}
    write_record(tmp_path, record)
    with pytest.raises(ValueError, match=r"preset.*paper"):
        find_missing([job], tmp_path)
