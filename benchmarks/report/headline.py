"""Section of a report on the price of not knowing the domain, before anything else is compared.

Ratios are to the default itself told the domain, and to the same with its first points spread over
it. Functions on which choices were made stand apart from those that were kept for judging.
"""

import math

import numpy as np
import pandas as pd

from benchmarks.problems import families, highdim, plains
from benchmarks.problems.registry import HEADINGS
from benchmarks.report.markdown import MISSING, interval, plain, write_table
from benchmarks.report.measures import REGRET_FLOOR
from benchmarks.report.statistics import Array, cluster_interval
from benchmarks.report.study import Study

REFERENCES = ("same-told", "same-told-spread")
RIVALS = ("HuBO-EI", "EI-Roaming")  # not told: a box by a plain law, the default of 0.1.0
FLOORS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
UNSEEN = (families.JUDGE, highdim.JUDGE, plains.JUDGE)
GROUPS = ("in sample", "unseen")


def group_of(suite: str) -> str:
    """Whether functions were looked at while methods were chosen."""
    return GROUPS[suite in UNSEEN]


def log_ratios(
    rows: pd.DataFrame, method: str, reference: str, floor: float = REGRET_FLOOR
) -> list[Array]:
    """A sample per function: differences of log10(max(relative regret, floor)), paired by seed."""
    share = rows["regret"].astype(float) / rows["initial_regret"].where(rows["initial_regret"] > 0)
    logs = rows.assign(log=np.log10(share.clip(lower=floor)))
    table = logs.pivot(index=["problem", "seed"], columns="method", values="log")
    if method not in table or reference not in table:
        return []
    both = (table[method] - table[reference]).dropna()
    return [own.to_numpy() for _, own in both.groupby(level="problem")]


def ratio_cell(samples: list[Array], counted: bool = False) -> str:
    """The geometric mean over functions with its interval."""
    if not samples:
        return MISSING
    mean = float(np.mean([sample.mean() for sample in samples]))
    low, high = cluster_interval(samples)
    seeds = max(map(len, samples))
    count = f" ({len(samples)} functions, {seeds} seeds)" if counted else ""
    return plain(10**mean) + interval(10**low, 10**high) + count


def write_headline(study: Study) -> str:
    """The section, or why there is none."""
    title = "## The price of not knowing the domain"
    done = study.frame[study.frame["status"] == "ok"]
    if done.empty or not set(REFERENCES) & set(done["method"]):
        return f"{title}\n\nNo records of {' or '.join(REFERENCES)}: nothing tells it."
    rows = done[done["optimal_value"].notna() & (done["suite"] != "far")]
    rows = rows.assign(group=rows["suite"].map(group_of))
    found = [name for name in REFERENCES if name in set(rows["method"])]
    references = [*found, *({study.oracle} & set(rows["method"]))]
    rivals = [name for name in RIVALS if name in set(rows["method"])]
    return "\n\n".join(
        [
            title,
            f"10^(L of {study.default} - L of the reference) over common seeds, geometric mean "
            "over functions, with a 95 % interval that resamples functions and seeds: above 1 is "
            f"worse than knowing. same-told is {study.default} told the true domain, "
            "same-told-spread has its first points over the domain as well. In sample: functions "
            "that were looked at while methods were chosen. Unseen: those kept for judging. "
            f"{' and '.join(rivals) or 'Others'} are told nothing: below 1 {study.default} is "
            "better.",
            write_table(_by_suite(study, rows, [*references, *rivals]), "functions"),
            "The same of every method, over all functions of a kind that both have:",
            write_table(_by_method(rows, references[:2])),
            f"### Sensitivity to the floor of L ({study.default})",
            "A regret below the floor, relative to the initial one, counts as the floor; "
            f"everywhere else it is {REGRET_FLOOR:g}.",
            write_table(_by_floor(study, rows, references), "ratio"),
        ]
    )


def _by_suite(study: Study, rows: pd.DataFrame, references: list[str]) -> pd.DataFrame:
    cells = {}
    for group in GROUPS:
        own = rows[rows["group"] == group]
        parts = {HEADINGS[s]: own[own["suite"] == s] for s in HEADINGS if s in set(own["suite"])}
        if len(parts) > 1:
            parts["all"] = own
        for name, part in parts.items():
            found = [
                ratio_cell(log_ratios(part, study.default, reference), counted=True)
                for reference in references
            ]
            if set(found) != {MISSING}:
                cells[f"{group}: {name}"] = found
    return pd.DataFrame.from_dict(cells, orient="index", columns=references)


def _by_method(rows: pd.DataFrame, references: list[str]) -> pd.DataFrame:
    cells = {
        f"{group}, to {reference}": {
            name: ratio_cell(log_ratios(own, name, reference))
            for name in sorted(own["method"].unique())
            if name != reference
        }
        for group, own in rows.groupby("group", sort=True)
        for reference in references
    }
    table = pd.DataFrame(cells)
    return table[~table.isin([MISSING, math.nan]).all(axis=1)]


def _by_floor(study: Study, rows: pd.DataFrame, references: list[str]) -> pd.DataFrame:
    cells = {
        f"{group}, to {reference}": [
            ratio_cell(log_ratios(own, study.default, reference, floor)) for floor in FLOORS
        ]
        for group, own in rows.groupby("group", sort=True)
        for reference in references
    }
    return pd.DataFrame.from_dict(cells, orient="index", columns=[f"{f:.0e}" for f in FLOORS])
