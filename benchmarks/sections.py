"""Sections of a report on problems that are compared by their final value."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.analysis import SUITES
from benchmarks.comparison import (
    compare_with,
    differences_by_problem,
    friedman,
    geometric_mean,
    mean_interval,
    rank,
    ratios,
    split_complete,
)
from benchmarks.distances import evaluations_table
from benchmarks.figures import draw_critical_difference, draw_curves, draw_growth
from benchmarks.markdown import interval, method_table, p_value, percent, plain, signed, write_table
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
    parts += _final_values(study, suite) if suite == "unknown" else _regrets(study, suite)
    if suite == "inside":
        parts += [
            "Evaluations until 1 % of the initial regret, and in brackets the ratio to the oracle; "
            "a dagger counts runs that never got there and count as their budget.",
            evaluations_table(rows, study.ordered(suite), study.oracle, "problem"),
        ]
    parts += _ranks(study, suite, directory)
    parts += _growth(study, suite, directory)
    return "\n\n".join(parts)


def _curves(study: Study, suite: str, directory: Path) -> list[str]:
    records, shown = study.finished(suite), study.shown(suite)
    text = []
    for statistic in ("mean", "median"):
        name = f"{suite}_{statistic}.png"
        draw_curves(records, shown, study.styles(), statistic, directory / name)
        text.append(f"![Best so far, {statistic}, of {', '.join(shown)}]({name})")
    few = set(study.ordered(suite)) - set(shown)
    return [*text, "The curves show a few methods, the tables all of them."] if few else text


def by_problem(
    rows: pd.DataFrame, column: str, order: list[str], how: str = "mean"
) -> pd.DataFrame:
    """A row per method in the given order, a column per problem."""
    table = rows.pivot_table(index="method", columns="problem", values=column, aggfunc=how)
    return table.reindex(order)


def _spread(rows: pd.DataFrame, column: str, order: list[str]) -> dict[str, str]:
    """Tables of mean and standard error, and of median and quartiles."""
    groups = rows.groupby(["problem", "method"])[column]
    mean, error = groups.mean(), groups.sem()
    low, middle, high = (groups.quantile(q) for q in (0.25, 0.5, 0.75))
    problems = sorted(rows["problem"].unique())

    def write(cell: object) -> str:
        lines = [[name, *(cell((p, name)) for p in problems)] for name in order]  # type: ignore[operator]
        return write_table(["method", *problems], lines)

    def mean_cell(key: tuple[str, str]) -> str:
        if key not in mean.index:
            return plain(math.nan)
        return plain(mean[key]) + ("" if math.isnan(error[key]) else f" ± {plain(error[key])}")

    def median_cell(key: tuple[str, str]) -> str:
        return (
            plain(middle[key]) + interval(low[key], high[key])
            if key in middle.index
            else plain(math.nan)
        )

    return {"mean and standard error": write(mean_cell), "median and quartiles": write(median_cell)}


def _regrets(study: Study, suite: str) -> list[str]:
    rows, order = study.rows(suite), study.ordered(suite)
    apart = [study.oracle]
    parts = ["### Normalised log-regret", L_TEXT + _incomplete_means(study, suite)]
    parts.append(method_table(by_problem(rows, "log_regret", order), signed, apart=apart))
    parts += _ratios(study, suite)
    parts.append("### Final regret")
    for title, table in _spread(rows, "regret", order).items():
        parts += [f"{title.capitalize()}:", table]
    if suite == "noisy":
        parts.append("Mean regret of the point with the best *observed* value, which a user takes:")
        parts.append(method_table(by_problem(rows, "picked_regret", order), apart=apart))
    parts.append("### Share of evaluations outside the domain")
    parts.append("Of the evaluations after the initial points, mean over seeds.")
    parts.append(method_table(by_problem(rows, "outside_share", order), percent, lowest=None))
    return parts


def _incomplete_means(study: Study, suite: str) -> str:
    _, lacking = split_complete(study.losses(suite))
    if not lacking:
        return ""
    return f" These lack runs, and their means are over what there is: {', '.join(lacking)}."


def _ratios(study: Study, suite: str) -> list[str]:
    reference = AUTHORS if suite == "authors" else study.oracle
    title = "Ratio to the authors' runs" if suite == "authors" else "Oracle ratio"
    losses = study.losses(suite)
    if reference not in losses.columns:
        return [f"### {title}", f"No records of {reference}, so there is no ratio to it."]
    meaning = "their code" if suite == "authors" else "LogEI told the true domain"
    table = ratios(losses, reference).T.reindex(study.ordered(suite))
    means = geometric_mean(table.T)
    cells = []
    for name in table.index:
        samples = list(differences_by_problem(losses, str(name), reference).values())
        low, high = mean_interval(samples)
        known = name != reference and not math.isnan(means[name])
        cells.append(plain(means[name]) + (interval(10**low, 10**high) if known else ""))
    return [
        f"### {title}",
        f"10^(L of the method - L of {reference}) over common seeds: 1 is as good as {meaning}, lower is "
        "better. The last column is the geometric mean over problems with its 95 % bootstrap "
        "interval (seeds resampled within each problem).",
        method_table(table, apart=[reference], extra={"geometric mean": cells}),
    ]


def _final_values(study: Study, suite: str) -> list[str]:
    parts = ["### Final best value", "Higher is better; the optimum is not known."]
    tables = _spread(study.rows(suite), "best_value", study.ordered(suite))
    for title, table in tables.items():
        parts += [f"{title.capitalize()}:", table]
    return parts


def _ranks(study: Study, suite: str, directory: Path) -> list[str]:
    complete, lacking = split_complete(study.losses(suite))
    parts = ["### Ranks and tests"]
    if lacking:
        counts = ", ".join(f"{name} ({count} missing)" for name, count in lacking.items())
        parts.append(f"Left out of ranks and tests, for they lack runs that others have: {counts}.")
    if complete.shape[1] < 2:
        return [*parts, "Fewer than two methods have all runs: nothing to rank."]
    ranks = rank(complete)
    table = ranks.groupby(level="problem").mean().T
    table["all"] = ranks.mean()
    parts.append(f"Mean rank among {complete.shape[1]} methods, 1 the best, ties averaged:")
    parts.append(method_table(table.sort_values("all", kind="stable"), apart=[study.oracle]))
    parts += _compared(complete, study.default)
    test = friedman(complete)
    if test is None:
        return [*parts, "Friedman's test needs three methods and two pairs of problem and seed."]
    name = f"{suite}_critical_difference.png"
    draw_critical_difference(ranks.mean(), test, directory / name)
    parts.append(
        f"Friedman's test over {len(complete)} pairs of problem and seed: chi² = "
        f"{test.statistic:.1f}, p {p_value(test.p)}. Bars join methods that Nemenyi's test does not tell "
        "apart at 5 %. Seeds of one problem count as blocks of their own."
    )
    return [*parts, f"![Critical-difference diagram of the mean ranks]({name})"]


def _compared(complete: pd.DataFrame, default: str) -> list[str]:
    if default not in complete.columns:
        return [f"{default} lacks runs or has no records, so no method is compared with it."]
    found = compare_with(complete, default).sort_values("difference", kind="stable")
    lines = [
        [
            name, signed(row["difference"]) + interval(row["low"], row["high"], signed),
            p_value(row["p"]), p_value(row["p_holm"]), f"{row['better']:.0f} / {row['worse']:.0f}",
        ]
        for name, row in found.iterrows()
    ]  # fmt: skip
    headers = ["method", "difference [95 %]", "p", "p (Holm)", "problems better / worse"]
    return [
        f"Against {default}: mean difference over problems (positive: worse than {default}), "
        "Wilcoxon's signed-rank test over all pairs of problem and seed, and on how many problems the "
        "same test over seeds, with Holm's correction over all of them, says better or worse at 5 %:",
        write_table(headers, lines),
    ]


def _growth(study: Study, suite: str, directory: Path) -> list[str]:
    name = f"{suite}_boxes.png"
    drawn = draw_growth(study.finished(suite), study.shown(suite), study.styles(), directory / name)
    return ["### Box growth", f"![Growth of the box]({name})"] if drawn else []


def seconds_section(study: Study) -> str:
    """Seconds per suggestion by problem and method, and where they go."""
    rows = study.frame[study.frame["status"] == "ok"].copy()
    far = rows["suite"] == "far"
    rows["problem"] = np.where(far, "far, d = " + rows["dim"].astype(str), rows["problem"])
    order = sorted(rows["method"].unique())
    median = by_problem(rows, "seconds_median", order, "median")
    mean = by_problem(rows, "seconds_total", order)
    lines = [
        [m, *(f"{plain(median.loc[m, p])} / {plain(mean.loc[m, p])}" for p in median.columns)]
        for m in order
    ]
    phases = ["fit", "geometry", "acquisition", "total"]
    split = rows.groupby("method")[[f"seconds_{phase}" for phase in phases]].mean().loc[order]
    split.columns = pd.Index(phases)
    return "\n\n".join(
        [
            "## Seconds per suggestion",
            "Fit, geometry and acquisition, without the evaluation: median / mean. Wall time, so "
            "other processes on the machine have a say in it.",
            write_table(["method", *map(str, median.columns)], lines),
            "Where they go, mean over all runs (methods that do not tell report all as acquisition):",
            method_table(split, lowest=None),
        ]
    )
