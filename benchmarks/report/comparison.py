"""Methods against one of them, with functions as what is sampled: whether a difference would be
found again on other functions, not on other seeds of these.
"""

from datetime import UTC, datetime

import numpy as np
import pandas as pd

from benchmarks.problems import families, highdim, plains
from benchmarks.problems.registry import HEADINGS
from benchmarks.report.markdown import MISSING, interval, percent, plain, signed, write_table
from benchmarks.report.measures import pivot
from benchmarks.report.statistics import sample_interval

DIFFERENCE = "difference [95 %]"
ABOUT = {
    "log_regret": "L: mean over runs of log10(max(regret / regret of the best initial point, "
    "1e-4)), lower is better.",
    "log_evaluations": "L: mean over runs of log10(evaluations to 1 % of the initial regret).",
    "loss": "L: minus the best value; the optimum is not known.",
    "lack": "L: what is left of the way from the start to the best known value, mean over runs; "
    "lower is better. The value is that of the point with the best observation.",
}
_LACKING = ("tuning", *(family.kind for family in plains.FAMILIES))
_LOGARITHMS = ("log_regret", "log_evaluations")


def write_comparison(frame: pd.DataFrame, baseline: str) -> str:
    """Tables of every kind of problems in a frame of runs with their measures."""
    done = frame[frame["status"] == "ok"].assign(
        log_evaluations=lambda rows: np.log10(rows["evaluations_to_target"].clip(lower=1))
    )
    parts = [
        _compare(rows, suite, baseline)
        for suite in HEADINGS
        if len(rows := done[done["suite"] == suite])
    ]
    failed = frame[frame["status"] != "ok"]
    parts += [
        f"failed: {r.problem}, {r.method}, seed {r.seed}: {r.error}" for r in failed.itertuples()
    ]
    return "\n\n".join(parts)


def _compare(rows: pd.DataFrame, suite: str, baseline: str) -> str:
    column = loss_column(rows, suite)
    losses = pivot(rows, column)
    if baseline not in losses:
        return f"## {HEADINGS[suite]}\n\nNo finished runs of {baseline}, the baseline."
    means = losses.groupby(level="problem").mean()
    order = means.mean().sort_values(kind="stable").index
    dims = rows.drop_duplicates("problem").set_index("problem")["dim"].sort_values(kind="stable")
    differences = losses.sub(losses[baseline], axis=0).groupby(level="problem").mean()[order]
    by_dim = differences.groupby(dims.reindex(differences.index)).mean().T
    parts = [
        f"## {HEADINGS[suite]}",
        f"{ABOUT[column]} Difference to {baseline} over common runs, mean over "
        f"{len(differences)} functions with its 95 % interval (functions resampled); ratio: 10 to "
        "the difference of logarithms. Worst: the largest L of a function. Ranks over runs that "
        "all have. Farthest: sides of the start box beyond it. Evaluating, thinking: seconds of "
        "all evaluations, and of a suggestion.",
        write_table(_overview(rows, losses, differences, column in _LOGARITHMS)),
        f"Differences to {baseline} by dimension:",
        write_table(by_dim.map(signed).rename(columns=lambda dim: f"d = {dim}")),
        "L by function:",
        write_table(means.loc[dims.index, order].map(signed), "function"),
    ]
    unknown = rows[rows["optimal_value"].isna()]
    if column == "log_regret" and len(unknown):
        best = pivot(unknown, "best_value").groupby(level="problem").mean()[order]
        parts += [
            "Best values where the optimum is not known, mean over seeds; higher is better:",
            write_table(best.map("{:.3f}".format), "function"),
        ]
    if column == "lack":
        parts += _tasks(rows, list(order))
    if suite in (families.JUDGE, highdim.JUDGE, plains.JUDGE):
        parts += _entry(rows, differences, baseline)
    return "\n\n".join(parts)


def loss_column(rows: pd.DataFrame, suite: str) -> str:
    """Which measure is L in a suite."""
    if suite == "far":
        return "log_evaluations"
    if suite in _LACKING:
        return "lack"
    return "log_regret" if rows["log_regret"].notna().any() else "loss"


def _overview(
    rows: pd.DataFrame, losses: pd.DataFrame, differences: pd.DataFrame, logarithms: bool
) -> pd.DataFrame:
    """A row of ready cells per method."""
    means, by_method = losses.groupby(level="problem").mean(), rows.groupby("method")
    columns = {
        "L": means.mean().map(signed),
        **pd.DataFrame({name: _difference(differences[name]) for name in differences}).T,
        "worst": means.max().map(signed),
        "mean rank": losses.dropna().rank(axis=1).mean().map(plain),
        "farthest": by_method["farthest"].max().map(plain),
        "evaluating": by_method["evaluating"].sum().map(plain),
        "thinking": by_method["seconds_total"].mean().map(plain),
        "runs": losses.notna().sum().map(str),
    }
    cells = pd.DataFrame(columns).loc[differences.columns]
    return cells if logarithms else cells.drop(columns="ratio")


def _difference(differences: pd.Series) -> dict[str, str]:
    values = differences.dropna().to_numpy()
    if not values.any():
        return dict.fromkeys((DIFFERENCE, "ratio", "better / worse"), MISSING)
    mean = values.mean()
    return {
        DIFFERENCE: signed(mean) + interval(*sample_interval(values), signed),
        "ratio": plain(10**mean),
        "better / worse": f"{(values < 0).sum()} / {(values > 0).sum()}",
    }


def _tasks(rows: pd.DataFrame, order: list[str]) -> list[str]:
    """What a tuner asks of every task: how much was gained, how far it went, what it cost."""
    groups = rows.groupby(["problem", "method"])
    cells = (
        (1 - groups["lack"].mean()).map(percent)
        + " ("
        + groups["farthest"].max().map("{:.0f}".format)
        + "; "
        + groups["evaluating"].mean().map("{:.1f}".format)
        + ")"
    )
    first = rows.drop_duplicates("problem").set_index("problem")
    table = cells.unstack()[order]
    table.insert(0, "best known", first["optimal_value"].map(plain))
    table.insert(0, "start", first["start_value"].map(plain))
    table.insert(2, "sides away", first["distance"].map("{:.1f}".format))
    return [
        "Share of the way from the start to the best known value (sides of the start box beyond "
        "it, the largest; seconds of a run's evaluations):",
        write_table(table, "task"),
    ]


def _entry(rows: pd.DataFrame, differences: pd.DataFrame, baseline: str) -> list[str]:
    """The line of this look for the benchmarks' ``README.md``."""
    found = rows["metadata"].iloc[-1]
    results = "; ".join(
        f"{name} {_difference(differences[name])[DIFFERENCE]}"
        for name in differences
        if name != baseline
    )
    text = f"{rows['seed'].nunique()} seeds against {baseline}"
    today = datetime.now(UTC).date()
    return [
        "A look at a judging half: add this line to benchmarks/README.md.",
        f"| {today} | {found.get('commit') or 'not known':.7} | {text} | {results} |",
    ]
