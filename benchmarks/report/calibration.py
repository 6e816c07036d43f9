"""Tables and a figure of certificates against ``beta``: where they hold, and where they fail."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import binomtest

from benchmarks.report.figures import save_figure
from benchmarks.report.markdown import MISSING, write_table
from benchmarks.runs.calibration import CASES

WANTED = 0.9
GROUPS = {True: "as assumed, RBF", False: "other kernel, noise, fitted, growing"}


def share_with_interval(successes: int, count: int) -> tuple[float, float, float]:
    """A share with Clopper and Pearson's interval of 95 %."""
    ends = binomtest(successes, count).proportion_ci(0.95, method="exact")
    return successes / count, ends.low, ends.high


def tabulate_certificates(searches: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """A row per search: how many certificates it had, and how many were right."""
    frame = pd.DataFrame(searches)
    right = [sum(c["regret"] <= c["epsilon"] for c in found) for found in frame["certificates"]]
    return frame.assign(
        given=frame["certificates"].map(len),
        right=right,
        assumed=frame["case"].map(lambda name: CASES[name].assumed),
    )


def coverage_by(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Certificates, those that are right, their share, its interval, and whether bounds held."""
    rows = []
    for key, own in frame.groupby(columns, sort=False):
        given, right = int(own["given"].sum()), int(own["right"].sum())
        share, low, high = share_with_interval(right, given) if given else (float("nan"),) * 3
        held = own["held"].dropna()
        rows.append(
            {
                **dict(zip(columns, key, strict=True)),
                "paths": len(own),
                "certificates": given,
                "right": right,
                "coverage": share,
                "low": low,
                "high": high,
                "held": held.astype(float).mean() if len(held) else float("nan"),
                "evaluations": own["evaluations"].median(),
                "sqrt_beta": own["sqrt_beta"].median(),
            }
        )
    return pd.DataFrame(rows)


def cheapest_scale(pooled: pd.DataFrame, by_case: pd.DataFrame) -> float | None:
    """The smallest factor that keeps 90 % where all is as assumed, and so do all larger ones.

    Kept: the pooled interval reaches up to 90 % or above it, and its share and that of every case
    is at least that.
    """
    found = None
    for scale in sorted(pooled["scale"].unique(), reverse=True):
        whole = pooled[pooled["assumed"] & (pooled["scale"] == scale)]
        cases = by_case[by_case["assumed"] & (by_case["scale"] == scale)]
        shares = [*whole["coverage"].dropna(), *cases["coverage"].dropna()]
        if not shares or min(shares) < WANTED:
            break
        found = float(scale)
    return found


def format_calibration(searches: Sequence[dict[str, Any]]) -> str:
    """The curve over all cases, the verdict on the cheapest factor, and a table of every case."""
    frame = tabulate_certificates(searches)
    pooled = coverage_by(frame, ["assumed", "scale"])
    by_case = coverage_by(frame, ["case", "assumed", "scale"])
    curve = pooled.assign(group=pooled["assumed"].map(GROUPS)).set_index("group")
    parts = ["## All cases together", _cells(curve.drop(columns="assumed"), "cases")]
    parts += ["## The cheapest factor", _verdict(pooled, by_case)]
    parts += ["## By case", _cells(by_case.drop(columns="assumed").set_index("case"), "case")]
    return "\n\n".join(parts)


def _verdict(pooled: pd.DataFrame, by_case: pd.DataFrame) -> str:
    scale = cheapest_scale(pooled, by_case)
    if scale is None:
        return f"None of the factors keeps {WANTED:.0%} in every case that is as assumed."
    others = by_case[~by_case["assumed"] & (by_case["scale"] == scale)].dropna(subset="coverage")
    failing = others[others["coverage"] < WANTED]
    text = f"Chosen where all is as assumed: {scale:g} keeps {WANTED:.0%} in every case there. "
    if len(failing):
        words = "; ".join(f"{row.case}: {row.right} of {row.certificates}" for row in
                          failing.itertuples())  # fmt: skip
        return f"{text}It does not carry over to the others: {words}."
    count, right = int(others["certificates"].sum()), int(others["right"].sum())
    return f"{text}In the others it keeps it too: {right} of {count} certificates are right."


def _cells(frame: pd.DataFrame, corner: str) -> str:
    shown = pd.DataFrame(
        {
            "factor on beta": frame["scale"].map("{:g}".format),
            "sqrt(beta)": frame["sqrt_beta"].map("{:.2f}".format),
            "paths": frame["paths"].map(str),
            "certificates": frame["certificates"].map(str),
            "right": frame["right"].map(str),
            "coverage [95 %]": [
                MISSING if pd.isna(r.coverage) else f"{r.coverage:.2f} [{r.low:.2f}, {r.high:.2f}]"
                for r in frame.itertuples()
            ],
            "bound held": frame["held"].map(lambda v: MISSING if pd.isna(v) else f"{v:.2f}"),
            "evaluations": frame["evaluations"].map("{:g}".format),
        },
        index=frame.index,
    )
    return write_table(shown, corner)


def draw_calibration(searches: Sequence[dict[str, Any]], path: Path) -> None:
    """Coverage against the factor on beta, a line for each group of cases."""
    pooled = coverage_by(tabulate_certificates(searches), ["assumed", "scale"])
    figure = Figure(figsize=(5.5, 3.4), layout="constrained", dpi=120)
    ax = figure.subplots()
    colors = {True: "#0072B2", False: "#D55E00"}
    for assumed, own in pooled.dropna(subset="coverage").groupby("assumed"):
        ends = [own["coverage"] - own["low"], own["high"] - own["coverage"]]
        ax.errorbar(own["scale"], own["coverage"], yerr=ends, marker="o", capsize=3,
                    color=colors[bool(assumed)], label=GROUPS[bool(assumed)])  # fmt: skip
    ax.axhline(WANTED, color="black", linewidth=0.8, linestyle=":", label=f"{WANTED:.0%}")
    ax.set_xscale("log")
    scales = sorted(pooled["scale"].unique())
    ax.set_xticks(scales, [f"{scale:g}" for scale in scales])
    ax.minorticks_off()
    ax.set_ylim(0, 1.03)
    ax.set_xlabel("factor on beta of Theorem 5.1")
    ax.set_ylabel("share of certificates that are right")
    ax.legend(frameon=False, fontsize=8)
    save_figure(figure, path)
