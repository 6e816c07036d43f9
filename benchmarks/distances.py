"""Sections of a report on evaluations to a target, and on what an ingredient is worth."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.analysis import SUITES, pivot
from benchmarks.comparison import differences_by_problem, fit_distance, mean_interval
from benchmarks.figures import draw_distances, draw_growth
from benchmarks.markdown import MISSING, interval, method_table, plain, signed, write_table
from benchmarks.study import Study


def evaluation_ratios(rows: pd.DataFrame, reference: str) -> pd.DataFrame | None:
    """Mean evaluations to the target relative to a method's, over the seeds that both have.

    A row per problem, a column per method; ``None`` without the reference.
    """
    table = pivot(rows, "evaluations_to_target").astype(float)
    if reference not in table.columns:
        return None
    known = table[reference]
    own = table.where(known.notna(), axis=0).groupby(level="problem").mean()
    theirs = table.notna().mul(known, axis=0).where(table.notna()).groupby(level="problem").mean()
    return own / theirs.replace(0.0, math.nan)


def evaluations_table(rows: pd.DataFrame, order: list[str], oracle: str, by: str) -> str:
    """Mean evaluations (ratio to the oracle) and the runs that never reached the target.

    Args:
        rows: Of one function, or of problems without a distance.
        order: The methods, a row each.
        oracle: The method of the ratio.
        by: The column that heads the table's columns: ``"distance"`` or ``"problem"``.
    """
    relative = evaluation_ratios(rows, oracle)
    problem_of = rows.groupby(by, sort=by == "distance")["problem"].first()
    lines = []
    for name in order:
        own = rows[rows["method"] == name]
        cells = []
        for _, problem in problem_of.items():
            runs = own[own["problem"] == problem]
            ratio = math.nan
            if relative is not None and name in relative.columns:
                ratio = relative.loc[problem, name]
            missed = int((~runs["reached"].astype(bool)).sum())
            cells.append(_cell(runs["evaluations_to_target"].mean(), ratio, missed))
        lines.append([name, *cells, *(_fit_cells(own) if by == "distance" else [])])
    heads = [f"{value:g}" if by == "distance" else str(value) for value in problem_of.index]
    fit = ["a", "b", "r²"] if by == "distance" else []
    return write_table(["method", *heads, *fit], lines)


def _cell(mean: float, ratio: float, missed: int) -> str:
    if math.isnan(mean):
        return MISSING
    ratio_text = "" if math.isnan(ratio) else f" ({ratio:.2f})"
    return f"{mean:.1f}{ratio_text}" + (f" †{missed}" if missed else "")


def _fit_cells(rows: pd.DataFrame) -> list[str]:
    fit = fit_distance(
        rows["distance"].to_numpy(float), rows["evaluations_to_target"].to_numpy(float)
    )
    if fit is None:
        return [MISSING] * 3
    return [f"{fit.intercept:.1f}", f"{fit.slope:.1f}", plain(fit.r_squared)]


def write_far(study: Study, directory: Path) -> str:
    """Evaluations to 1 % of the initial regret against the optimum's distance."""
    rows, order, shown = study.rows("far"), study.ordered("far"), study.shown("far")
    draw_distances(rows, shown, study.styles, [study.oracle, study.default],
                   directory / "far.png")  # fmt: skip
    parts = [
        f"## {SUITES['far']}",
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
    farthest = rows[
        rows["distance"] == rows.groupby("function", sort=False)["distance"].transform("max")
    ]
    records = [r for r in study.finished("far") if r.problem in set(farthest["problem"])]
    if draw_growth(records, shown, study.styles, directory / "far_boxes.png"):
        parts += ["### Box growth at the largest distance", "![Growth of the box](far_boxes.png)"]
    return "\n\n".join(parts)


def _overview(rows: pd.DataFrame, order: list[str], oracle: str) -> list[str]:
    relative = evaluation_ratios(rows, oracle)
    if relative is None:
        return [f"No records of {oracle}, so there is no ratio to it."]
    dims = rows.groupby("problem")["dim"].first()
    table = pd.DataFrame(
        {
            f"d = {dim}": stats.gmean(relative[dims.reindex(relative.index) == dim], axis=0)
            for dim in sorted(dims.unique())
        },
        index=relative.columns,
    )
    table["largest"] = relative.max()
    runs = rows.groupby("method")["reached"].agg(lambda found: int((~found.astype(bool)).sum()))
    cells = [str(runs[name]) for name in order]
    return [
        "Mean evaluations of a method over those of the oracle: geometric mean over functions and "
        "distances, the largest of all, and the runs that never reached the target.",
        method_table(table.reindex(order), lowest=None, extra={"never": cells}),
        "The same by dimension and distance, geometric mean over functions:",
        method_table(_by_distance(rows, relative).reindex(order), lowest=None),
    ]


def _by_distance(rows: pd.DataFrame, relative: pd.DataFrame) -> pd.DataFrame:
    """A row per method, a column per dimension and distance."""
    where = rows.groupby("problem")[["dim", "distance"]].first().reindex(relative.index)
    means = {
        f"d = {dim}, {distance:g}": stats.gmean(relative.loc[group.index], axis=0)
        for (dim, distance), group in where.groupby(["dim", "distance"])
    }
    return pd.DataFrame(means, index=relative.columns)


def write_ablations(study: Study) -> str:
    """What each variant of the default costs near, under noise and far."""
    far = _far_costs(study)
    lines = []
    for name in study.ablations:
        label = name.removeprefix(study.default).strip()
        ratio = far[name] if name in far else pd.Series(dtype=float)
        lines.append(
            [label, *_loss_cells(study, "paper", name), _loss_cells(study, "noisy", name)[0],
             plain(float(stats.gmean(ratio)) if len(ratio) else math.nan), plain(ratio.max())]
        )  # fmt: skip
    headers = ["variant", "L, mean difference", "largest", "L with noise, mean difference",
               "evaluations far, ratio", "largest"]  # fmt: skip
    return "\n\n".join(
        [
            f"## Variants of {study.default}",
            f"Each compared with {study.default} over common problems and seeds: difference of L "
            "on the paper's protocol with its 95 % bootstrap interval (positive: the variant is "
            "worse), the same with noise, and mean evaluations to the far target relative to the "
            "default's (above 1: the variant is slower; geometric mean).",
            write_table(headers, lines),
        ]
    )


def _loss_cells(study: Study, suite: str, name: str) -> list[str]:
    """The mean difference of a variant's losses from the default's, and the largest."""
    losses = study.losses(suite, with_ablations=True)
    if name not in losses or study.default not in losses:
        return [MISSING, MISSING]
    samples = list(differences_by_problem(losses, name, study.default).values())
    if not samples:
        return [MISSING, MISSING]
    means = [float(sample.mean()) for sample in samples]
    text = signed(float(np.mean(means))) + interval(*mean_interval(samples), signed)
    return [text, signed(max(means))]


def _far_costs(study: Study) -> pd.DataFrame:
    rows = study.rows("far", with_ablations=True)
    found = evaluation_ratios(rows, study.default) if len(rows) else None
    return pd.DataFrame() if found is None else found
