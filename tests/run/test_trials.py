from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo.run.trials import Trial, as_number, as_tensor, as_text

PENDING = Trial(id=0, X=(0.1, -2.0))
COMPLETED = Trial(
    id=1, X=(1 / 3, 1e300), status="completed", value=-0.1, variance=0.0, order=4, asked=False
)
FAILED = Trial(id=2, X=(0.0, 5e-324), status="failed", reason="it broke: \u00e9\ud800", order=0)


class TestTrial:
    @pytest.mark.parametrize("trial", [COMPLETED, FAILED])
    def test_survives_json_to_the_last_digit(self, trial: Trial) -> None:
        point = Trial.from_point_dict(json.loads(json.dumps(trial.point_to_dict())))
        assert (point.id, point.X, point.asked) == (trial.id, trial.X, trial.asked)
        index, outcome = Trial.outcome_from_dict(json.loads(json.dumps(trial.outcome_to_dict())))
        assert index == trial.id
        again = replace(point, **outcome)
        again.check()
        assert again == trial

    def test_is_a_sequence_of_inputs(self) -> None:
        assert len(PENDING) == 2
        assert [*PENDING] == [0.1, -2.0]
        assert as_tensor([PENDING, COMPLETED]).tolist() == [[0.1, -2.0], [1 / 3, 1e300]]
        assert as_tensor([PENDING]).dtype == torch.double

    @pytest.mark.parametrize(
        "change",
        [
            {"id": -1},
            {"id": True},
            {"id": 1.0},
            {"id": "1"},
            {"X": None},
            {"X": "12"},
            {"X": [0.0, math.nan]},
            {"X": [0.0, "inf"]},
            {"X": [0.0, 1e400]},
            {"X": [0.0, True]},
            {"X": [0.0, 10**400]},
            {"X": [[0.0], 1.0]},
            {"asked": 1},
            {"unknown": 0},
        ],
    )
    def test_refuses_points_that_are_none(self, change: dict[str, object]) -> None:
        with pytest.raises(InputDataError, match="Expected"):
            Trial.from_point_dict({**COMPLETED.point_to_dict(), **change})

    @pytest.mark.parametrize(
        "change",
        [
            {"trial": -1},
            {"trial": None},
            {"order": None},
            {"order": -1},
            {"order": 1.5},
            {"status": "done"},
            {"status": None},
            {"status": "pending"},
            {"status": "failed"},
            {"value": None},
            {"value": "1"},
            {"value": math.inf},
            {"value": 10**400},
            {"variance": -1e-9},
            {"variance": math.nan},
            {"reason": None},
            {"unknown": 0},
        ],
    )
    def test_refuses_outcomes_that_are_none(self, change: dict[str, object]) -> None:
        with pytest.raises(InputDataError, match="Expected"):
            _, outcome = Trial.outcome_from_dict({**COMPLETED.outcome_to_dict(), **change})
            replace(COMPLETED, **outcome).check()

    @pytest.mark.parametrize("values", [None, [], "trial", 3, {}, {"id": 0}])
    def test_refuses_what_is_not_a_trial(self, values: object) -> None:
        with pytest.raises(InputDataError, match="a well-formed trial"):
            Trial.from_point_dict(values)
        with pytest.raises(InputDataError, match="a well-formed outcome"):
            Trial.outcome_from_dict(values)

    def test_a_failed_or_pending_trial_has_no_value(self) -> None:
        for trial in (PENDING, FAILED):
            for change in ({"value": 1.0}, {"variance": 1.0}):
                with pytest.raises(InputDataError, match="consistent"):
                    replace(trial, **change).check()


class TestAsNumber:
    @pytest.mark.parametrize(
        "value",
        [
            3,
            3.0,
            np.float32(3),
            np.int64(3),
            np.array(3.0),
            np.array([[3.0]]),
            torch.tensor(3),
            torch.tensor([3.0], requires_grad=True),
            torch.tensor([[3.0]], dtype=torch.half),
        ],
    )
    def test_takes_one_number_in_any_wrapping(self, value: object) -> None:
        number = as_number(value, "the value")
        assert type(number) is float
        assert number == 3.0

    def test_lets_nan_and_infinities_through(self) -> None:
        assert math.isnan(as_number(np.nan, "the value"))
        assert as_number(torch.tensor(-math.inf), "the value") == -math.inf

    @pytest.mark.parametrize(
        "value",
        [
            None,
            "3",
            b"3",
            bytearray(b"3"),
            np.array("3"),
            [3.0],
            {},
            1j,
            np.arange(2),
            torch.zeros(0),
            torch.ones(2),
            10**400,
            np.ma.masked,  # converts to 0.0
            np.ma.masked_array([3.0], mask=[True]),
        ],
    )
    def test_refuses_anything_else(self, value: object) -> None:
        with pytest.raises(InputDataError, match="Expected the value to be one number; got"):
            as_number(value, "the value")


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def test_a_text_of_what_cannot_say_what_it_is() -> None:
    assert as_text("why") == "why"
    assert as_text(Mute()) == "Mute (which could not be printed: ValueError)"


@pytest.mark.parametrize("name", ["value", "variance"])
def test_numbers_of_which_there_are_none(name: str) -> None:
    """As in a file that was edited."""
    done = Trial(id=0, X=(0.5,), status="completed", value=1.0, variance=0.1, order=0)
    with pytest.raises(InputDataError, match="got none"):
        Trial.outcome_from_dict({**done.outcome_to_dict(), name: []})
