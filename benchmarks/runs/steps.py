"""What a full set of results consists of, step by step, and about how long a step takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.runs.plan import Job
from benchmarks.runs.records import THINKING

CORES = 2  # of the machine that hours are told for
_PAPERS = ("GPUCB-UBO", "GPUCB-FBO", "EI-Vanilla", "EI-Volx2", "EI-H", "EI-Q", "GPUCB-Vanilla",
           "GPUCB-Volx2")  # fmt: skip
_NEWER = ("EI-Turns", "EI-Roaming", "EI-UBO", "HuBO-EI", "TuRBO-1", "EI-VarCap", "CMA-ES")
_TOLD = ("same-told", "same-told-spread", "LogEI-oracle")
_TWO_LEFT = ("HuBO", "HD-HuBO", "HD-HuBO-EI", "LogEI-wide5", "LogEI-wide25", "Optuna-GP-wide5")
_PUBLISHED = "GPUCB-UBO (as published)"


@dataclass(frozen=True)
class Step:
    """One call of ``run``, or of another command that keeps what it has done.

    Attributes:
        name: To choose it by.
        words: The command's arguments without ``--output`` and ``--jobs``.
        needs: An option of ``results`` without which the step is left out.
    """

    name: str
    words: tuple[str, ...]
    needs: str | None = None


def _run(
    name: str, methods: Sequence[str], seeds: str, *more: str, needs: str | None = None
) -> Step:
    suites = ("--suite", *name.split("+"))
    return Step(name, (*suites, "--methods", *methods, "--seeds", seeds, *more), needs)


STEPS: tuple[Step, ...] = (
    _run("paper5", (*_PAPERS, *_NEWER, *_TOLD, *_TWO_LEFT, _PUBLISHED), "0-29"),
    _run("highdim", (*_PAPERS, *_NEWER, *_TOLD), "0-29"),
    _run("families-judge", ("contest", "EI-Roaming"), "0-4"),
    _run("plains-judge", ("contest", "EI-Roaming"), "0-2"),
    _run("highdim-judge", ("EI-Turns", "TuRBO-1"), "0"),
    _run("far", ("EI-Turns", "HuBO-EI", "TuRBO-1", "CMA-ES", *_TOLD), "0-4"),
    _run("others", ("contest",), "0-4"),
    _run("near+useless+plateau", ("EI-Turns", "HuBO-EI", "TuRBO-1", *_TOLD), "0-4"),
    _run("plateau", ("EI-Roaming",), "0-4"),
    _run("noisy", ("EI-Turns", "HuBO-EI", "TuRBO-1", *_TOLD), "0-4"),
    _run("tuning", ("contest",), "0-2"),
    _run("reference", ("authors", _PUBLISHED, "GPUCB-UBO", "EI-Turns"), "0-5", needs="reference"),
    _run("mnist", (*_PAPERS, "EI-Turns"), "0-9", "--preset", "cpu", needs="data_dir"),
)


def estimate_hours(jobs: Sequence[Job], dims: dict[str, int], measured: pd.DataFrame) -> float:
    """Hours of two cores for runs, from those of earlier ones.

    Of a method on a problem, else of the method in that dimension, else of all methods there, else
    of all: the mean seconds of an evaluation, thinking and evaluating, times the budget.
    """
    thinking = sum(measured[phase].map(sum) for phase in THINKING)
    # Records packed by older versions do not tell what evaluations took.
    evaluating = measured["evaluating"].fillna(0.0) if "evaluating" in measured else 0.0
    each = (thinking + evaluating) / measured["budget"].clip(lower=1)
    rows = measured.assign(each=each)
    own = rows.groupby(["method", "problem"])["each"].mean().to_dict()
    by_dim = rows.groupby(["method", "dim"])["each"].mean().to_dict()
    any_there = rows.groupby("dim")["each"].mean().to_dict()
    overall = float(each.mean())
    seconds = 0.0
    for job in jobs:
        dim = dims[job.problem]
        typical = by_dim.get((job.method, dim), any_there.get(dim, overall))
        seconds += job.budget * own.get((job.method, job.problem), typical)
    return seconds / 3600 / CORES


def foreign_code(table: pd.DataFrame, code: str) -> dict[str, int]:
    """Runs of other sources than these, counted by their fingerprint; the authors' are exempt."""
    ours = table[table["method"] != "authors"]["metadata"].map(lambda m: m.get("code", "none"))
    counts = ours[ours != code].value_counts()
    return {str(name): int(count) for name, count in counts.items()}


def has_records(directory: Path) -> bool:
    """Whether there is anything to go on from."""
    return directory.is_dir() and any(directory.rglob("*.jsonl"))
