"""Ratios of constrained and of multi-objective runs, by hand."""

import math
from typing import Any

import pytest

from benchmarks.report.outcomes import infeasible_share, interval, outcome_report, ratios


def record(method: str, seed: int, measure: list[float | None], **kw: Any) -> dict[str, Any]:
    return {
        **{"suite": "constrained", "problem": "bird2", "method": method, "seed": seed},
        **{"budget": 10, "status": "completed", "infeasible": 3, "measure": measure},
        **kw,
    }


def test_ratios_are_of_common_seeds_in_units_of_the_problem() -> None:
    records = [
        record("EI-Turns", 0, [8.0, 2.0]),
        record("oracle", 0, [8.0, 1.0]),
        record("EI-Turns", 1, [8.0, 4.0]),
        record("oracle", 1, [8.0, 4.0]),
        record("EI-Turns", 2, [8.0, 1.0]),
    ]
    assert ratios(records, "EI-Turns") == {"bird2": pytest.approx([math.log(2), 0.0])}
    ratio, low, high = interval(ratios(records, "EI-Turns"))
    assert ratio == pytest.approx(math.sqrt(2)) and low <= ratio <= high


def test_nothing_feasible_counts_as_the_unit_and_solved_as_the_floor() -> None:
    records = [record("EI-Turns", 0, [None, None]), record("oracle", 0, [8.0, 1e-9])]
    assert ratios(records, "EI-Turns")["bird2"] == pytest.approx([math.log(1000)])


def test_the_report_has_every_method_and_what_failed() -> None:
    records = [
        record("EI-Turns", 0, [8.0, 2.0], infeasible=1),
        record("oracle", 0, [8.0, 1.0]),
        record("EI-Turns", 1, [8.0], status="failed"),
    ]
    assert infeasible_share(records, "EI-Turns") == 0.1
    text = outcome_report(records)
    assert "| bird2 | 2 (1) | 1 (1) |" in text
    assert "EI-Turns: infeasible evaluations 0.10; ratio" in text and "failed: [('bird2'" in text
