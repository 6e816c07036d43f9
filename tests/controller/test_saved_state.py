"""A controller saved and loaded: it goes on as before, and refuses what is malformed."""

import json
import math
from typing import Any

import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import Always, ExpandingBounds, FirstStep
from tests.support.controlled import FAST, UNIT, bell, corrected, data, gp


class TestState:
    def test_resumed_run_goes_on_as_the_uninterrupted_one(self) -> None:
        def controller() -> ExpandingBounds:
            return corrected(UNIT, trigger=FirstStep() | Always(), hard_limits={1: (-9, 9)})

        whole = controller()
        X, Y = data()
        resumed = None
        for _ in range(3):
            model = gp(X, Y)
            text = json.dumps(whole.state_dict())
            resumed = controller()
            resumed.load_state_dict(json.loads(text))
            x = whole.suggest(model)
            assert torch.equal(x, resumed.suggest(model))
            # Also when the run was cut between the suggestion and its result.
            again = controller()
            again.load_state_dict(json.loads(json.dumps(whole.state_dict())))
            assert torch.equal(x, again.suggest(model))
            X, Y = torch.cat([X, x]), torch.cat([Y, bell(x)])
        assert json.dumps(resumed.state_dict()) == json.dumps(whole.state_dict())
        assert resumed.history == whole.history and len(whole.history) == 3
        assert resumed.trace == whole.trace

    def test_state_before_the_first_update(self) -> None:
        X, Y = data()
        box, fresh = (
            corrected(UNIT, **FAST),
            corrected(UNIT, **FAST),
        )
        box.load_state_dict(json.loads(json.dumps(fresh.state_dict())))
        assert torch.equal(box.suggest(gp(X, Y)), fresh.suggest(gp(X, Y)))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"schema": 99}, "schema"),
            ({"bounds": [[0.0, 0.0], [math.nan, 1.0]]}, "finite"),
            ({"bounds": [[0.0, 2.0], [1.0, 1.0]]}, "lower < upper"),
            ({"bounds": [[0.0, 0.0], [1.0, 11.0]]}, "hard limits"),
            ({"bounds": [[0.0], [1.0]]}, "equal shape"),
            ({"num_observed": -1}, "count"),
            ({"num_initial": "six"}, "count"),
            ({"history": [{"iteration": 1}]}, "well-formed"),
            ({"memory": None}, "well-formed"),
        ],
    )
    def test_malformed_states_are_refused(self, change: dict[str, Any], message: str) -> None:
        X, Y = data()
        box = corrected(UNIT, hard_limits={1: (-10, 10)})
        box.update(gp(X, Y))
        saved = box.state_dict()
        with pytest.raises(InputDataError, match=message):
            box.load_state_dict({**saved, **change})
        assert box.state_dict() == saved

    def test_missing_keys_and_other_dimensions_are_refused(self) -> None:
        X, Y = data()
        box = corrected(UNIT)
        box.update(gp(X, Y))
        saved = box.state_dict()
        for key in saved:
            with pytest.raises(InputDataError, match=r"[Ee]xpected"):
                box.load_state_dict({k: v for k, v in saved.items() if k != key})
        with pytest.raises(InputDataError, match="2 dimensions; got 1"):
            box.load_state_dict(corrected(UNIT[:, :1]).state_dict())
        assert box.state_dict() == saved

    def test_the_saved_dict_is_a_copy(self) -> None:
        X, Y = data()
        box = corrected(UNIT)
        box.update(gp(X, Y))
        saved = box.state_dict()
        text = json.dumps(saved)
        saved["bounds"][0][0] = 77.0
        saved["history"].clear()
        assert json.dumps(box.state_dict()) == text
