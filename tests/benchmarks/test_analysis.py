from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("pandas", reason="needs pip install '.[benchmarks]'")

from benchmarks.analysis import (
    best_so_far,
    box_growth,
    evaluations_to_target,
    function_of,
    log_regret,
    picked_regret,
    pivot,
    regret_trace,
    stack_traces,
    suggestion_seconds,
    suite_of,
    summarize,
)
from tests.benchmarks.made_records import make_record


def test_regret_starts_at_the_best_initial_point() -> None:
    record = make_record(regrets=(10.0, 20.0, 15.0, 1.0, 4.0))
    assert regret_trace(record).tolist() == [10.0, 10.0, 1.0, 1.0]
    assert best_so_far(record).tolist() == [-7.0, -7.0, 2.0, 2.0]
    assert log_regret(record) == pytest.approx(-1.0)


def test_log_regret_ends_at_its_floor() -> None:
    assert log_regret(make_record(regrets=(10.0, 10.0, 0.0))) == pytest.approx(-4.0)
    assert log_regret(make_record(regrets=(10.0, 10.0, -1e-9))) == pytest.approx(-4.0)
    assert log_regret(make_record(regrets=(10.0, 10.0, 0.01))) == pytest.approx(-3.0)


def test_log_regret_of_what_cannot_be_judged() -> None:
    assert math.isnan(log_regret(make_record(regrets=(0.0, 10.0, 0.0))))
    assert math.isnan(log_regret(make_record(optimal_value=None)))


def test_points_outside_count_only_where_they_may() -> None:
    values = {"regrets": (100.0, 10.0, -5.0, 1.0), "inside": [True, True, False, True]}
    assert log_regret(make_record(**values, scored_inside_only=True)) == pytest.approx(-1.0)
    assert log_regret(make_record(**values)) == pytest.approx(-4.0)
    # The best initial point is then the best one inside as well.
    values["inside"] = [True, False, False, True]
    assert log_regret(make_record(**values, scored_inside_only=True)) == pytest.approx(-2.0)


def test_picked_regret_is_that_of_the_best_observation() -> None:
    observed = [0.0, 0.0, 9.0, 1.0]
    record = make_record(regrets=(10.0, 20.0, 5.0, 1.0), Y_observed=observed)
    assert picked_regret(record) == pytest.approx(5.0)
    assert regret_trace(record)[-1] == pytest.approx(1.0)
    outside = [True, True, False, True]
    record = make_record(Y_observed=observed, inside=outside, scored_inside_only=True)
    assert picked_regret(record) == pytest.approx(1.0)


def test_evaluations_to_one_percent() -> None:
    # 1 % of 10 is 0.1: reached exactly, and first, by the third evaluation.
    record = make_record(regrets=(10.0, 20.0, 0.2, 0.11, 0.1, 0.1, 0.0), optimal_value=3.0)
    record.Y[4] = 3.0 - 0.01 * 10.0
    assert evaluations_to_target(record) == (3, True)


def test_evaluations_to_the_records_own_target() -> None:
    assert evaluations_to_target(make_record(regrets=(10.0, 9.0, 4.0, 3.0), target=0.0)) == (
        2,
        True,
    )
    assert evaluations_to_target(make_record(regrets=(10.0, 2.0, 4.0), target=0.0)) == (0, True)


def test_runs_that_never_reach_the_target_count_as_their_budget() -> None:
    record = make_record(regrets=(10.0, 10.0, 5.0, 1.0), budget=40)
    assert evaluations_to_target(record) == (40, False)
    with pytest.raises(ValueError, match="neither"):
        evaluations_to_target(make_record(optimal_value=None))


def test_a_run_that_ended_early_keeps_its_value() -> None:
    record = make_record(regrets=(10.0, 10.0, 1.0), budget=4)
    assert regret_trace(record).tolist() == [10.0, 1.0, 1.0, 1.0, 1.0]


def test_box_growth_is_a_step_function() -> None:
    boxes = [
        {"t": 1, "bounds": [[0.0, 0.0], [1.0, 10.0]]},  # factors 1 and 10: 0.5 on average
        {"t": 3, "bounds": [[0.0, 0.0], [10.0, 100.0]]},
    ]
    growth = box_growth(make_record(regrets=(1.0,) * 6, boxes=boxes))
    np.testing.assert_allclose(growth, [math.nan, 0.5, 0.5, 1.5])
    assert len(box_growth(make_record(boxes=[]))) == 0


def test_seconds_leave_the_evaluation_out() -> None:
    seconds = suggestion_seconds(make_record())
    np.testing.assert_allclose(seconds["total"], [0.6, 0.6])
    assert len(suggestion_seconds(make_record(seconds={}))["total"]) == 0


@pytest.mark.parametrize(
    ("problem", "values", "suite"),
    [
        ("beale", {}, "paper"),
        ("levy3_authors", {}, "variants"),
        ("levy3_authors_noisy", {}, "noisy"),
        ("ref_levy3_authors", {}, "reference"),
        ("near_beale", {}, "near"),
        ("useless_beale", {}, "useless"),
        ("plateau_bell2", {}, "plateau"),
        ("mnist_cnn", {"optimal_value": None}, "tuning"),
        ("far_smooth2_d30", {"distance": 30.0}, "far"),
    ],
)
def test_suites(problem: str, values: dict[str, object], suite: str) -> None:
    assert suite_of(make_record(problem, **values)) == suite


def test_the_function_of_a_far_problem() -> None:
    assert function_of(make_record("far_smooth2_d30", distance=30.0)) == "far_smooth2"
    assert function_of(make_record("far_smooth5_d100", distance=100.0)) == "far_smooth5"
    assert function_of(make_record("levy10")) == "levy10"


def test_summary_has_a_row_per_run_and_failed_ones_have_no_measures() -> None:
    frame = summarize(
        [
            make_record(seed=1, inside=[True, True, False, True]),
            make_record(seed=0, regrets=(10.0, 20.0), status="failed", error="boom", budget=2),
            make_record("mnist_cnn", optimal_value=None),
        ]
    )
    failed, done, tuned = frame.to_dict("records")
    assert (failed["seed"], failed["status"]) == (0, "failed") and math.isnan(failed["regret"])
    assert done["regret"] == 1.0 and done["log_regret"] == done["loss"] == pytest.approx(-1.0)
    assert done["outside_share"] == 0.5 and done["seconds_total"] == pytest.approx(0.6)
    assert math.isnan(tuned["regret"]) and tuned["best_value"] == 2.0 and tuned["loss"] == -2.0
    table = pivot(frame)
    assert table.index.to_list() == [("beale", 1), ("mnist_cnn", 0)]
    with pytest.raises(ValueError, match="got none"):
        summarize([])


def test_traces_of_different_length() -> None:
    stacked = stack_traces([np.array([1.0, 2.0]), np.array([3.0])])
    np.testing.assert_array_equal(stacked, [[1.0, 2.0], [3.0, math.nan]])
