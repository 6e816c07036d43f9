"""Tables and a figure of certificates against ``beta``: where they hold, and where they fail."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import binomtest

from benchmarks.report.figures import save_figure
from benchmarks.report.markdown import MISSING, write_table
from benchmarks.runs.calibration import CASES, CHOICE, JUDGEMENT, LEVELS, Case

WANTED = 0.9
THEOREM, CALIBRATED = "theorem", "calibrated"
_COUNTS = ["paths", "certificates", "right", "held", "evaluations", "root"]
_LEVEL = ["level", "factor"]
_COLORS = {"known": "#0072B2", "fitted": "#D55E00", "growing box": "#009E73"}
_MARKS = {CHOICE: "o", JUDGEMENT: "^"}


def share_with_interval(successes: int, count: int) -> tuple[float, float, float]:
    """A share with Clopper and Pearson's interval of 95 %."""
    ends = binomtest(successes, count).proportion_ci(0.95, method="exact")
    return successes / count, ends.low, ends.high


def tabulate_cells(blocks: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """A row per block and level, with what the case is."""
    rows = [
        {
            "case": block["case"],
            "half": CASES[block["case"]].half,
            "model": _kind(CASES[block["case"]]),
            **cell,
        }
        for block in blocks
        for cell in block["cells"]
    ]
    return pd.DataFrame(rows)


def _kind(case: Case) -> str:
    """What is pooled: certificates of one path in a box that grows depend on each other."""
    if case.growing:
        return "growing box"
    return "fitted" if case.fitted else "known"


def coverage_by(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Certificates, those that are right, their share, its interval, and whether bounds held."""
    rows = []
    for key, own in frame.groupby(columns, sort=False):
        counts = {name: own[name].sum() for name in _COUNTS}
        given, right = int(counts["certificates"]), int(counts["right"])
        share, low, high = share_with_interval(right, given) if given else (float("nan"),) * 3
        watched = own.dropna(subset="held")["paths"].sum()  # none of a box that grows
        rows.append(
            {
                **dict(zip(columns, key, strict=True)),
                "paths": int(counts["paths"]),
                "certificates": given,
                "right": right,
                "coverage": share,
                "low": low,
                "high": high,
                "held": counts["held"] / watched if watched else float("nan"),
                "evaluations": counts["evaluations"] / counts["paths"],
                "root": counts["root"] / counts["paths"],
            }
        )
    return pd.DataFrame(rows)


def cheapest_factor(by_case: pd.DataFrame) -> float | None:
    """The smallest factor on the calibrated level that keeps 90 %, and so do all larger ones.

    Kept: in every case that it is chosen on, with known hyper-parameters, at least 90 % of the
    certificates are right.
    """
    own = by_case[(by_case["half"] == CHOICE) & (by_case["level"] == CALIBRATED)]
    own, found = own[own["model"] == "known"], None
    for factor in sorted(own["factor"].unique(), reverse=True):
        shares = own.loc[own["factor"] == factor, "coverage"].dropna()
        if shares.empty or shares.min() < WANTED:
            break
        found = float(factor)
    return found


def format_calibration(blocks: Sequence[dict[str, Any]]) -> str:
    """The verdict on the cheapest factor, the curves, and a table of every case."""
    frame = tabulate_cells(blocks)
    by_case = coverage_by(frame, ["case", "half", "model", *_LEVEL])
    pooled = coverage_by(frame, ["half", "model", *_LEVEL])
    pooled = pooled.sort_values(["half", "model"], kind="stable")
    names = pooled["half"] + ", " + pooled["model"]
    return "\n\n".join(
        [
            "## The cheapest level",
            _verdict(by_case),
            "## All cases together",
            _cells(pooled.assign(case=names)),
            "## By case",
            _cells(by_case),
        ]
    )


def _verdict(by_case: pd.DataFrame) -> str:
    factor = cheapest_factor(by_case)
    if factor is None:
        return f"None of the factors keeps {WANTED:.0%} in every case that it is chosen on."
    lines = [
        f"{factor:g} is the smallest factor on the calibrated level that keeps {WANTED:.0%} in "
        "every case that it is chosen on and in which hyper-parameters are known.",
        "",
        _told(by_case, factor, JUDGEMENT, "known", "Other kernels, hyper-parameters known"),
        _told(by_case, factor, CHOICE, "fitted", "The same kernel, hyper-parameters fitted"),
        _told(by_case, factor, JUDGEMENT, "fitted", "Other kernels, another one fitted"),
    ]
    return "\n".join(lines)


def _told(by_case: pd.DataFrame, factor: float, half: str, model: str, head: str) -> str:
    """What a factor is worth elsewhere, and the theorem's level beside it."""
    own = by_case[(by_case["half"] == half) & (by_case["model"] == model)]
    at = own[(own["level"] == CALIBRATED) & (own["factor"] == factor)]
    whole = own[(own["level"] == THEOREM) & (own["factor"] == 1)]
    if not at["certificates"].sum():
        return f"- {head}: no certificates."
    low = at[at["high"] < WANTED]
    words = "; ".join(f"{r.case}: {r.right} of {r.certificates}" for r in low.itertuples())
    below = f"below {WANTED:.0%} by the interval: {words}" if words else (
        f"no case is below {WANTED:.0%} by its interval"
    )  # fmt: skip
    return (
        f"- {head}: {_share(at)} right after {_evaluations(at):.0f} evaluations; {below}. "
        f"The theorem's level: {_share(whole)} after {_evaluations(whole):.0f}."
    )


def _evaluations(rows: pd.DataFrame) -> float:
    """Mean over paths."""
    return float((rows["evaluations"] * rows["paths"]).sum() / rows["paths"].sum())


def _share(rows: pd.DataFrame) -> str:
    """Right certificates of those that were given, and of how many paths."""
    given, right = int(rows["certificates"].sum()), int(rows["right"].sum())
    paths = int(rows["paths"].sum())
    if not given:
        return f"no certificate on {paths} paths"
    share, low, high = share_with_interval(right, given)
    return f"{right} of {given} certificates ({share:.3f} [{low:.3f}, {high:.3f}]; {paths} paths)"


def _cells(frame: pd.DataFrame) -> str:
    shown = pd.DataFrame(
        {
            "level": [f"{r.factor:g} {r.level}" for r in frame.itertuples()],
            "sqrt(beta)": frame["root"].map("{:.2f}".format),
            "paths": frame["paths"].map(str),
            "certificates": frame["certificates"].map(str),
            "right": frame["right"].map(str),
            "coverage [95 %]": [
                MISSING if pd.isna(r.coverage) else f"{r.coverage:.2f} [{r.low:.2f}, {r.high:.2f}]"
                for r in frame.itertuples()
            ],
            "bound held": frame["held"].map(lambda v: MISSING if pd.isna(v) else f"{v:.2f}"),
            "evaluations": frame["evaluations"].map("{:.1f}".format),
        }
    ).set_index(frame["case"])
    return write_table(shown, "case")


def draw_calibration(blocks: Sequence[dict[str, Any]], path: Path) -> None:
    """Coverage against the factor on either level, a line for each half and kind of model."""
    pooled = coverage_by(tabulate_cells(blocks), ["half", "model", *_LEVEL])
    figure = Figure(figsize=(8.0, 3.6), layout="constrained", dpi=120)
    axes = figure.subplots(1, 2, sharey=True)
    titles = {THEOREM: "Theorem 5.1", CALIBRATED: "the calibrated level"}
    for ax, level in zip(axes, (THEOREM, CALIBRATED), strict=True):
        part = pooled[pooled["level"] == level].dropna(subset="coverage")
        for (half, model), own in part.groupby(["half", "model"], sort=False):
            ends = [own["coverage"] - own["low"], own["high"] - own["coverage"]]
            dashed = "-" if half == CHOICE else "--"
            ax.errorbar(own["factor"], own["coverage"], yerr=ends, capsize=2.5, linestyle=dashed,
                        marker=_MARKS[str(half)], markersize=4.5, color=_COLORS[str(model)],
                        label=f"{half}, {model}")  # fmt: skip
        ax.axhline(WANTED, color="black", linewidth=0.8, linestyle=":", label=f"{WANTED:.0%}")
        ax.set_xscale("log")
        factors = sorted({factor for name, factor in LEVELS if name == level})
        ax.set_xticks(factors, [f"{factor:g}" for factor in factors])
        ax.minorticks_off()
        ax.set_xlabel(f"factor on beta of {titles[level]}")
    axes[0].set_ylim(0, 1.03)
    axes[0].set_ylabel("share of certificates that are right")
    axes[1].legend(frameon=False, fontsize=8, title="half of the cases, hyper-parameters",
                   title_fontsize=8)  # fmt: skip
    save_figure(figure, path)
