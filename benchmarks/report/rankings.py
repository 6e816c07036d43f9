"""Section of a report on ranks and tests, over runs that every compared method has."""

from pathlib import Path

import pandas as pd

from benchmarks.report.figures import draw_critical_difference
from benchmarks.report.markdown import interval, method_table, p_value, signed, write_table
from benchmarks.report.statistics import Paired, compare_with, friedman, pair_up
from benchmarks.report.study import Study


def write_ranks(study: Study, suite: str, directory: Path) -> list[str]:
    """Mean ranks, each method against the default, critical-difference diagram."""
    paired = pair_up(study.losses(suite))
    complete = paired.table
    parts = ["### Ranks and tests", *_left_out(paired)]
    if complete.empty or complete.shape[1] < 2:
        return [*parts, "Fewer than two methods have all runs: nothing to rank."]
    ranks = complete.rank(axis=1)
    problems = study.rows(suite)["problem"].unique()
    table = ranks.groupby(level="problem").mean().T.reindex(columns=problems)
    table["all"] = ranks.mean()
    parts.append(f"Mean rank among {complete.shape[1]} methods, 1 the best, ties averaged:")
    parts.append(method_table(table.sort_values("all", kind="stable"), apart=study.told))
    parts += _compared(complete, study.default)
    test = friedman(complete)
    if test is None:
        return [*parts, "Friedman's test needs three methods and two pairs of problem and seed."]
    name = f"{suite}_critical_difference.png"
    draw_critical_difference(ranks.mean(), test, study.styles, directory / name)
    parts.append(
        f"Friedman's test over {len(complete)} pairs of problem and seed: chi² = "
        f"{test.statistic:.1f}, p {'' if test.p < 0.001 else '= '}{p_value(test.p)}. Bars join "
        "methods that Nemenyi's test does not tell apart at 5 %. Seeds of one problem count as "
        "blocks of their own."
    )
    return [*parts, f"![Critical-difference diagram of the mean ranks]({name})"]


def _left_out(paired: Paired) -> list[str]:
    text = []
    if paired.lacking:
        counts = ", ".join(f"{name} ({count} missing)" for name, count in paired.lacking.items())
        text.append(f"Left out of ranks and tests, for they lack runs that others have: {counts}.")
    if paired.dropped:
        rows = ", ".join(f"{problem} seed {seed}" for problem, seed in paired.dropped)
        text.append(f"Left out, as no more than half of the methods have them: {rows}.")
    return text


def _compared(complete: pd.DataFrame, default: str) -> list[str]:
    if default not in complete.columns:
        return [f"{default} lacks runs or has no records, so no method is compared with it."]
    found = compare_with(complete, default).sort_values("difference", kind="stable")
    ends = [interval(low, high, signed) for low, high in zip(found.low, found.high, strict=True)]
    cells = {
        "difference [95 %]": found["difference"].map(signed) + ends,
        "p": found["p"].map(p_value),
        "p (Holm)": found["p_holm"].map(p_value),
        "problems better / worse": found["better"].map(str) + " / " + found["worse"].map(str),
    }
    return [
        f"Against {default}: mean difference over problems (positive: worse than {default}), "
        "Wilcoxon's signed-rank test over all pairs of problem and seed, and on how many problems "
        "the same test over seeds, with Holm's correction over methods, says better or worse at "
        "5 %:",
        write_table(pd.DataFrame(cells)),
    ]
