from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.report.stopping import HINDSIGHT, draw_stopping, format_stopping, tabulate_stops

# Epsilon is 1. After 4 evaluations of 10 regret is below it.
REGRETS = [8.0, 8.0, 4.0, 0.5, 0.5, 0.5, 0.1, 0.1, 0.0, 0.0]


def made(problem: str = "beale", policy: str = "LogEI", **stops: int | None) -> dict[str, Any]:
    names = {"early": "regret bound, beta", "late": "Wilson", "not_at_all": "never"}
    named = {names[key]: stop for key, stop in stops.items()}
    return {
        "problem": problem, "policy": policy, "seed": 0, "initial": 2, "epsilon": 1.0,
        "regrets": REGRETS, "stops": named, "seconds": dict.fromkeys(named, 2.0),
    }  # fmt: skip


def test_a_stop_is_judged_by_regret_at_it() -> None:
    frame = tabulate_stops([made(early=3, late=7, not_at_all=None)]).set_index("rule")
    early, late, never = (frame.loc[r] for r in ("regret bound, beta", "Wilson", "never"))
    assert (early["used"], early["epsilons"], early["right"]) == (3, 4.0, False)
    assert (early["saved"], early["relative"]) == (0.7, 0.5)
    assert (late["used"], late["epsilons"], late["right"]) == (7, 0.1, True)
    assert (never["used"], never["saved"], never["stopped"]) == (10, 0.0, False)
    assert frame.loc[HINDSIGHT, "used"] == 4


def test_hindsight_is_not_before_the_initial_points_are_in() -> None:
    lucky = {**made(late=5), "regrets": [0.0] * 10}
    frame = tabulate_stops([lucky]).set_index("rule")
    assert frame.loc[HINDSIGHT, "used"] == 2
    assert frame.loc["Wilson", "relative"] == 0.0  # of nothing to gain


def test_only_stops_can_be_right_or_wrong() -> None:
    runs = [made(early=3), made(early=4), made(early=None)]
    text = format_stopping(runs)
    # One of two stops is right; its interval is Clopper and Pearson's.
    # The run without a stop ends at a regret of 0, which is no stop's.
    row = "| 3 | 2 | 1 | 0.50 [0.01, 0.99] | 4 | 43% | 0.50 | 4.00 | 0.0625 | 2.0 |"
    assert f"| regret bound, beta {row}" in text
    assert "| beale, LogEI | 4 (1 of 2) |" in text
    assert text.startswith("## All runs together")
    assert "textbook functions, model fitted: data of LogEI" in text and "paths" not in text


def test_the_figure_has_a_panel_per_policy(tmp_path: Path) -> None:
    runs = [made(early=3, late=None), made("path1", "UCB, beta", early=4, late=9)]
    draw_stopping(runs, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 0
    assert "GP sample paths, model known: data of UCB, beta" in format_stopping(runs)
