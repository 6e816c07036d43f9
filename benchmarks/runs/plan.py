"""What is to be run, and what of it a directory lacks."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.methods.registry import resolve_methods
from benchmarks.problems import reference
from benchmarks.problems.problem import EVALUATIONS_PER_DIM, Sources, Suite
from benchmarks.problems.registry import find_problem
from benchmarks.runs.records import Key, Record, read_records


@dataclass(frozen=True)
class Job:
    """One run.

    ``notes`` is what the problem says of itself, as JSON: a record with other notes is of another
    problem.
    """

    problem: str
    method: str
    seed: int
    budget: int
    notes: str

    @property
    def key(self) -> Key:
        return self.problem, self.method, self.seed


def plan_jobs(
    suites: Iterable[Suite],
    sources: Sources,
    methods: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    budget: int | None = None,
) -> list[Job]:
    """All runs of suites; what is ``None`` is as they say.

    They come seed by seed, so that a part of them has every method equally often. Of problems
    ``ref_...`` only the seeds with a run of the authors' are taken, and the method ``authors``
    exists for them alone.
    """
    jobs: dict[Key, Job] = {}
    for suite in suites:
        names = resolve_methods(methods or suite.methods)
        for seed in suite.seeds if seeds is None else seeds:
            for problem in suite.problems:
                wanted = suite.budget if budget is None else budget
                found = _plan_problem(problem, seed, sources, names, wanted)
                jobs.update({job.key: job for job in found})
    # Sorting is stable: seed by seed over all suites, each of which is in its own order.
    return sorted(jobs.values(), key=lambda job: job.seed)


def _plan_problem(
    name: str, seed: int, sources: Sources, methods: Sequence[str], budget: int | None
) -> Iterator[Job]:
    is_reference = name in reference.NAMES
    if is_reference and seed not in reference.authors_seeds(name, sources):
        return
    problem = find_problem(name, seed, sources)
    own = problem.num_evaluations or EVALUATIONS_PER_DIM * problem.dim
    for method in methods:
        is_authors = method == reference.AUTHORS
        if is_reference or not is_authors:
            count = own if is_authors or budget is None else budget
            yield Job(name, method, seed, count, _dump(problem.notes))


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
