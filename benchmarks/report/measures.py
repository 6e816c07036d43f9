"""Runs to measures: regret, evaluations to a target, box growth, seconds.

Of a run with ``num_initial`` initial points, evaluation ``0`` means "after the initial points".

``L``, the normalised log-regret, is the mean over seeds of
``log10(max(regret / regret of the best initial point, 1e-4))``: -1 is a tenth of what the initial
points had left to gain, and lower is better. The initial points are those that methods share, also
for one that has others.
"""

import math
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.problems.registry import kind_of
from benchmarks.runs.records import THINKING

REGRET_FLOOR = 1e-4
TARGET_SHARE = 0.01
TRACES = ["best", "trace", "growth", *THINKING]  # columns that hold a list per run
_ORDER = ["suite", "dim", "function", "distance", "problem", "method", "seed"]


def summarize(table: pd.DataFrame) -> pd.DataFrame:
    """A table of runs with their measures; failed runs have none."""
    frame = table.assign(
        suite=table["problem"].map(kind_of),
        function=table["problem"].str.replace(r"_d\d+$", "", regex=True),
        evaluations=table["best"].str.len() - 1,
    )
    done = frame[frame["status"] == "ok"]
    measures = pd.DataFrame([measure(run) for run in done.itertuples()], index=done.index)
    return frame.join(measures).sort_values(_ORDER, ignore_index=True)


def measure(run: Any) -> dict[str, Any]:
    """The measures of one finished run, a row of the table.

    ``lack`` is what the point that a user would pick leaves of the way from start to optimum.
    ``trace`` is the regret after the initial points and after each of ``budget`` evaluations, or
    the best value if the optimum is not known; a run that ended at its target keeps its value to
    the end. ``loss`` is what every comparison takes: lower is better, whatever the problem. The
    target is the run's own, or a regret of 1 % of the initial one; a run that never reaches it
    counts as its budget.
    """
    known = not math.isnan(run.optimal_value)
    best = np.pad(run.best, (0, max(0, run.budget + 1 - len(run.best))), mode="edge")
    regret = run.optimal_value - best
    first = best[0] if math.isnan(run.start_value) else run.start_value
    initial = run.optimal_value - first
    loss = log_regret(initial, regret[-1])
    own_target = not math.isnan(run.target)
    target = run.target if own_target else run.optimal_value - TARGET_SHARE * initial
    reached = np.flatnonzero(best >= target)
    seconds = np.sum([run.fit, run.geometry, run.acquisition], axis=0)
    return {
        "trace": (regret if known else best).tolist(),
        "initial_value": best[0],
        "best_value": best[-1],
        "initial_regret": initial,
        "regret": regret[-1],
        "picked_regret": run.optimal_value - run.picked,
        "log_regret": loss,
        "lack": 1 - (run.picked - first) / initial if initial > 0 else math.nan,
        "loss": loss if known else -best[-1],
        "evaluations_to_target": _first(reached, math.nan if math.isnan(target) else run.budget),
        "reached": len(reached) > 0,
        "log_growth": _first(run.growth[::-1], math.nan),
        **{f"seconds_{phase}": _mean(getattr(run, phase)) for phase in THINKING},
        "seconds_total": _mean(seconds),
        "seconds_median": np.median(seconds) if len(seconds) else math.nan,
    }


def log_regret(initial: float, final: float) -> float:
    """``log10`` of the final regret relative to the initial one, at least -4.

    NaN without an optimal value, or if the initial points leave nothing to gain.
    """
    if not (math.isfinite(initial) and initial > 0):
        return math.nan
    return math.log10(max(final / initial, REGRET_FLOOR))


def pivot(frame: pd.DataFrame, column: str = "loss", by: str = "problem") -> pd.DataFrame:
    """A row per problem and seed, a column per method, NaN where there is no run."""
    return frame.pivot(index=[by, "seed"], columns="method", values=column)


def _first(values: Any, otherwise: float) -> float:
    return values[0] if len(values) else otherwise


def _mean(values: Any) -> float:
    return np.mean(values) if len(values) else math.nan
