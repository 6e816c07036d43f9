"""The table of the project's README: few methods, near and far."""

import math

import pandas as pd

from benchmarks.report.distances import count_missed, evaluation_ratios
from benchmarks.report.markdown import plain, signed, write_table
from benchmarks.report.statistics import geometric_mean, pair_up, ratios
from benchmarks.report.study import Study


def write_compact(study: Study) -> str:
    """L (oracle ratio) per problem, their mean, mean rank, and the far problems' ratios."""
    parts = {"paper": _near, "far": _far}
    found = [suite for suite in parts if suite in study.suites]
    if not found:
        return "No records of the paper's protocol or of far problems: no table."
    cells = pd.concat([parts[suite](study) for suite in found])
    return (
        f"{write_table(cells.reindex(columns=study.shown(found[0])), '')}\n\n"
        "Functions: L, mean log10 of the final regret relative to the initial one (in brackets the "
        f"ratio to {study.oracle}); lower is better.\n"
        f"Far: evaluations to 1 % of the initial regret relative to {study.oracle}, geometric mean "
        "(largest) over functions and distances; † runs that never got there."
    )


def _near(study: Study) -> pd.DataFrame:
    losses = study.losses("paper")
    means = losses.groupby(level="problem").mean()
    complete = pair_up(losses).table
    rows = {f"mean rank of {complete.shape[1]} methods": complete.rank(axis=1).mean().map(plain)}
    cells = means.map(signed)
    if study.oracle in losses:
        relative = ratios(losses, study.oracle)
        cells += relative.map(lambda ratio: "" if math.isnan(ratio) else f" ({plain(ratio)})")
        rows = {"geometric mean of the ratios": geometric_mean(relative).map(plain), **rows}
    return pd.concat([cells.reindex(study.rows("paper")["problem"].unique()), pd.DataFrame(rows).T])


def _far(study: Study) -> pd.DataFrame:
    rows = study.rows("far")
    cells = {}
    for dim, group in rows.groupby("dim"):
        relative = evaluation_ratios(group, study.oracle)
        if relative is not None:
            missed = count_missed(group, ["method"]).map(lambda count: f" †{count}" * (count > 0))
            largest = relative.max().map(plain)
            cells[f"far, d = {dim}"] = (
                geometric_mean(relative).map(plain) + " (" + largest + ")" + missed
            )
    return pd.DataFrame(cells).T
