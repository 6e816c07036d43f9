"""Records to measures: regret, evaluations to a target, box growth, seconds.

Of a run with ``num_initial`` initial points, evaluation ``0`` means "after the initial points".
Where a problem has larger values outside its domain than inside, only points inside count.

``L``, the normalised log-regret, is the mean over seeds of
``log10(max(regret / regret of the best initial point, 1e-4))``: -1 is a tenth of what the initial
points had left to gain, and lower is better.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.records import PHASES, Record

Array = npt.NDArray[np.float64]

REGRET_FLOOR = 1e-4
TARGET_SHARE = 0.01
SUITES = {
    "paper": "The paper's protocol",
    "others": "Functions that are not the paper's, under its protocol",
    "variants": "The authors' variants of textbook functions",
    "noisy": "With noise",
    "near": "Start box that holds the optimum",
    "useless": "A dimension that does not matter",
    "plateau": "All initial values equal",
    "reference": "From the starts of the authors' runs",
    "tuning": "Tuning, optimum not known",
    "far": "Far optimum",
}
"""Kinds of problems, whose results are not averaged with each other, and their headings."""
_PREFIXES = {
    "other_": "others",
    "ref_": "reference",
    "near_": "near",
    "useless_": "useless",
    "plateau_": "plateau",
}
_SUFFIXES = {"_noisy": "noisy", "_authors": "variants"}
THINKING = tuple(phase for phase in PHASES if phase != "evaluate")


def suite_of(record: Record) -> str:
    """The kind of a record's problem, by what the record or the problem's name says."""
    if record.distance is not None:
        return "far"
    if record.optimal_value is None:
        return "tuning"
    for prefix, suite in _PREFIXES.items():
        if record.problem.startswith(prefix):
            return suite
    for suffix, suite in _SUFFIXES.items():
        if record.problem.endswith(suffix):
            return suite
    return "paper"


def function_of(record: Record) -> str:
    """The problem's name without its distance: ``far_smooth2_d30`` to ``far_smooth2``."""
    if record.distance is None:
        return record.problem
    return re.sub(rf"_d?{record.distance:g}$", "", record.problem)


def counted_values(record: Record) -> Array:
    """``Y``, with minus infinity where a point does not count."""
    values = np.array([-math.inf if y is None else y for y in record.Y], dtype=float)
    if record.scored_inside_only:
        values[~np.array(record.inside, dtype=bool)] = -math.inf
    return values


def best_so_far(record: Record) -> Array:
    """Best value after the initial points and after each of ``budget`` evaluations.

    A run that ended at its target keeps its value to the end.
    """
    best = np.maximum.accumulate(counted_values(record))[record.num_initial - 1 :]
    return np.pad(best, (0, max(0, record.budget + 1 - len(best))), mode="edge")


def regret_trace(record: Record) -> Array:
    """Optimal value minus ``best_so_far``; NaN if the optimal value is not known."""
    optimum = math.nan if record.optimal_value is None else record.optimal_value
    return optimum - best_so_far(record)


def log_regret(record: Record) -> float:
    """``log10`` of the final regret relative to the initial one, at least -4.

    NaN without an optimal value, or if the initial points leave nothing to gain.
    """
    trace = regret_trace(record)
    if not (math.isfinite(trace[0]) and trace[0] > 0):
        return math.nan
    return math.log10(max(trace[-1] / trace[0], REGRET_FLOOR))


def picked_regret(record: Record) -> float:
    """Regret of the point with the best observed value: what a user with noise would take."""
    if record.optimal_value is None:
        return math.nan
    observed = record.Y if record.Y_observed is None else record.Y_observed
    seen = np.where(np.isfinite(counted_values(record)), observed, -math.inf)
    return record.optimal_value - float(record.Y[int(np.argmax(seen))])


def evaluations_to_target(record: Record) -> tuple[int, bool]:
    """Evaluations after the initial points until the target, and whether it was reached.

    The target is the record's, or a regret of 1 % of the initial one. A run that never reaches
    it counts as its budget.
    """
    best = best_so_far(record)
    target = record.target
    if target is None:
        if record.optimal_value is None:
            raise ValueError(f"Expected a target or an optimal value; {record.key} has neither.")
        target = record.optimal_value - TARGET_SHARE * (record.optimal_value - best[0])
    reached = np.flatnonzero(best >= target)
    return (int(reached[0]), True) if len(reached) else (record.budget, False)


def box_growth(record: Record) -> Array:
    """Mean over dimensions of ``log10(side / start side)`` of the box of every suggestion.

    Empty for a method that records no boxes; NaN before its first one.
    """
    if not record.boxes:
        return np.empty(0)
    start = np.array(record.start_box, dtype=float)
    growth = np.full(len(record.Y) - record.num_initial, math.nan)
    for box in record.boxes:
        bounds = np.array(box["bounds"], dtype=float)
        growth[box["t"] :] = np.log10((bounds[1] - bounds[0]) / (start[1] - start[0])).mean()
    return growth


def suggestion_seconds(record: Record) -> dict[str, Array]:
    """Seconds of every suggestion by phase, without the evaluation, and their ``total``."""
    phases = {name: np.array(record.seconds.get(name, []), dtype=float) for name in THINKING}
    known = [values for values in phases.values() if len(values)]
    return {**phases, "total": np.sum(known, axis=0) if known else np.empty(0)}


def summarize(records: Iterable[Record]) -> pd.DataFrame:
    """One row per problem, method and seed; failed runs keep their row without measures."""
    rows = [_row(record) for record in records]
    if not rows:
        raise ValueError("Expected records; got none. `python -m benchmarks run` makes them.")
    order = ["suite", "dim", "function", "distance", "problem", "method", "seed"]
    return pd.DataFrame(rows).sort_values(order, ignore_index=True)


def _row(record: Record) -> dict[str, object]:
    row: dict[str, object] = {
        "suite": suite_of(record),
        "problem": record.problem,
        "function": function_of(record),
        "dim": record.dim,
        "distance": math.nan if record.distance is None else record.distance,
        "method": record.method,
        "seed": record.seed,
        "status": record.status,
        "num_initial": record.num_initial,
        "budget": record.budget,
        "evaluations": len(record.Y) - record.num_initial,
    }
    return {**row, **_measures(record)} if record.status == "ok" else row


def _measures(record: Record) -> dict[str, object]:
    best, regret = best_so_far(record), regret_trace(record)
    suggested = record.inside[record.num_initial :]
    has_target = record.target is not None or record.optimal_value is not None
    needed, reached = evaluations_to_target(record) if has_target else (math.nan, False)
    growth = box_growth(record)
    seconds = suggestion_seconds(record)
    # A loss is what every comparison takes: lower is better, whatever the problem.
    value = log_regret(record)
    return {
        "initial_value": best[0],
        "best_value": best[-1],
        "initial_regret": regret[0],
        "regret": regret[-1],
        "picked_regret": picked_regret(record),
        "log_regret": value,
        "loss": -best[-1] if record.optimal_value is None else value,
        "outside_share": 1.0 - float(np.mean(suggested)) if suggested else math.nan,
        "evaluations_to_target": needed,
        "reached": reached,
        "log_growth": growth[-1] if len(growth) else math.nan,
        **{f"seconds_{name}": _mean(values) for name, values in seconds.items()},
        "seconds_median": float(np.median(seconds["total"])) if len(seconds["total"]) else math.nan,
    }


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else math.nan


def pivot(frame: pd.DataFrame, column: str = "loss") -> pd.DataFrame:
    """A row per problem and seed, a column per method, NaN where there is no run."""
    done = frame[frame["status"] == "ok"]
    return done.pivot(index=["problem", "seed"], columns="method", values=column)


def stack_traces(traces: Sequence[Array]) -> Array:
    """Traces as rows; shorter ones (a smaller budget) end in NaN."""
    length = max(len(trace) for trace in traces)
    return np.stack([np.pad(t, (0, length - len(t)), constant_values=math.nan) for t in traces])
