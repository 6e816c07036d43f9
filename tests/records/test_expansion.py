"""Records of moves survive JSON, tell why, and nothing else is taken for one."""

import dataclasses
import json
import math

import pytest
from botorch.exceptions.errors import InputDataError

from botorch_ubo.controller.failures import keep_failing_sides
from botorch_ubo.controller.review import apply_answer
from botorch_ubo.records import ExpansionRecord
from tests.support.by_hand import PLAN


class TestRecord:
    def test_survives_json(self) -> None:
        for record in (PLAN, apply_answer(PLAN, False), keep_failing_sides(PLAN, [(0, "lower")])):
            assert ExpansionRecord.from_dict(json.loads(json.dumps(record.to_dict()))) == record

    def test_numbers_that_are_not_finite_survive_json(self) -> None:
        details = {"radius": math.inf, "active_term": "mean"}
        record = ExpansionRecord(
            **{**vars(PLAN), "regret_bound": math.inf, "beta": math.nan, "details": details}
        )
        text = json.dumps(record.to_dict(), allow_nan=False)
        back = ExpansionRecord.from_dict(json.loads(text))
        assert back.regret_bound == math.inf
        assert math.isnan(back.beta)
        assert str(back) == str(record)

    @pytest.mark.parametrize(
        "change",
        [
            {"iteration": -1},
            {"iteration": 1.5},
            {"strategy": None},
            {"regret_bound": "high"},
            {"epsilon": None},
            {"beta": True},
            {"old_bounds": [[0.0], [1.0, 2.0]]},
            {"new_bounds": [[1.0, 1.0], [0.0, 2.0]]},
            {"new_bounds": None},
            {"capped": [[0]]},
            {"held": [["0", "lower"]]},
            {"details": {"radius": "wide", "active_term": "mean"}},
            {"details": 3},
            {"more": 1},
        ],
    )
    def test_refuses_what_to_dict_does_not_write(self, change: dict[str, object]) -> None:
        with pytest.raises((InputDataError, TypeError, ValueError)):
            ExpansionRecord.from_dict({**PLAN.to_dict(), **change})

    def test_of_a_trigger_that_compared_no_bounds(self) -> None:
        record = dataclasses.replace(PLAN, regret_bound=None, beta=None, details={"why": "asked"})
        assert ExpansionRecord.from_dict(json.loads(json.dumps(record.to_dict()))) == record
        assert "regret bound 0" not in str(record) and "; asked;" in str(record)

    def test_says_what_moved_the_box_and_what_stopped_it(self) -> None:
        text = str(PLAN)
        for part in (
            "iteration 3: TheoremBox moved the box, regret bound at or below epsilon",
            "(regret bound 0.01, epsilon 0.05)",
            "radius 2.5 length-scales, mean term active",
            "sides x 3 x 3",
            "hard limit on x1 lower",
            "growth cap on x1 upper",
        ):
            assert part in text

    @pytest.mark.parametrize(
        ("change", "moved", "notable"),
        [
            ({}, True, True),
            ({"new_bounds": PLAN.old_bounds}, False, False),
            ({"new_bounds": PLAN.old_bounds, "decision": "refused"}, False, True),
        ],
    )
    def test_moved_and_notable(self, change: dict[str, object], moved: bool, notable: bool) -> None:
        record = dataclasses.replace(PLAN, **change)
        assert (record.moved, record.notable) == (moved, notable)
