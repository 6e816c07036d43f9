"""The table of the project's README: few methods, near and far."""

from __future__ import annotations

import math

import pandas as pd
from scipy import stats

from benchmarks.comparison import geometric_mean, pair_up, rank, ratios
from benchmarks.distances import evaluation_ratios
from benchmarks.markdown import MISSING, plain, signed, write_table
from benchmarks.study import Study


def write_compact(study: Study) -> str:
    """L (oracle ratio) per problem, their mean, mean rank, and the far problems' ratios."""
    suites = [suite for suite in ("paper", "far") if suite in study.suites]
    if not suites:
        return "No records of the paper's protocol or of far problems: no table."
    shown = study.shown(suites[0])
    lines, notes = [], []
    if "paper" in suites:
        lines += _near_lines(study, shown)
        notes.append(
            "Functions: L, mean log10 of the final regret relative to the initial one (in brackets "
            f"the ratio to {study.oracle}); lower is better."
        )
    if "far" in suites:
        lines += _far_lines(study, shown)
        notes.append(
            f"Far: evaluations to 1 % of the initial regret relative to {study.oracle}, geometric "
            "mean (largest) over functions and distances; † runs that never got there."
        )
    return "\n".join([write_table(["", *shown], lines), "", *notes])


def _near_lines(study: Study, shown: list[str]) -> list[list[str]]:
    losses = study.losses("paper")
    means = losses.groupby(level="problem").mean()
    known = study.oracle in losses.columns
    relative = ratios(losses, study.oracle) if known else means * math.nan
    lines = [
        [str(problem), *(_both(means, relative, str(problem), name) for name in shown)]
        for problem in study.problems("paper")
    ]
    if known:
        overall = geometric_mean(relative)
        cells = [plain(overall.get(name, math.nan)) for name in shown]
        lines.append(["geometric mean of the ratios", *cells])
    complete = pair_up(losses).table
    ranks = rank(complete).mean()
    title = f"mean rank of {complete.shape[1]} methods"
    return [*lines, [title, *(plain(ranks.get(name, math.nan)) for name in shown)]]


def _both(means: pd.DataFrame, relative: pd.DataFrame, problem: str, name: str) -> str:
    if name not in means.columns:
        return MISSING
    ratio = float(relative.loc[problem, name])
    return signed(means.loc[problem, name]) + ("" if math.isnan(ratio) else f" ({plain(ratio)})")


def _far_lines(study: Study, shown: list[str]) -> list[list[str]]:
    rows = study.rows("far")
    relative = evaluation_ratios(rows, study.oracle)
    if relative is None:
        return []
    return [
        [f"far, d = {dim}", *(_far_cell(group, relative, name) for name in shown)]
        for dim, group in rows.groupby("dim")
    ]


def _far_cell(rows: pd.DataFrame, relative: pd.DataFrame, name: str) -> str:
    own = rows[rows["method"] == name]
    if own.empty:
        return MISSING
    found = relative.loc[sorted(rows["problem"].unique()), name]
    missed = int((~own["reached"].astype(bool)).sum())
    text = f"{plain(float(stats.gmean(found)))} ({plain(found.max())})"
    return text + (f" †{missed}" if missed else "")
