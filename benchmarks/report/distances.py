"""Sections of a report on evaluations to a target, and on what an ingredient is worth."""

import math
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.problems.registry import HEADINGS
from benchmarks.report.figures import draw_distances, draw_growth
from benchmarks.report.markdown import MISSING, interval, method_table, plain, signed, write_table
from benchmarks.report.measures import pivot
from benchmarks.report.statistics import (
    differences_by_problem,
    fit_distance,
    geometric_mean,
    mean_interval,
)
from benchmarks.report.study import Study

_HEADS = ["L, mean difference", "largest", "L with noise, mean difference",
          "evaluations far, ratio", "largest"]  # fmt: skip


def evaluation_ratios(
    rows: pd.DataFrame, reference: str, by: str = "problem"
) -> pd.DataFrame | None:
    """Mean evaluations to the target relative to a method's, over the seeds that both have.

    A row per problem, a column per method; ``None`` without the reference.
    """
    table = pivot(rows, "evaluations_to_target", by).astype(float)
    if reference not in table.columns:
        return None
    known = table[reference]
    own = table.where(known.notna(), axis=0).groupby(level=by).mean()
    theirs = table.notna().mul(known, axis=0).where(table.notna()).groupby(level=by).mean()
    return own / theirs.replace(0.0, math.nan)


def count_missed(rows: pd.DataFrame, by: list[str]) -> pd.Series:
    """How many runs never reached their target."""
    return (~rows["reached"].astype(bool)).groupby([rows[column] for column in by]).sum()


def evaluations_table(rows: pd.DataFrame, order: list[str], oracle: str, by: str) -> str:
    """Mean evaluations (ratio to the oracle) and the runs that never reached the target.

    Args:
        rows: Of one function, or of problems without a distance.
        order: The methods, a row each.
        oracle: The method of the ratio.
        by: The column that heads the table's columns: ``"distance"`` or ``"problem"``.
    """
    means = rows.pivot_table(index="method", columns=by, values="evaluations_to_target")
    relative = evaluation_ratios(rows, oracle, by)
    relative = means * math.nan if relative is None else relative.T.reindex_like(means)
    missed = count_missed(rows, ["method", by]).unstack()
    cells = (
        means.map("{:.1f}".format)
        + relative.map(lambda ratio: "" if math.isnan(ratio) else f" ({ratio:.2f})")
        + missed.map(lambda count: f" †{count:.0f}" if count > 0 else "")
    ).mask(means.isna())
    if by == "distance":
        cells = cells.rename(columns="{:g}".format).join(_fits(rows))
    else:
        cells = cells[rows[by].unique()]
    return write_table(cells.reindex(order))


def _fits(rows: pd.DataFrame) -> pd.DataFrame:
    """Of every method ``a + b log10(distance)``."""
    cells = {}
    for name, own in rows.groupby("method"):
        fit = fit_distance(own)
        cells[name] = [MISSING] * 3
        if fit is not None:
            cells[name] = [f"{fit.intercept:.1f}", f"{fit.slope:.1f}", plain(fit.rvalue**2)]
    return pd.DataFrame.from_dict(cells, orient="index", columns=["a", "b", "r²"])


def write_far(study: Study, suite: str, directory: Path) -> str:
    """Evaluations to 1 % of the initial regret against the optimum's distance."""
    rows, order, shown = study.rows(suite), study.ordered(suite), study.shown(suite)
    fitted = [study.oracle, study.default]
    draw_distances(rows, shown, study.styles, fitted, directory / "far.png")
    parts = [
        f"## {HEADINGS[suite]}",
        "Evaluations after the initial points until the regret is 1 % of that of the best initial "
        "point, against the distance of the optimum in sides of the start box. A run that never "
        "gets there counts as its budget (x in the figure, a dagger with the number of runs in the "
        "tables), so those means, ratios and fits are too favourable to it.",
        "![Evaluations against distance](far.png)",
        "Thin lines: least-squares fit a + b log10(distance) of oracle and default.",
        "### Ratio to the oracle",
        *_overview(rows, order, study.oracle),
    ]
    for function, group in rows.groupby("function", sort=False):
        names = [name for name in order if name in set(group["method"])]
        parts += [
            f"### {function}",
            "Mean evaluations by distance (ratio to the oracle), and a + b log10(distance):",
            evaluations_table(group, names, study.oracle, "distance"),
        ]
    farthest = rows[rows["distance"] == rows.groupby("function")["distance"].transform("max")]
    if draw_growth(farthest, shown, study.styles, directory / "far_boxes.png"):
        title, text = "### Box growth at the largest distance", "Means over dimensions and seeds."
        parts += [title, text, "![Growth of the box](far_boxes.png)"]
    return "\n\n".join(parts)


def _overview(rows: pd.DataFrame, order: list[str], oracle: str) -> list[str]:
    relative = evaluation_ratios(rows, oracle)
    if relative is None:
        return [f"No records of {oracle}, so there is no ratio to it."]
    where = rows.drop_duplicates("problem").set_index("problem").reindex(relative.index)
    by_dim = relative.groupby(where["dim"]).apply(geometric_mean).T
    by_dim = by_dim.rename(columns="d = {}".format).assign(largest=relative.max())
    by_place = relative.groupby([where["dim"], where["distance"]]).apply(geometric_mean).T
    by_place.columns = [f"d = {dim}, {distance:g}" for dim, distance in by_place.columns]
    missed = count_missed(rows, ["method"]).reindex(order).map(str)
    return [
        "Mean evaluations of a method over those of the oracle: geometric mean over functions and "
        "distances, the largest of all, and the runs that never reached the target.",
        method_table(by_dim.reindex(order), bold=False, never=missed),
        "The same by dimension and distance, geometric mean over functions:",
        method_table(by_place.reindex(order), bold=False),
    ]


def write_ablations(study: Study) -> str:
    """What each variant of the default costs near, under noise and far."""
    cells = [
        [*_losses(study, "paper", name), _losses(study, "noisy", name)[0], *_far(study, name)]
        for name in study.ablations
    ]
    labels = [name.removeprefix(study.default).strip() for name in study.ablations]
    return "\n\n".join(
        [
            f"## Variants of {study.default}",
            f"Each compared with {study.default} over common problems and seeds: difference of L "
            "on the paper's protocol with its 95 % bootstrap interval (positive: the variant is "
            "worse), the same with noise, and mean evaluations to the far target relative to the "
            "default's (above 1: the variant is slower; geometric mean).",
            write_table(pd.DataFrame(cells, index=labels, columns=_HEADS), "variant"),
        ]
    )


def _losses(study: Study, suite: str, name: str) -> list[str]:
    """The mean difference of a variant's losses from the default's, and the largest."""
    losses = study.losses(suite, with_ablations=True).reindex(columns=[name, study.default])
    samples = list(differences_by_problem(losses, name, study.default).values())
    if not samples:
        return [MISSING, MISSING]
    means = [sample.mean() for sample in samples]
    return [signed(np.mean(means)) + interval(*mean_interval(samples), signed), signed(max(means))]


def _far(study: Study, name: str) -> list[str]:
    """The geometric mean and the largest of the ratios of evaluations."""
    ratios = evaluation_ratios(study.rows("far", with_ablations=True), study.default)
    if ratios is None or name not in ratios:
        return [MISSING, MISSING]
    found = ratios[[name]].dropna()
    return [plain(geometric_mean(found)[name]), plain(found[name].max())]
