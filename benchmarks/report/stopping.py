"""Tables and a figure of rules for stopping: evaluations saved, and regret at the stop."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.report.calibration import share_with_interval
from benchmarks.report.figures import save_figure
from benchmarks.report.markdown import MISSING, interval, percent, plain, write_table
from benchmarks.runs.stopping import PATHS, Run

HINDSIGHT = "in hindsight"  # the first evaluation with regret at most epsilon
GROUPS = {True: "GP sample paths, model known", False: "textbook functions, model fitted"}
REGRET_FLOOR = 1e-4  # in epsilons: a log axis has no place for an optimum found exactly
_COLORS = {
    "regret bound, beta": "#0072B2",
    "regret bound, beta/5": "#56B4E9",
    "Wilson": "#D55E00",
    "Optuna": "#009E73",
    "never": "#555555",
}
_MARKERS = {True: "o", False: "^"}


def tabulate_stops(runs: Sequence[Run]) -> pd.DataFrame:
    """A row per run and rule; a rule that does not stop uses the whole budget."""
    rows: list[dict[str, Any]] = []
    for run in runs:
        regrets, epsilon = run["regrets"], run["epsilon"]
        first = next((n for n, regret in enumerate(regrets, 1) if regret <= epsilon), None)
        hindsight = None if first is None else max(first, run["initial"])
        for rule, stop in {**run["stops"], HINDSIGHT: hindsight}.items():
            used = len(regrets) if stop is None else stop
            regret, initial = regrets[used - 1], regrets[run["initial"] - 1]
            rows.append(
                {
                    "problem": run["problem"],
                    "is_path": run["problem"] in PATHS,
                    "policy": run["policy"],
                    "rule": rule,
                    "stopped": stop is not None,
                    "used": used,
                    "saved": 1 - used / len(regrets),
                    # A start at the optimum leaves nothing to gain.
                    "relative": regret / initial if initial > 0 else 0.0,
                    "epsilons": regret / epsilon,
                    "right": regret <= epsilon,
                    "seconds": run["seconds"].get(rule, 0.0),
                }
            )
    return pd.DataFrame(rows)


def format_stopping(runs: Sequence[Run]) -> str:
    """A table of all, one of every kind of function and policy, and one by problem."""
    frame = tabulate_stops(runs)
    parts = ["## All runs together", _by_rule(frame)]
    for (is_path, policy), own in frame.groupby(["is_path", "policy"], sort=False):
        parts += [f"## {GROUPS[bool(is_path)]}: data of {policy}", _by_rule(own)]
    return "\n\n".join([*parts, "## By problem", _by_problem(frame)])


def _by_rule(frame: pd.DataFrame) -> str:
    rows = {}
    for rule, own in frame.groupby("rule", sort=False):
        stopped = own[own["stopped"]]
        right = int(stopped["right"].sum())
        if len(stopped):
            share, low, high = share_with_interval(right, len(stopped))
            coverage = f"{share:.2f}{interval(low, high, '{:.2f}'.format)}"
        else:
            coverage = MISSING
        rows[rule] = {
            "runs": str(len(own)),
            "stopped": str(len(stopped)),
            "of these right": str(right) if len(stopped) else MISSING,
            "share [95 %]": coverage,
            "evaluations": f"{own['used'].median():g}",
            "saved": percent(own["saved"].mean()),
            "regret / epsilon": plain(own["epsilons"].median()),
            "at the worst stop": plain(stopped["epsilons"].max()),
            "regret / initial": plain(own["relative"].median()),
            "seconds": f"{own['seconds'].mean():.1f}",
        }
    return write_table(pd.DataFrame.from_dict(rows, orient="index"), "rule")


def _by_problem(frame: pd.DataFrame) -> str:
    """Median evaluations of every rule, with how many stopped and how many of these were right."""

    def cell(own: pd.DataFrame) -> str:
        stopped = own[own["stopped"]]
        return f"{own['used'].median():g} ({int(stopped['right'].sum())} of {len(stopped)})"

    groups = frame.groupby(["problem", "policy", "rule"], sort=False)
    cells = pd.Series({key: cell(own) for key, own in groups}).unstack(sort=False)
    cells.index = [f"{problem}, {policy}" for problem, policy in cells.index]
    return write_table(cells, "problem, data")


def draw_stopping(runs: Sequence[Run], path: Path) -> None:
    """Regret at the stop against evaluations used, a panel per policy, a colour per rule."""
    frame = tabulate_stops(runs)
    policies = list(frame["policy"].unique())
    figure = Figure(figsize=(4.2 * len(policies) + 0.6, 4.4), layout="constrained", dpi=120)
    axes = figure.subplots(1, len(policies), squeeze=False, sharex=True, sharey=True)[0]
    names = [rule for rule in _COLORS if rule in set(frame["rule"])]
    for ax, policy in zip(axes, policies, strict=True):
        for number, rule in enumerate(names):
            rows = frame[(frame["policy"] == policy) & (frame["rule"] == rule)]
            # Side by side, where several rules stop at the same evaluation.
            shift = 0.5 * (number - (len(names) - 1) / 2)
            for (is_path, stopped), own in rows.groupby(["is_path", "stopped"]):
                ax.scatter(
                    own["used"] + shift, own["epsilons"].clip(lower=REGRET_FLOOR), s=20,
                    marker=_MARKERS[bool(is_path)], edgecolors=_COLORS[rule], linewidths=0.9,
                    facecolors=_COLORS[rule] if stopped else "none", alpha=0.85,
                )  # fmt: skip
        ax.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
        ax.set_yscale("log")
        ax.set_title(f"data of {policy}", fontsize=9)
        ax.tick_params(labelsize=8)
        ax.grid(alpha=0.25, linewidth=0.5)
    # The legend's marks are drawn nowhere else, so that each says one thing.
    first = axes[0]
    for rule in names:
        first.scatter([], [], s=30, marker="s", color=_COLORS[rule], label=rule)
    for is_path, text in GROUPS.items():
        first.scatter([], [], s=25, marker=_MARKERS[is_path], color="gray", label=text)
    first.scatter([], [], s=25, marker="o", facecolors="none", edgecolors="gray",
                  label="hollow: did not stop, whole budget used")  # fmt: skip
    first.plot([], [], color="black", linewidth=0.8, linestyle=":", label="epsilon: right below")
    figure.legend(loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    figure.supxlabel("evaluations at the stop", fontsize=9)
    label = f"regret at the stop / epsilon (at least {REGRET_FLOOR:g} is drawn)"
    figure.supylabel(label, fontsize=9)
    save_figure(figure, path)
