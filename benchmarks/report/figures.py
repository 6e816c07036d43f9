"""Figures of a report: curves, box growth, evaluations against distance, critical differences."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
from scikit_posthocs import critical_difference_diagram

from benchmarks.report.statistics import RankTest, fit_distance

# A method has a colour of its own, and has it in every figure of every report. The best known have
# those of Okabe and Ito, without the yellow, which is too light for a line on white. Methods of one
# kind differ in their dashes, too.
_OF_ITS_OWN: dict[str, tuple[str, int]] = {
    "EI-Turns": ("#D55E00", 0),
    "EI-Roaming": ("#F4A582", 1),
    "GPUCB-UBO": ("#0072B2", 0),
    "GPUCB-UBO (as published)": ("#08306B", 1),
    "authors": ("#41B6C4", 2),
    "GPUCB-FBO": ("#7B3294", 3),
    "GPUCB-Vanilla": ("#661100", 0),
    "GPUCB-Volx2": ("#6699CC", 0),
    "HuBO-EI": ("#009E73", 0),
    "HuBO": ("#66C2A5", 1),
    "HD-HuBO-EI": ("#006D2C", 2),
    "HD-HuBO": ("#A6D96A", 3),
    "EI-UBO": ("#CC79A7", 0),
    "EI-VarCap": ("#882255", 1),
    "EI-Vanilla": ("#B2182B", 0),
    "EI-Volx2": ("#332288", 0),
    "EI-H": ("#E7298A", 0),
    "EI-Q": ("#999933", 0),
    "TuRBO-1": ("#E69F00", 0),
    "CMA-ES": ("#8C510A", 1),
    "Optuna-GP-told": ("#56B4E9", 0),
    "Optuna-GP-wide5": ("#9ECAE1", 1),
    "LogEI-wide5": ("#969696", 1),
    "LogEI-wide25": ("#BDBDBD", 1),
    "same-told": ("#555555", 0),
    "same-told-spread": ("#777777", 2),
}
_OF_OTHERS = ("#8C564B", "#117733", "#AA4499", "#44AA99", "#C7B04C")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)))
Styles = dict[str, dict[str, Any]]
REGRET_FLOOR = 1e-12  # a log axis has no place for an optimum found exactly
_DEEPEST = 1e-7  # of the largest value that is drawn: one run that is exact hides no other
# Of an axis with up to so many decades: powers of ten alone would leave it with a number or none.
_STEPS = {1.3: (1.0, 2.0, 5.0), 2.6: (1.0, 3.0)}
EVALUATIONS = "evaluations after the initial points"


def choose_styles(oracle: str, methods: Iterable[str]) -> Styles:
    """The same line for a method in every figure; the oracle is black.

    Well-known methods have a colour and dashes of their own. The others get what is left, in their
    order: colours, then dashes.
    """
    styles: Styles = {oracle: {"color": "black", "linestyle": (0, (4, 2))}}
    left = [(color, dashes) for dashes in range(len(DASHES)) for color in _OF_OTHERS]
    strangers = 0
    for name in dict.fromkeys(name for name in methods if name != oracle):
        color, dashes = _OF_ITS_OWN.get(name, left[strangers % len(left)])
        strangers += name not in _OF_ITS_OWN
        styles[name] = {"color": color, "linestyle": DASHES[dashes]}
    return styles


def _make_panels(titles: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """A grid of small panels."""
    count = len(titles)
    columns = 2 if count in (2, 4) else min(count, 3)
    rows = math.ceil(count / columns)
    width = 3.3 * columns if columns > 1 else 5.0
    figure = Figure(figsize=(width, 2.5 * rows + 0.6), layout="constrained", dpi=120)
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for spare in axes[count:]:
        spare.set_axis_off()
    for ax, title in zip(axes, titles, strict=False):
        ax.set_title(title, fontsize=9)
        ax.tick_params(labelsize=8)
        ax.grid(alpha=0.25, linewidth=0.5)
    return figure, axes[:count]


def _finish_panels(figure: Figure, x_label: str, y_label: str, path: Path) -> None:
    """One legend and one pair of labels for all panels."""
    found: dict[str, Any] = {}
    for ax in figure.axes:
        handles, labels = ax.get_legend_handles_labels()
        found.update(zip(labels, handles, strict=True))
    figure.legend(
        list(found.values()), list(found), loc="outside upper center", ncols=3, fontsize=8,
        frameon=False,
    )  # fmt: skip
    figure.supxlabel(x_label, fontsize=9)
    figure.supylabel(y_label, fontsize=9)
    save_figure(figure, path)


def save_figure(figure: Figure, path: Path) -> None:
    """A PNG for the screen and a PDF for print, with every colour as it was given."""
    figure.savefig(path)
    figure.savefig(path.with_suffix(".pdf"), metadata={"CreationDate": None})


def draw_curves(
    rows: pd.DataFrame, methods: Sequence[str], styles: Styles, statistic: str, path: Path
) -> None:
    """Best value so far of every problem: regret on a log axis where the optimum is known.

    Args:
        rows: Of one suite; panels follow their order.
        methods: Those to draw.
        styles: Of the methods.
        statistic: ``"mean"`` with standard error, or ``"median"`` with quartiles.
        path: The PNG to write.
    """
    known = bool(rows["optimal_value"].notna().all())
    band = "standard error" if statistic == "mean" else "quartiles"
    figure, axes = _make_panels(rows["problem"].unique())
    for ax, (_, panel) in zip(axes, rows.groupby("problem", sort=False), strict=True):
        for name, traces in _traces(panel, "trace", methods):
            traces = traces.clip(lower=REGRET_FLOOR) if known else traces
            low, middle, high = _spread(traces, statistic)
            ax.plot(middle, label=name, linewidth=1.5, **styles[name])
            ax.fill_between(
                middle.index, low, high, color=styles[name]["color"], alpha=0.13, linewidth=0
            )
        if ax is axes[0]:
            ax.fill_between([], [], color="gray", alpha=0.3, linewidth=0, label=f"band: {band}")
        if known:
            ax.set_yscale("log", nonpositive="clip")
            _limit_to_middles(ax)
            _label_decades(ax)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    label = f"{'regret' if known else 'best value'}, {statistic} and {band}"
    _finish_panels(figure, EVALUATIONS, label, path)


def _traces(
    panel: pd.DataFrame, column: str, methods: Sequence[str]
) -> list[tuple[str, pd.DataFrame]]:
    """For each method that has them a row per run; shorter ones end in NaN."""
    groups = {name: group[column].tolist() for name, group in panel.groupby("method")}
    return [(name, pd.DataFrame(groups[name])) for name in methods if name in groups]


def _spread(traces: pd.DataFrame, statistic: str) -> tuple[pd.Series, pd.Series, pd.Series]:
    if statistic == "median":
        return traces.quantile(0.25), traces.median(), traces.quantile(0.75)
    middle, error = traces.mean(), traces.sem().fillna(0.0)
    return middle - error, middle, middle + error


def _limit_to_middles(ax: Axes) -> None:
    """Let a band that reaches below zero not stretch the log axis."""
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.lines])
    values = values[np.isfinite(values) & (values > 0)]
    if len(values):
        ax.set_ylim(max(values.min() / 2, values.max() * _DEEPEST), values.max() * 2)


def _label_decades(ax: Axes) -> None:
    """Powers of ten, or steps between them in plain numbers where there are few."""
    low, high = ax.get_ylim()
    steps = [steps for most, steps in _STEPS.items() if math.log10(high / low) <= most]
    if steps:
        ax.yaxis.set_major_locator(LogLocator(subs=steps[0]))
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        ax.yaxis.set_major_locator(LogLocator(numticks=5))
    ax.yaxis.set_minor_formatter(NullFormatter())


def draw_growth(rows: pd.DataFrame, methods: Sequence[str], styles: Styles, path: Path) -> bool:
    """Mean growth of the box of every problem; ``False`` if no method recorded a box."""
    boxed = rows[rows["growth"].astype(bool) & rows["method"].isin(methods)]
    if boxed.empty:
        return False
    figure, axes = _make_panels(boxed["problem"].unique())
    for ax, (_, panel) in zip(axes, boxed.groupby("problem", sort=False), strict=True):
        for name, traces in _traces(panel, "growth", methods):
            # Runs that ended at their target leave gaps at the end.
            ax.plot(traces.columns + 1, traces.mean(), label=name, linewidth=1.5, **styles[name])
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    _finish_panels(figure, EVALUATIONS, "log10(side / start side), mean", path)
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
    figure, axes = _make_panels(frame["function"].unique())
    for ax, (_, panel) in zip(axes, frame.groupby("function", sort=False), strict=True):
        for name in methods:
            rows = panel[panel["method"] == name]
            if len(rows):
                _draw_line(ax, rows, name, styles, name in fitted)
        ax.set_xscale("log")
        distances = sorted(panel["distance"].unique())
        ax.set_xticks(distances, [f"{distance:g}" for distance in distances])
        ax.minorticks_off()
        ax.set_ylim(bottom=0)
    axes[0].plot([], [], "x", color="gray", markersize=8, label="a run never got there")
    axes[0].plot([], [], color="gray", lw=0.7, label="a + b log10(distance)")
    _finish_panels(figure, "distance of the optimum, in sides of the start box",
                  "evaluations to 1 % of the initial regret, mean and standard error",
                  path)  # fmt: skip


def _draw_line(ax: Axes, rows: pd.DataFrame, name: str, styles: Styles, fitted: bool) -> None:
    style = styles[name]
    by_distance = rows.groupby("distance")["evaluations_to_target"]
    mean, error = by_distance.mean(), by_distance.sem().fillna(0.0)
    ax.errorbar(
        mean.index, mean, yerr=error, label=name, marker="o", markersize=3.5,
        linewidth=1.3, capsize=2, **style,
    )  # fmt: skip
    missed = rows[~rows["reached"].astype(bool)]["distance"].unique()
    ax.plot(missed, mean.loc[missed], "x", color=style["color"], markersize=8)
    fit = fit_distance(rows)
    if fitted and fit is not None:
        ends = np.array([mean.index.min(), mean.index.max()])
        ax.plot(ends, fit.intercept + fit.slope * np.log10(ends), color=style["color"], lw=0.7)


def draw_critical_difference(ranks: pd.Series, test: RankTest, styles: Styles, path: Path) -> None:
    """Mean ranks on an axis; a bar joins methods that Nemenyi's test cannot tell apart."""
    height = 1.6 + 0.14 * len(ranks) + 0.25 * math.sqrt(len(ranks))
    figure = Figure(figsize=(9.5, height), layout="constrained", dpi=120)
    ax = figure.subplots()
    critical_difference_diagram(
        ranks, test.pairs, ax=ax, label_props={"fontsize": 8},
        label_fmt_left="{label} ({rank:.1f})", label_fmt_right="({rank:.1f}) {label}",
        color_palette={name: styles[name]["color"] for name in ranks.index},
        elbow_props={"linewidth": 0.8}, crossbar_props={"linewidth": 1.6}, marker_props={"s": 12},
    )  # fmt: skip
    ax.tick_params(labelsize=8)
    figure.supxlabel(
        "mean rank, low is good; a bar joins methods that Nemenyi's test at 5 % cannot tell apart",
        fontsize=8,
    )
    save_figure(figure, path)
