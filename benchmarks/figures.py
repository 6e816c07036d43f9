"""Figures of a report: grids of small panels, one legend, colours that most readers tell apart."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from PIL import Image
from scipy import stats

from benchmarks.analysis import (
    Array,
    best_so_far,
    box_growth,
    regret_trace,
    stack_traces,
)
from benchmarks.comparison import RankTest, fit_distance
from benchmarks.records import Record

# Okabe and Ito's palette without its yellow, which is too light for a line on white.
COLORS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
NUM_MAIN = 2  # methods whose colours no other method shares
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)))
REGRET_FLOOR = 1e-12  # a log axis has no place for an optimum found exactly
Style = dict[str, Any]
Styles = dict[str, Style]


def choose_styles(main: Sequence[str], groups: Sequence[Sequence[str]], oracle: str) -> Styles:
    """The same line for a method in every figure, and different colours within a figure.

    Args:
        main: Methods with colours that no other shares.
        groups: The methods of each figure. If colours run out, dashes differ.
        oracle: It is black.
    """
    styles: Styles = {oracle: {"color": "black", "linestyle": (0, (4, 2))}}
    for name, color in zip(main, COLORS[:NUM_MAIN], strict=False):
        styles[name] = {"color": color, "linestyle": "-"}
    for group in groups:
        for name in (name for name in group if name not in styles):
            near = [styles[other]["color"] for other in group if other in styles]
            everywhere = [style["color"] for style in styles.values()]
            color = min(COLORS[NUM_MAIN:], key=lambda c: (near.count(c), everywhere.count(c)))
            dashes = DASHES[everywhere.count(color) % len(DASHES)]
            styles[name] = {"color": color, "linestyle": dashes}
    return styles


def _grid(count: int, height: float = 2.5) -> tuple[Figure, list[Axes]]:
    columns = 2 if count in (2, 4) else min(count, 3)
    rows = math.ceil(count / columns)
    width = 3.3 * columns if columns > 1 else 5.0
    figure = Figure(figsize=(width, height * rows + 0.6), layout="constrained", dpi=120)
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for spare in axes[count:]:
        spare.set_axis_off()
    for ax in axes:
        ax.tick_params(labelsize=8)
        ax.grid(alpha=0.25, linewidth=0.5)
    return figure, axes[:count]


def _finish(figure: Figure, axes: Sequence[Axes], x_label: str, y_label: str, path: Path) -> None:
    found: dict[str, Any] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        found.update(zip(labels, handles, strict=True))
    figure.legend(
        list(found.values()), list(found), loc="outside upper center", ncols=3, fontsize=8,
        frameon=False,
    )  # fmt: skip
    figure.supxlabel(x_label, fontsize=9)
    figure.supylabel(y_label, fontsize=9)
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    """A PNG with a palette of 64 colours, a third of the size of one without."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    image = Image.open(buffer).convert("RGB")
    image.quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def _draw_band(ax: Axes, traces: Array, statistic: str, style: Style, label: str) -> None:
    steps = np.arange(traces.shape[1])
    if statistic == "mean":
        middle = traces.mean(axis=0)
        error = stats.sem(traces, axis=0) if len(traces) > 1 else np.zeros_like(middle)
        low, high = middle - error, middle + error
    else:
        low, middle, high = np.quantile(traces, (0.25, 0.5, 0.75), axis=0)
    ax.plot(steps, middle, label=label, linewidth=1.5, **style)
    if len(traces) > 1:
        ax.fill_between(steps, low, high, color=style["color"], alpha=0.13, linewidth=0)


def _traces(
    records: Sequence[Record], problem: str, method: str, of: Callable[[Record], Array]
) -> Array | None:
    chosen = [of(r) for r in records if r.problem == problem and r.method == method]
    chosen = [trace for trace in chosen if len(trace)]
    return stack_traces(chosen) if chosen else None


def draw_curves(
    records: Sequence[Record], methods: Sequence[str], styles: Styles, statistic: str, path: Path
) -> None:
    """Best value so far of every problem: regret on a log axis where the optimum is known.

    Args:
        records: Of one suite; panels follow their order.
        methods: Those to draw.
        styles: Of the methods.
        statistic: ``"mean"`` with standard error, or ``"median"`` with quartiles.
        path: The PNG to write.
    """
    problems = list(dict.fromkeys(r.problem for r in records))
    known = records[0].optimal_value is not None
    figure, axes = _grid(len(problems))
    for ax, problem in zip(axes, problems, strict=True):
        ax.set_title(problem, fontsize=9)
        for name in methods:
            traces = _traces(records, problem, name, regret_trace if known else best_so_far)
            if traces is not None:
                traces = np.maximum(traces, REGRET_FLOOR) if known else traces
                _draw_band(ax, traces, statistic, styles[name], name)
        if known:
            ax.set_yscale("log", nonpositive="clip")
            _limit_to_middles(ax)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    band = "standard error" if statistic == "mean" else "quartiles"
    label = f"{'regret' if known else 'best value'}, {statistic} and {band}"
    _finish(figure, axes, "evaluations after the initial points", label, path)


def _limit_to_middles(ax: Axes) -> None:
    """Let a band that reaches below zero not stretch the log axis."""
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.lines])
    values = values[np.isfinite(values) & (values > 0)]
    if len(values):
        ax.set_ylim(values.min() / 2, values.max() * 2)


def draw_growth(
    records: Sequence[Record], methods: Sequence[str], styles: Styles, path: Path
) -> bool:
    """Mean growth of the box of every problem; ``False`` if no method recorded a box."""
    problems = list(dict.fromkeys(r.problem for r in records if r.boxes and r.method in methods))
    if not problems:
        return False
    figure, axes = _grid(len(problems))
    for ax, problem in zip(axes, problems, strict=True):
        ax.set_title(problem, fontsize=9)
        for name in methods:
            traces = _traces(records, problem, name, box_growth)
            if traces is not None:
                # Runs that ended at their target leave gaps at the end.
                mean = pd.DataFrame(traces).mean().to_numpy()
                steps = np.arange(1, len(mean) + 1)
                ax.plot(steps, mean, label=name, linewidth=1.5, **styles[name])
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    _finish(figure, axes, "evaluations after the initial points",
            "log10(side / start side), mean over dimensions and seeds", path)  # fmt: skip
    return True


def draw_distances(
    frame: pd.DataFrame, methods: Sequence[str], styles: Styles, fitted: Sequence[str], path: Path
) -> None:
    """Evaluations to the target against distance, a panel per function.

    Args:
        frame: Rows of the suite ``far``.
        methods: Those to draw.
        styles: Of the methods.
        fitted: Methods whose fit ``a + b log10(distance)`` is drawn as a thin line.
        path: The PNG to write.
    """
    groups = list(frame.groupby("function", sort=False))
    figure, axes = _grid(len(groups))
    for ax, (function, group) in zip(axes, groups, strict=True):
        ax.set_title(str(function), fontsize=9)
        for name in methods:
            rows = group[group["method"] == name]
            if rows.empty:
                continue
            style = styles[name]
            by_distance = rows.groupby("distance")["evaluations_to_target"]
            mean, error = by_distance.mean(), by_distance.sem().fillna(0.0)
            ax.errorbar(
                mean.index, mean, yerr=error, label=name, marker="o", markersize=3.5,
                linewidth=1.3, capsize=2, **style,
            )  # fmt: skip
            missed = rows[~rows["reached"].astype(bool)]["distance"].unique()
            ax.plot(missed, mean.loc[missed], "x", color=style["color"], markersize=8)
            fit = fit_distance(
                rows["distance"].to_numpy(float), rows["evaluations_to_target"].to_numpy(float)
            )
            if name in fitted and fit is not None:
                ends = np.array([rows["distance"].min(), rows["distance"].max()], dtype=float)
                ax.plot(ends, fit(ends), color=style["color"], linewidth=0.7)
        ax.set_xscale("log")
        distances = sorted(group["distance"].unique())
        ax.set_xticks(distances, [f"{distance:g}" for distance in distances])
        ax.minorticks_off()
        ax.set_ylim(bottom=0)
    _finish(figure, axes, "distance of the optimum, in sides of the start box",
            "evaluations to 1 % of the initial regret", path)  # fmt: skip


def draw_critical_difference(ranks: pd.Series, test: RankTest, path: Path) -> None:
    """Mean ranks on an axis; a bar joins methods that Nemenyi's test cannot tell apart."""
    from scikit_posthocs import critical_difference_diagram

    figure = Figure(
        figsize=(9.5, 1.4 + 0.14 * len(ranks) + 0.25 * math.sqrt(len(ranks))),
        layout="constrained", dpi=120,
    )  # fmt: skip
    ax = figure.subplots()
    critical_difference_diagram(
        ranks, test.pairs, ax=ax, label_props={"fontsize": 8},
        label_fmt_left="{label} ({rank:.1f})", label_fmt_right="({rank:.1f}) {label}",
        color_palette=[COLORS[i % len(COLORS)] for i in range(len(ranks))],
        elbow_props={"linewidth": 0.8}, crossbar_props={"linewidth": 1.6}, marker_props={"s": 12},
    )  # fmt: skip
    ax.tick_params(labelsize=8)
    _save(figure, path)
