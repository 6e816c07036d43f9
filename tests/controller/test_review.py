"""What a person may make of a planned move of the box."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import ExpansionRecord
from botorch_ubo.controller.review import apply_answer
from tests.support.by_hand import PLAN
from tests.support.controlled import optimizer_with_data
from tests.support.gps import tensor


class TestReview:
    @pytest.mark.parametrize("answer", [None, True, np.True_])
    def test_accepts(self, answer: bool | None) -> None:
        assert apply_answer(PLAN, answer) == PLAN

    @pytest.mark.parametrize("answer", [False, np.False_])
    def test_refuses(self, answer: bool) -> None:
        record = apply_answer(PLAN, answer)
        assert record.new_bounds == PLAN.old_bounds
        assert record.decision == "refused"
        assert not record.moved
        assert "refused by on_expand" in str(record)

    @pytest.mark.parametrize(
        "form", [tensor, np.array, tuple, list, lambda box: tensor(box).float()]
    )
    def test_shrinks_to_a_box_in_any_form(self, form: Any) -> None:
        record = apply_answer(PLAN, form([[-0.5, 0.0], [1.5, 2.0]]))
        assert record.new_bounds == ((-0.5, 0.0), (1.5, 2.0))
        assert record.decision == "shrunk"

    def test_cuts_off_what_is_beyond_the_plan(self) -> None:
        record = apply_answer(PLAN, [[-9.0, -9.0], [1.5, 9.0]])
        assert record.new_bounds == ((-1.0, 0.0), (1.5, 3.0))

    @pytest.mark.parametrize(
        "answer",
        [
            "yes",
            0.5,
            [[0.0], [1.0]],
            [[0.0, 0.0], [1.0, math.nan]],
            [[0.0, 2.0], [1.0, 1.0]],
            [[5.0, 0.0], [6.0, 1.0]],  # beyond the plan
            [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]],
            [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]],
            object(),
            PLAN,  # a record is for reading
        ],
    )
    def test_other_answers_are_errors(self, answer: object) -> None:
        with pytest.raises(InputDataError, match="Expected"):
            apply_answer(PLAN, answer)


class TestOnExpand:
    def test_refusing_keeps_the_box(self) -> None:
        seen: list[ExpansionRecord] = []
        optimizer = optimizer_with_data(on_expand=lambda record: seen.append(record) or False)
        trial = optimizer.ask()
        assert torch.equal(optimizer.box.bounds, optimizer.box.initial_bounds)
        assert all(0 <= x <= 1 for x in trial.X)
        assert seen[0].moved
        assert [record.decision for record in optimizer.result().expansions] == ["refused"]

    def test_shrinking_binds_the_next_proposal(self) -> None:
        optimizer = optimizer_with_data(on_expand=lambda record: [[0, 0], [1.1, 1.2]])
        trial = optimizer.ask()
        assert optimizer.box.bounds.tolist() == [[0.0, 0.0], [1.1, 1.2]]
        assert trial.X[0] <= 1.1
        assert trial.X[1] <= 1.2

    def test_an_exception_leaves_everything_as_it_was(self) -> None:
        def raises(record: ExpansionRecord) -> None:
            raise RuntimeError("ask me later")

        optimizer = optimizer_with_data(on_expand=raises)
        before = optimizer.trials, optimizer.box.state_dict()
        with pytest.raises(RuntimeError, match="ask me later"):
            optimizer.ask()
        assert (optimizer.trials, optimizer.box.state_dict()) == before
        optimizer.box.on_expand = None
        assert optimizer.ask().X == optimizer_with_data().ask().X
