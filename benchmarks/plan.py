"""What is to be run, and what of it a directory lacks."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import catalog
from benchmarks.catalog import Sources
from benchmarks.contenders import AUTHORS
from benchmarks.records import Key, Record, read_records
from benchmarks.suites import Suite, resolve_methods


@dataclass(frozen=True)
class Job:
    """One run."""

    problem: str
    method: str
    seed: int
    budget: int
    notes: str
    """What the problem says of itself, as JSON: a record with other notes is of another problem."""

    @property
    def key(self) -> Key:
        return self.problem, self.method, self.seed


def plan_jobs(
    problems: Iterable[str],
    methods: Sequence[str],
    seeds: Sequence[int],
    sources: Sources,
    budget: int | None = None,
) -> list[Job]:
    """All runs, seed by seed, so that a part of them has every method equally often.

    Of problems ``ref_...`` only the seeds with a run of the authors' are taken, and the method
    ``authors`` exists for them alone.
    """
    names = list(dict.fromkeys(problems))
    jobs = []
    for seed in seeds:
        for name in names:
            reference = name in catalog.REFERENCE
            if reference and sources.reference is None:
                raise ValueError(f"Expected --reference DIR with the authors' runs for {name}.")
            if reference and seed not in catalog.reference_seeds(name, sources):
                continue
            problem = catalog.find_problem(name, seed, sources)
            own = problem.num_evaluations or catalog.EVALUATIONS_PER_DIM * problem.dim
            for method in methods:
                if method != AUTHORS:
                    count = own if budget is None else budget
                    jobs.append(Job(name, method, seed, count, _dump(problem.notes)))
                elif reference:
                    jobs.append(Job(name, method, seed, own, _dump(problem.notes)))
    return jobs


def plan_suites(
    suites: Sequence[Suite],
    problems: Sequence[str],
    sources: Sources,
    methods: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    budget: int | None = None,
) -> list[Job]:
    """All runs of suites and of further problems; what is ``None`` is as the suites say."""
    parts = [*suites, *([Suite("given by name", tuple(problems))] if problems else [])]
    if not parts:
        raise ValueError("expected --suite or --problems; see --help")
    jobs: dict[Key, Job] = {}
    for part in parts:
        planned = plan_jobs(
            part.problems,
            resolve_methods(methods or part.methods or ("all",)),
            part.seeds if seeds is None else seeds,
            sources,
            part.budget if budget is None else budget,
        )
        jobs.update({job.key: job for job in planned})
    # Sorting is stable: seed by seed over all suites, each of which is in its own order.
    return sorted(jobs.values(), key=lambda job: job.seed)


def find_missing(jobs: Sequence[Job], directory: Path, retry_failed: bool = False) -> list[Job]:
    """The jobs without a record.

    Raises:
        ValueError: If there is a record of the same name with another budget or of another
            version of the problem; results would then not be comparable.
    """
    if not directory.exists():
        return list(jobs)
    records = {record.key: record for record in read_records(directory)}
    missing = []
    for job in jobs:
        record = records.get(job.key)
        if record is not None:
            _check_same(job, record, directory)
        if record is None or (retry_failed and record.status == "failed"):
            missing.append(job)
    return missing


def describe_missing(missing: Sequence[Job], total: int) -> str:
    """How many, and for each problem which methods with how many seeds."""
    lines = [f"{len(missing)} of {total} runs are missing"]
    problems: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for job in missing:
        problems[job.problem][job.method].append(job.seed)
    for problem, methods in problems.items():
        lines.append(problem)
        for method, seeds in methods.items():
            lines.append(f"  {method}: seeds {', '.join(map(str, seeds))}")
    return "\n".join(lines)


def _check_same(job: Job, record: Record, directory: Path) -> None:
    notes = _dump(record.metadata.get("problem", {}))
    if (record.budget, notes) != (job.budget, job.notes):
        raise ValueError(
            f"Expected records of {job.problem} with a budget of {job.budget} and {job.notes} in "
            f"{directory}; {job.method}, seed {job.seed} has {record.budget} and {notes}. Use "
            "another --output, or the --budget and --preset of that record."
        )


def _dump(notes: dict[str, Any]) -> str:
    return json.dumps(notes, sort_keys=True)
