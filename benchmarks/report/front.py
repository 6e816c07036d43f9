"""The results on the project's front page: what the box costs, and ranks on real models.

Everything that the page says of the default against others is in this block, which is made from
the records and compared with the page when they are checked.
"""

import pandas as pd

from benchmarks.problems import families, plains
from benchmarks.report.headline import GROUPS, group_of, log_ratios, ratio_cell
from benchmarks.report.markdown import write_table
from benchmarks.report.statistics import pair_up
from benchmarks.report.study import Study

_AGAINST = {
    "same-told": "itself, told the domain",
    "same-told-spread": "itself, told it, first points all over it",
    "LogEI-oracle": "LogEI with BoTorch's model, told it",
    "HuBO-EI": "a box that grows by a plain law",
    "EI-Roaming": "the default of 0.1.0",
}
_KINDS = {families.JUDGE: "generated functions", plains.JUDGE: "plateaus"}
_REAL = {
    "tuning": "scikit-learn models from wrong boxes",
    "mnist": "MNIST tasks of the paper, made small",
}


def write_front(study: Study) -> str:
    """A table of ratios and a line of ranks for each kind of real models."""
    done = study.frame[study.frame["status"] == "ok"]
    rows = done[done["optimal_value"].notna() & (done["suite"] != "far")]
    rows = rows.assign(group=rows["suite"].map(group_of))
    in_sample, unseen = (rows[rows["group"] == group] for group in GROUPS)
    parts = {f"unseen: {name}": unseen[unseen["suite"] == s] for s, name in _KINDS.items()}
    parts |= {"unseen: all": unseen, "in sample: all": in_sample}
    cells = {name: _ratios(part, study.default) for name, part in parts.items()}
    cells = {name: own for name, own in cells.items() if own}
    if not cells:
        return "No records of what the front page is about."
    table = pd.DataFrame.from_dict(cells, orient="index").rename(columns=_AGAINST)
    return "\n".join(
        [
            write_table(table, "final regret, as a ratio to that of"),
            "",
            *(f"* {line}" for suite, name in _REAL.items() if (line := _ranks(study, suite, name))),
        ]
    )


def _ratios(rows: pd.DataFrame, default: str) -> dict[str, str]:
    """A cell for each reference that common runs tell of, with the number of functions."""
    samples = {name: log_ratios(rows, default, name) for name in _AGAINST}
    return {
        name: f"{ratio_cell(own)} ({len(own)})" if own else ratio_cell(own)
        for name, own in samples.items()
        if any(samples.values())
    }


def _ranks(study: Study, suite: str, name: str) -> str:
    """Mean ranks over runs that all methods of a suite have, the best first."""
    if suite not in study.suites:
        return ""
    table = pair_up(study.losses(suite)).table
    ranks = table.rank(axis=1).mean().sort_values(kind="stable")
    problems = table.index.get_level_values("problem").nunique()
    seeds = table.index.get_level_values("seed").nunique()
    words = ", ".join(f"{method} {rank:.2f}" for method, rank in ranks.items())
    return f"Mean ranks on {problems} {name}, {seeds} seeds: {words}."
