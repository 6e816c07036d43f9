"""Tables and figure of the command ``speed``."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.report.figures import choose_styles, save_figure
from benchmarks.report.markdown import write_table

Rows = Sequence[dict[str, Any]]
NAMES = {
    "default": "default",
    "before": "before",
    "stock": "stock BoTorch",
    "optuna": "Optuna's GP",
    "ax": "Ax",
}
# The methods whose lines these have: the default of now and before, the told oracle, Optuna's.
_AS_IN_REPORTS = {
    "default": "EI-Turns",
    "before": "EI-Roaming",
    "stock": "LogEI-oracle",
    "optuna": "Optuna-GP-told",
    "ax": "Ax",
}


def medians(measured: Rows) -> pd.DataFrame:
    """A row per measurement, with the median of its seconds."""
    table = pd.DataFrame(list(measured))
    table["median"] = [pd.Series(taken).median() for taken in table["seconds"]]
    return table


def format_speed(measured: Rows) -> str:
    """By n, by d, and by what is asked for; ratios to the default's single suggestion."""
    table = medians(measured)
    plain = table[(table["q"] == 1) & (table["pending"] == 0) & (table["failed"] == 0)]
    parts, told = [], set[int]()
    for axis in ("n", "d"):
        other = "d" if axis == "n" else "n"
        fixed = _most_frequent(plain[other])
        part = plain[plain[other] == fixed]
        if part[axis].nunique() < 2:
            continue
        told.update(part.index)
        wide = _by_contender(part, axis)
        parts.append(f"By {axis}, {other} = {fixed}\n\n{write_table(_cells(wide), axis)}")
        if axis == "n":
            parts.append(f"Exponents of n: {_exponents(wide)}.")
            parts.append(_peaks(part[part["contender"] == "default"]))
    parts += [
        f"n = {n}, d = {d}\n\n" + write_table(_cells(_by_contender(part, "n")), "n")
        for (n, d), part in plain.drop(index=[*told]).groupby(["n", "d"])
    ]
    asked = table.drop(index=plain.index)
    if len(asked):
        parts.append(_by_request(table, asked))
    parts.append(
        "Milliseconds of CPU time of one suggestion, fit included: the median, and in brackets the "
        "ratio to the default's."
    )
    return "\n\n".join(parts)


def _by_contender(part: pd.DataFrame, axis: str) -> pd.DataFrame:
    return part.pivot_table(index=axis, columns="contender", values="median")


def _most_frequent(column: pd.Series) -> Any:
    return column.mode().iloc[0]


def _cells(wide: pd.DataFrame) -> pd.DataFrame:
    cells = pd.DataFrame(index=wide.index)
    for name in [name for name in NAMES if name in wide]:
        times = wide[name].map(lambda value: f"{1e3 * value:.1f}")
        ratios = (wide[name] / wide["default"]).map(lambda ratio: f" ({ratio:.1f})")
        told = times if name == "default" else times + ratios
        cells[NAMES[name]] = told.where(wide[name].notna(), "")
    return cells


def _exponents(wide: pd.DataFrame) -> str:
    """Slopes of the default's seconds over n, both in logarithms, between neighbours."""
    times = wide["default"].dropna()
    pairs = zip(times.index[:-1], times.index[1:], strict=True)
    slopes = [
        f"{math.log(times[b] / times[a]) / math.log(b / a):.1f} ({a} to {b})" for a, b in pairs
    ]
    whole = math.log(times.iloc[-1] / times.iloc[0]) / math.log(times.index[-1] / times.index[0])
    return f"{whole:.2f} over all; {', '.join(slopes)}"


def _peaks(part: pd.DataFrame) -> str:
    """The most memory of the default's process up to each n, libraries included."""
    peaks = [f"{peak:.0f} (n = {n})" for n, peak in zip(part["n"], part["peak"], strict=True)]
    return f"Memory of the default's process, libraries included, in MiB: {', '.join(peaks)}."


def _by_request(table: pd.DataFrame, asked: pd.DataFrame) -> str:
    rows = {}
    for (n, d, q, pending, failed), part in asked.groupby(["n", "d", "q", "pending", "failed"]):
        single = table[
            (table["n"] == n) & (table["d"] == d) & (table["q"] == 1)
            & (table["pending"] == 0) & (table["failed"] == 0)
        ].set_index("contender")["median"]  # fmt: skip
        known = {"pending": pending, "failed": failed}
        words = [f"q = {q}", *(f"{count} {name}" for name, count in known.items() if count)]
        here = part.set_index("contender")
        cells = {}
        if asked["memory"].any():  # else an earlier case has needed more
            cells["memory in MiB"] = f"{here['memory'].get('default', math.nan):.0f}"
        for name in [name for name in NAMES if name in here.index]:
            value = here["median"][name]
            cells[NAMES[name]] = f"{1e3 * value:.1f}"
            cells[f"{NAMES[name]}, times a single one"] = f"{value / single[name]:.1f}"
        rows[f"n = {n}, d = {d}, {', '.join(words)}"] = cells
    frame = pd.DataFrame.from_dict(rows, orient="index").fillna("")
    return f"By what is asked for\n\n{write_table(frame, 'case')}"


def draw_speed(measured: Rows, path: Path) -> None:
    """Seconds against n for every contender, both on logarithmic axes."""
    table = medians(measured)
    table = table[(table["q"] == 1) & (table["pending"] == 0) & (table["failed"] == 0)]
    table = table[table["d"] == _most_frequent(table["d"])]
    figure = Figure(figsize=(5.0, 3.4), layout="constrained", dpi=120)
    ax = figure.subplots()
    styles = choose_styles(_AS_IN_REPORTS["stock"], _AS_IN_REPORTS.values())
    for name in [name for name in NAMES if name in set(table["contender"])]:
        part = table[table["contender"] == name].sort_values("n")
        style = {"marker": "o", "ms": 3, "lw": 1.2, **styles[_AS_IN_REPORTS[name]]}
        ax.plot(part["n"], part["median"], label=NAMES[name], **style)
    ax.set_xscale("log")
    ax.set_yscale("log")
    sizes = sorted(table["n"].unique())
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.tick_params(labelsize=8)
    ax.set_xlabel("observations", fontsize=9)
    ax.set_ylabel("seconds of CPU time per suggestion", fontsize=9)
    ax.grid(alpha=0.25, linewidth=0.5)
    ax.legend(fontsize=8)
    save_figure(figure, path)
