from __future__ import annotations

import math
from typing import Any

import pytest

from benchmarks.report.measures import pivot
from tests.support.made_records import make_record, summarize_records


def measured(problem: str = "beale", **values: Any) -> Any:
    """The measures of one run."""
    return summarize_records(make_record(problem, **values)).iloc[0]


def test_regret_starts_at_the_best_initial_point() -> None:
    found = measured(regrets=(10.0, 20.0, 15.0, 1.0, 4.0))
    assert found["trace"] == [10.0, 10.0, 1.0, 1.0]
    assert (found["initial_regret"], found["regret"]) == (10.0, 1.0)
    assert found["log_regret"] == found["loss"] == pytest.approx(-1.0)


@pytest.mark.parametrize(("last", "expected"), [(0.0, -4.0), (-1e-9, -4.0), (0.01, -3.0)])
def test_log_regret_ends_at_its_floor(last: float, expected: float) -> None:
    assert measured(regrets=(10.0, 10.0, last))["log_regret"] == pytest.approx(expected)


def test_log_regret_of_what_cannot_be_judged() -> None:
    assert math.isnan(measured(regrets=(0.0, 10.0, 0.0))["log_regret"])
    unknown = measured("mnist_cnn", optimal_value=None)
    assert math.isnan(unknown["log_regret"]) and math.isnan(unknown["evaluations_to_target"])
    assert unknown["loss"] == -2.0 and unknown["trace"][-1] == 2.0


def test_picked_regret_is_that_of_the_best_observation() -> None:
    found = measured(regrets=(10.0, 20.0, 5.0, 1.0), Y_observed=[0.0, 0.0, 9.0, 1.0])
    assert found["picked_regret"] == 5.0 and found["regret"] == 1.0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # 1 % of 10 is 0.1, first reached by the third evaluation.
        ({"regrets": (10.0, 20.0, 0.2, 0.11, 0.09, 0.1, 0.0)}, (3, True)),
        ({"regrets": (10.0, 9.0, 4.0, 3.0), "target": 0.0}, (2, True)),
        ({"regrets": (10.0, 2.0, 4.0), "target": 0.0}, (0, True)),
        ({"regrets": (10.0, 10.0, 5.0, 1.0), "budget": 40}, (40, False)),
    ],
)
def test_evaluations_to_the_target(values: dict[str, Any], expected: tuple[int, bool]) -> None:
    found = measured(**values)
    assert (found["evaluations_to_target"], found["reached"]) == expected


def test_a_run_that_ended_early_keeps_its_value() -> None:
    assert measured(regrets=(10.0, 10.0, 1.0), budget=4)["trace"] == [10.0, 1.0, 1.0, 1.0, 1.0]


def test_seconds_leave_the_evaluation_out() -> None:
    assert measured()["seconds_total"] == pytest.approx(0.6)
    assert measured()["seconds_median"] == pytest.approx(0.6)
    assert math.isnan(measured(seconds={})["seconds_total"])


def test_the_last_box_counts() -> None:
    assert measured()["log_growth"] == pytest.approx(0.5)  # sides 1 and 10
    assert math.isnan(measured(boxes=[])["log_growth"])


def test_the_function_of_a_far_problem() -> None:
    assert measured("far_smooth2_d30", distance=30.0)["function"] == "far_smooth2"
    assert measured("levy10")["function"] == "levy10"


def test_a_row_per_run_and_failed_ones_have_no_measures() -> None:
    frame = summarize_records(
        make_record(seed=1, inside=[True, True, False, True]),
        make_record(seed=0, regrets=(10.0, 20.0), status="failed", error="boom", budget=2),
    )
    failed, done = frame.to_dict("records")
    assert (failed["seed"], failed["status"]) == (0, "failed") and math.isnan(failed["regret"])
    assert done["regret"] == 1.0 and done["outside_share"] == 0.5
    table = pivot(frame[frame["status"] == "ok"])
    assert table.index.to_list() == [("beale", 1)]
