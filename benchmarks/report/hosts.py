"""Tables of the command ``hosts``."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any


def format_hosts(runs: Sequence[Mapping[str, Any]], overhead: Mapping[str, Sequence[float]]) -> str:
    """Best values by problem, host and method; and what adapters add to a suggestion."""
    lines = ["| problem | host | method | best values | median |", "|---|---|---|---|--:|"]
    groups: dict[tuple[str, str, str], list[float]] = {}
    for run in runs:
        key = (run["problem"], run["host"], run["method"])
        groups.setdefault(key, []).append(min(run["values"]))
    for (problem, host, method), best in groups.items():
        told = ", ".join(f"{value:.3g}" for value in best)
        lines.append(f"| {problem} | {host} | {method} | {told} | {median(best):.3g} |")
    if overhead:
        lines += ["", "| adapter | adds to a suggestion |", "|---|--:|"]
        for host, (through, alone) in overhead.items():
            lines.append(f"| {host} | {100 * (through / alone - 1):+.1f} % |")
    return "\n".join(lines)
