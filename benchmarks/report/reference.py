"""The paper's method from the starts of the authors' own runs, beside these."""

import pandas as pd

from benchmarks.problems.reference import AUTHORS, NAMES
from benchmarks.report.markdown import interval, percent, signed, write_table
from benchmarks.report.measures import pivot
from benchmarks.report.statistics import cluster_interval, differences_by_problem

WHAT_DIFFERS = (
    "From the authors' program `GPUCB-UBO (as published)` differs in the restarts of the fit (8 "
    "spread ones for scikit-learn's 25 random ones) and in the search of the acquisition function; "
    "both end at other points of equal worth, so that runs go apart after the first steps, and "
    "boxes after the first one. `GPUCB-UBO` differs in the model, its noise and units, and in the "
    "constants of beta."
)


def write_reference(frame: pd.DataFrame) -> str:
    """Mean log-regret per problem, differences, and the first boxes compared with the authors'."""
    frame = frame[frame["problem"].isin(NAMES)]  # among those of other suites
    losses = pivot(frame, "log_regret")
    first = pivot(frame.assign(first=frame["growth"].str[0]), "first")
    parts = [
        "L = log10(regret / best initial regret), mean over seeds (lower is better):",
        write_table(losses.groupby(level="problem").mean().map(signed), "problem"),
    ]
    if AUTHORS in losses:
        parts += [
            "Less the authors', paired by seed (runs), with a 95 % interval over seeds, and in the "
            "last row over functions and seeds:",
            write_table(_against_authors(losses), "problem"),
        ]
    if AUTHORS in first:
        wider = 10 ** first.sub(first.pop(AUTHORS), axis=0) - 1
        parts += [
            "Sides of the first box beyond those of the authors', mean over dimensions and seeds:",
            write_table(wider.groupby(level="problem").mean().map(percent), "problem"),
        ]
    return "\n\n".join([*parts, WHAT_DIFFERS])


def _against_authors(losses: pd.DataFrame) -> pd.DataFrame:
    cells: dict[str, dict[str, str]] = {}
    for name in losses.columns.drop(AUTHORS):
        samples = differences_by_problem(losses, name, AUTHORS)
        parts = {**{problem: [own] for problem, own in samples.items()}, "all": [*samples.values()]}
        cells[name] = {
            problem: f"{signed(sum(own.mean() for own in group) / len(group))}"
            f"{interval(*cluster_interval(group), signed)} ({sum(map(len, group))})"
            for problem, group in parts.items()
            if group
        }
    return pd.DataFrame(cells)
