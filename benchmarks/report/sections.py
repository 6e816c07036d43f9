"""Sections of a report on problems that are compared by their final value."""

import math
from pathlib import Path

import pandas as pd

from benchmarks.problems.reference import AUTHORS
from benchmarks.problems.registry import HEADINGS
from benchmarks.report import statistics
from benchmarks.report.distances import evaluations_table
from benchmarks.report.figures import draw_curves, draw_growth
from benchmarks.report.headline import REFERENCES
from benchmarks.report.markdown import interval, method_table, percent, plain, signed, write_table
from benchmarks.report.rankings import write_ranks
from benchmarks.report.reference import write_reference
from benchmarks.report.study import Study

L_TEXT = (
    "L is the mean over seeds of log10(max(regret / regret of the best initial point, 1e-4)): "
    "-1 is a tenth of the initial regret, lower is better."
)


def write_suite(study: Study, suite: str, directory: Path) -> str:
    """One kind of problems: curves, final values, ratios, ranks, tests, boxes."""
    rows = study.rows(suite)
    seeds = rows.groupby("problem")["seed"].nunique()
    runs = ", ".join(f"{name} ({count})" for name, count in seeds.items())
    parts = [f"## {HEADINGS[suite]}", f"Problems (seeds): {runs}."]
    parts += _curves(study, suite, directory)
    if rows["optimal_value"].notna().all():
        parts += _regrets(study, suite)
    else:
        parts += ["### Final best value", "Higher is better; the optimum is not known."]
        parts += _spread(rows, "best_value", study.ordered(suite))
    if suite == "near":
        parts += [
            "Evaluations until 1 % of the initial regret, and in brackets the ratio to the oracle; "
            "a dagger counts runs that never got there and count as their budget.",
            evaluations_table(rows, study.ordered(suite), study.oracle, "problem"),
        ]
    parts += write_ranks(study, suite, directory)
    name = f"{suite}_boxes.png"
    if draw_growth(rows, study.shown(suite), study.styles, directory / name):
        text = "Means over dimensions and seeds."
        parts += ["### Box growth", text, f"![Growth of the box]({name})"]
    return "\n\n".join(parts)


def _curves(study: Study, suite: str, directory: Path) -> list[str]:
    rows, shown = study.rows(suite), study.shown(suite)
    text = []
    for statistic in ("mean", "median"):
        name = f"{suite}_{statistic}.png"
        draw_curves(rows, shown, study.styles, statistic, directory / name)
        text.append(f"![Best so far, {statistic}, of {', '.join(shown)}]({name})")
    few = set(study.ordered(suite)) - set(shown)
    return [*text, "The curves show a few methods, the tables all of them."] if few else text


def _spread(rows: pd.DataFrame, column: str, order: list[str]) -> list[str]:
    """Tables of mean and standard error, and of median and quartiles."""
    groups = rows.groupby(["method", "problem"])[column]
    errors = groups.sem().map(lambda error: "" if math.isnan(error) else f" ± {plain(error)}")
    quartiles = groups.quantile([0.25, 0.5, 0.75]).unstack()
    tables = {
        "Mean ± standard error:": groups.mean().map(plain) + errors,
        "Median and quartiles:": quartiles.apply(
            lambda row: plain(row[0.5]) + interval(row[0.25], row[0.75]), axis=1
        ),
    }
    parts = []
    for title, cells in tables.items():
        table = cells.unstack().reindex(index=order, columns=rows["problem"].unique())
        parts += [title, write_table(table)]
    return parts


def _regrets(study: Study, suite: str) -> list[str]:
    rows, order = study.rows(suite), study.ordered(suite)

    def by_problem(column: str) -> pd.DataFrame:
        table = rows.pivot_table(index="method", columns="problem", values=column)
        return table.reindex(index=order, columns=rows["problem"].unique())

    lacking = ", ".join(statistics.pair_up(study.losses(suite)).lacking)
    note = f" These lack runs, and their means are over what there is: {lacking}."
    parts = [
        "### Normalised log-regret",
        L_TEXT + (note if lacking else ""),
        method_table(by_problem("log_regret"), signed, apart=study.told),
        *(part for reference in REFERENCES for part in _told(study, suite, reference)),
        *_ratios(study, suite),
        "### Final regret",
        *_spread(rows, "regret", order),
    ]
    if suite == "reference":
        parts += ["### Against the authors' runs, paired by seed", write_reference(rows)]
    if suite == "noisy":
        parts.append("Mean regret of the point with the best *observed* value, which a user takes:")
        parts.append(method_table(by_problem("picked_regret"), apart=study.told))
    return [
        *parts,
        "### Share of evaluations outside the domain",
        "Of the evaluations after the initial points, mean over seeds.",
        method_table(by_problem("outside_share"), percent, bold=False),
    ]


def _told(study: Study, suite: str, reference: str) -> list[str]:
    """Ratios to the default told the domain, which are about the box alone; none without it."""
    if reference not in study.losses(suite).columns:
        return []
    return _ratios_to(study, suite, reference, f"Ratio to {reference}", "knowing the domain")


def _ratios(study: Study, suite: str) -> list[str]:
    reference, title, meaning = study.oracle, "Oracle ratio", "LogEI told the true domain"
    if suite == "reference":
        reference, title, meaning = AUTHORS, "Ratio to the authors' runs", "their code"
    if reference not in study.losses(suite).columns:
        return [f"### {title}", f"No records of {reference}, so there is no ratio to it."]
    return _ratios_to(study, suite, reference, title, meaning)


def _ratios_to(study: Study, suite: str, reference: str, title: str, meaning: str) -> list[str]:
    losses = study.losses(suite)
    table = statistics.ratios(losses, reference).T
    table = table.reindex(index=study.ordered(suite), columns=study.rows(suite)["problem"].unique())
    cells = []
    for name, mean in statistics.geometric_mean(table.T).items():
        text = ""
        if name != reference and not math.isnan(mean):
            samples = list(statistics.differences_by_problem(losses, name, reference).values())
            low, high = statistics.cluster_interval(samples)
            text = interval(10**low, 10**high)
        cells.append(plain(mean) + text)
    return [
        f"### {title}",
        f"10^(L of the method - L of {reference}) over common seeds: 1 is as good as {meaning}, "
        "lower is better. The last column is the geometric mean over problems with its 95 % "
        "bootstrap interval (problems resampled, and seeds within them).",
        method_table(table, apart=[reference, *study.told], **{"geometric mean": cells}),
    ]
