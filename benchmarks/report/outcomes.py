"""The table of constrained problems and of several objectives, with ratios to the oracle."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.runs.outcomes import OUTCOME_SUITES

ORACLE = "oracle"
_FLOOR = 1e-3  # of the first measure: below it a run has found what there is
_SAMPLES = 2000


def final_value(record: dict[str, Any], unit: float) -> float:
    """The last measure in a unit of the problem, floored; the unit itself if nothing was found."""
    last = record["measure"][-1]
    return 1.0 if last is None else min(max(last / unit, _FLOOR), 1.0)


def problem_unit(records: Sequence[dict[str, Any]]) -> float:
    """The median measure of the initial points over all seeds, where there is one."""
    first = [r["measure"][0] for r in records if r["measure"][0] is not None]
    worst = [v for r in records for v in r["measure"] if v is not None]
    return float(np.median(first)) if first else max(worst, default=1.0) or 1.0


def ratios(
    records: Sequence[dict[str, Any]], method: str, oracle: str = ORACLE
) -> dict[str, list[float]]:
    """Log ratios of final values, method over oracle, by problem, for seeds that both have."""
    by: dict[str, dict[str, dict[int, dict[str, Any]]]] = defaultdict(lambda: defaultdict(dict))
    for record in records:
        if record["status"] == "completed":
            by[record["problem"]][record["method"]][record["seed"]] = record
    found: dict[str, list[float]] = {}
    for problem, methods in by.items():
        common = sorted(methods[method].keys() & methods[oracle].keys())
        unit = problem_unit([r for runs in methods.values() for r in runs.values()])
        if common:
            found[problem] = [
                math.log(final_value(methods[method][s], unit))
                - math.log(final_value(methods[oracle][s], unit))
                for s in common
            ]
    return found


def interval(logs: dict[str, list[float]], seed: int = 0) -> tuple[float, float, float]:
    """Geometric mean over problems of the mean over seeds; 95 % over problems and seeds."""
    rng = np.random.default_rng(seed)
    groups = [np.asarray(values) for values in logs.values()]
    center = float(np.mean([g.mean() for g in groups]))
    draws = []
    for _ in range(_SAMPLES):
        chosen = rng.integers(len(groups), size=len(groups))
        draws.append(np.mean([rng.choice(groups[i], len(groups[i])).mean() for i in chosen]))
    low, high = np.quantile(draws, [0.025, 0.975])
    return math.exp(center), math.exp(float(low)), math.exp(float(high))


def infeasible_share(records: Sequence[dict[str, Any]], method: str) -> float:
    """Share of the evaluations after the initial ones that broke a constraint."""
    mine = [r for r in records if r["method"] == method and r["status"] == "completed"]
    total = sum(r["budget"] for r in mine)
    return sum(r["infeasible"] for r in mine) / total if total else math.nan


def outcome_report(records: Sequence[dict[str, Any]]) -> str:
    """Markdown: a table per suite, and the ratios below it."""
    lines: list[str] = ["# Constraints and several objectives", ""]
    for suite in OUTCOME_SUITES:
        mine = [r for r in records if r["suite"] == suite]
        if mine:
            lines += _section(suite, mine)
    if len({r["suite"] for r in records}) > 1:
        lines += ["## Both together", ""]
        for method in dict.fromkeys(r["method"] for r in records):
            logs = ratios(records, method)
            if method != ORACLE and logs:
                lines.append(f"- {method}: {_ratio_in_words(logs)}")
        lines.append("")
    lines += ["## Records by commit", "", *_commits(records)]
    return "\n".join(lines) + "\n"


def _commits(records: Sequence[dict[str, Any]]) -> list[str]:
    """How many records each method has of each commit."""
    counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        metadata = record.get("metadata", {})
        commit = (metadata.get("commit") or "unknown")[:7]
        changed = " with changes" if metadata.get("uncommitted_changes") else ""
        counts[record["method"], f"{commit}{changed}"] += 1
    return [f"- {method}: {commit} ({n})" for (method, commit), n in sorted(counts.items())]


def _ratio_in_words(logs: dict[str, list[float]]) -> str:
    ratio, low, high = interval(logs)
    pairs = sum(map(len, logs.values()))
    return (
        f"ratio to the same model told the domain {ratio:.2f} [{low:.2f}, {high:.2f}], "
        f"geometric mean over {len(logs)} problems and {pairs} pairs of runs"
    )


_WHAT = {
    "constrained": "regret of the best feasible point",
    "multi": "hypervolume that lacks",
}


def _section(suite: str, records: Sequence[dict[str, Any]]) -> list[str]:
    methods = list(dict.fromkeys(r["method"] for r in records))
    failed = [r for r in records if r["status"] != "completed"]
    seeds = sorted({r["seed"] for r in records})
    budgets = sorted({r["budget"] for r in records})
    lines = [
        f"## {suite}: {_WHAT[suite]}, median over {len(seeds)} seeds",
        "",
        "| problem | " + " | ".join(methods) + " |",
        "|---|" + "--:|" * len(methods),
    ]
    for problem in OUTCOME_SUITES[suite]:
        cells = []
        for method in methods:
            runs = [r for r in records if r["problem"] == problem and r["method"] == method]
            last = [r["measure"][-1] for r in runs if r["status"] == "completed"]
            values = [math.inf if v is None else v for v in last]
            cells.append(f"{np.median(values):.3g} ({len(values)})" if values else "-")
        lines.append(f"| {problem} | " + " | ".join(cells) + " |")
    lines += [
        "",
        f"After {' or '.join(map(str, budgets))} evaluations beyond the initial points, which are "
        "the same for all: 3 to a dimension, in the start box. In parentheses: how many runs.",
        "",
    ]
    with_constraints = [r for r in records if OUTCOME_SUITES[suite][r["problem"]].num_constraints]
    for method in methods:
        logs = ratios(records, method)
        share = infeasible_share(with_constraints, method)
        text = (
            f"- {method}: infeasible evaluations {share:.2f}" if share == share else f"- {method}"
        )
        if method != ORACLE and logs:
            text += f"; {_ratio_in_words(logs)}"
        lines.append(text)
    if failed:
        named = {(r["problem"], r["method"], r["seed"]) for r in failed}
        lines.append(f"- failed: {sorted(named)}")
    return [*lines, ""]
