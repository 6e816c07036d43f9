"""Sections of a report on problems that are compared by their final value."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from benchmarks.analysis import SUITES
from benchmarks.comparison import (
    differences_by_problem,
    geometric_mean,
    mean_interval,
    pair_up,
    ratios,
)
from benchmarks.distances import evaluations_table
from benchmarks.figures import draw_curves, draw_growth
from benchmarks.markdown import MISSING, interval, method_table, percent, plain, signed, write_table
from benchmarks.rankings import write_ranks
from benchmarks.study import AUTHORS, Study

L_TEXT = (
    "L is the mean over seeds of log10(max(regret / regret of the best initial point, 1e-4)): "
    "-1 is a tenth of the initial regret, lower is better."
)


def write_suite(study: Study, suite: str, directory: Path) -> str:
    """One kind of problems: curves, final values, ratios, ranks, tests, boxes."""
    rows = study.rows(suite)
    seeds = rows.groupby("problem")["seed"].nunique()
    runs = ", ".join(f"{name} ({count})" for name, count in seeds.items())
    parts = [f"## {SUITES[suite]}", f"Problems (seeds): {runs}."]
    parts += _curves(study, suite, directory)
    parts += _final_values(study, suite) if suite == "tuning" else _regrets(study, suite)
    if suite == "near":
        parts += [
            "Evaluations until 1 % of the initial regret, and in brackets the ratio to the oracle; "
            "a dagger counts runs that never got there and count as their budget.",
            evaluations_table(rows, study.ordered(suite), study.oracle, "problem"),
        ]
    parts += write_ranks(study, suite, directory)
    parts += _growth(study, suite, directory)
    return "\n\n".join(parts)


def _curves(study: Study, suite: str, directory: Path) -> list[str]:
    records, shown = study.finished(suite), study.shown(suite)
    text = []
    for statistic in ("mean", "median"):
        name = f"{suite}_{statistic}.png"
        draw_curves(records, shown, study.styles, statistic, directory / name)
        text.append(f"![Best so far, {statistic}, of {', '.join(shown)}]({name})")
    few = set(study.ordered(suite)) - set(shown)
    return [*text, "The curves show a few methods, the tables all of them."] if few else text


def by_problem(
    rows: pd.DataFrame, column: str, order: list[str], how: str = "mean"
) -> pd.DataFrame:
    """A row per method in the given order, a column per problem."""
    table = rows.pivot_table(index="method", columns="problem", values=column, aggfunc=how)
    return table.reindex(index=order, columns=rows["problem"].unique())


def _spread(rows: pd.DataFrame, column: str, order: list[str]) -> list[str]:
    """Tables of mean and standard error, and of median and quartiles."""
    groups = rows.groupby(["problem", "method"])[column]
    statistics = groups.agg(["mean", "sem"]).join(groups.quantile([0.25, 0.5, 0.75]).unstack())
    problems = list(rows["problem"].unique())
    cells = {"Mean ± standard error:": _mean_cell, "Median and quartiles:": _median_cell}
    parts = []
    for title, cell in cells.items():
        lines = [
            [m, *(cell(statistics.loc[p, m]) if (p, m) in statistics.index else MISSING
                  for p in problems)]
            for m in order
        ]  # fmt: skip
        parts += [title, write_table(["method", *problems], lines)]
    return parts


def _mean_cell(row: pd.Series) -> str:
    return plain(row["mean"]) + ("" if math.isnan(row["sem"]) else f" ± {plain(row['sem'])}")


def _median_cell(row: pd.Series) -> str:
    return plain(row[0.5]) + interval(row[0.25], row[0.75])


def _regrets(study: Study, suite: str) -> list[str]:
    rows, order = study.rows(suite), study.ordered(suite)
    apart = study.told
    parts = ["### Normalised log-regret", L_TEXT + _incomplete_means(study, suite)]
    parts.append(method_table(by_problem(rows, "log_regret", order), signed, apart=apart))
    parts += _ratios(study, suite)
    parts += ["### Final regret", *_spread(rows, "regret", order)]
    if suite == "noisy":
        parts.append("Mean regret of the point with the best *observed* value, which a user takes:")
        parts.append(method_table(by_problem(rows, "picked_regret", order), apart=apart))
    parts.append("### Share of evaluations outside the domain")
    parts.append("Of the evaluations after the initial points, mean over seeds.")
    parts.append(method_table(by_problem(rows, "outside_share", order), percent, lowest=None))
    return parts


def _incomplete_means(study: Study, suite: str) -> str:
    lacking = pair_up(study.losses(suite)).lacking
    if not lacking:
        return ""
    return f" These lack runs, and their means are over what there is: {', '.join(lacking)}."


def _ratios(study: Study, suite: str) -> list[str]:
    reference = AUTHORS if suite == "reference" else study.oracle
    title = "Ratio to the authors' runs" if suite == "reference" else "Oracle ratio"
    losses = study.losses(suite)
    if reference not in losses.columns:
        return [f"### {title}", f"No records of {reference}, so there is no ratio to it."]
    meaning = "their code" if suite == "reference" else "LogEI told the true domain"
    table = ratios(losses, reference).T
    table = table.reindex(index=study.ordered(suite), columns=study.problems(suite))
    means = geometric_mean(table.T)
    cells = []
    for name in table.index:
        samples = list(differences_by_problem(losses, str(name), reference).values())
        low, high = mean_interval(samples)
        known = name != reference and not math.isnan(means[name])
        cells.append(plain(means[name]) + (interval(10**low, 10**high) if known else ""))
    return [
        f"### {title}",
        f"10^(L of the method - L of {reference}) over common seeds: 1 is as good as {meaning}, "
        "lower is better. The last column is the geometric mean over problems with its 95 % "
        "bootstrap interval (seeds resampled within each problem).",
        method_table(table, apart=[reference, *study.told], extra={"geometric mean": cells}),
    ]


def _final_values(study: Study, suite: str) -> list[str]:
    parts = ["### Final best value", "Higher is better; the optimum is not known."]
    return [*parts, *_spread(study.rows(suite), "best_value", study.ordered(suite))]


def _growth(study: Study, suite: str, directory: Path) -> list[str]:
    name = f"{suite}_boxes.png"
    drawn = draw_growth(study.finished(suite), study.shown(suite), study.styles, directory / name)
    return ["### Box growth", f"![Growth of the box]({name})"] if drawn else []
