"""Planned moves of the box: what a person, and what repeated failures, may make of them."""

from __future__ import annotations

import json
import logging
import math
from typing import Any

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import BotorchError, InputDataError
from hypothesis import given, settings
from hypothesis import strategies as st

from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.expansion import hold, review
from botorch_ubo.models import default_model
from botorch_ubo.optimizer import UnboundedOptimizer
from botorch_ubo.records import Certificate, ExpansionRecord
from tests.helpers import tensor

PLAN = ExpansionRecord(
    iteration=3,
    num_observations=9,
    strategy="TheoremBox",
    trigger="regret bound at or below epsilon",
    regret_bound=0.01,
    epsilon=0.05,
    beta=2.0,
    old_bounds=((0.0, 0.0), (1.0, 1.0)),
    new_bounds=((-1.0, 0.0), (2.0, 3.0)),
    stopped_by_limit=((1, "lower"),),
    capped=((1, "upper"),),
    details={"radius": 2.5, "active_term": "mean", "half_widths": [1.0, 2.0]},
)


class TestReview:
    @pytest.mark.parametrize("answer", [None, True, np.True_])
    def test_accepts(self, answer: bool | None) -> None:
        assert review(PLAN, answer) == PLAN

    @pytest.mark.parametrize("answer", [False, np.False_])
    def test_refuses(self, answer: bool) -> None:
        record = review(PLAN, answer)
        assert record.new_bounds == PLAN.old_bounds
        assert record.decision == "refused"
        assert not record.moved
        assert "refused by on_expand" in str(record)

    @pytest.mark.parametrize(
        "form", [tensor, np.array, tuple, list, lambda box: tensor(box).float()]
    )
    def test_shrinks_to_a_box_in_any_form(self, form: Any) -> None:
        record = review(PLAN, form([[-0.5, 0.0], [1.5, 2.0]]))
        assert record.new_bounds == ((-0.5, 0.0), (1.5, 2.0))
        assert record.decision == "shrunk"

    def test_cuts_off_what_is_beyond_the_plan(self) -> None:
        record = review(PLAN, [[-9.0, -9.0], [1.5, 9.0]])
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
        ],
    )
    def test_other_answers_are_errors(self, answer: object) -> None:
        with pytest.raises(BotorchError, match="Expected"):
            review(PLAN, answer)

    def test_a_reviewed_record_cannot_go_beyond_the_plan(self) -> None:
        wider = review(PLAN, ExpansionRecord(**{**vars(PLAN), "new_bounds": ((-9, -9), (9, 9))}))
        assert wider.new_bounds == PLAN.new_bounds


class TestHold:
    def test_keeps_faces_where_they_were(self) -> None:
        record = hold(PLAN, [(0, "lower"), (1, "upper")])
        assert record.new_bounds == ((0.0, 0.0), (2.0, 1.0))
        assert record.held == ((0, "lower"), (1, "upper"))
        assert "held by failures on x0 lower, x1 upper" in str(record)

    def test_says_nothing_of_faces_that_did_not_want_to_move(self) -> None:
        assert hold(PLAN, [(1, "lower")]) == PLAN

    def test_lets_a_box_go_that_has_left_its_old_place(self) -> None:
        away = ExpansionRecord(**{**vars(PLAN), "new_bounds": ((4.0, -2.0), (6.0, 0.5))})
        record = hold(away, [(0, "upper"), (1, "lower")])
        assert record.new_bounds == ((4.0, 0.0), (6.0, 0.5))
        assert record.held == ((1, "lower"),)

    @given(
        st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 5)), min_size=4, max_size=4),
        st.sets(st.tuples(st.integers(0, 1), st.sampled_from(["lower", "upper"]))),
    )
    @settings(max_examples=200)
    def test_never_adds_to_a_move(
        self, sides: list[tuple[float, float]], held: set[tuple[int, str]]
    ) -> None:
        old, new = (
            (tuple(a for a, _ in pair), tuple(a + b for a, b in pair))
            for pair in (sides[:2], sides[2:])
        )
        plan = ExpansionRecord(**{**vars(PLAN), "old_bounds": old, "new_bounds": new})
        lower, upper = hold(plan, held).new_bounds
        for dim in range(2):
            assert new[0][dim] <= lower[dim] < upper[dim] <= new[1][dim]


class TestRecord:
    def test_survives_json(self) -> None:
        for record in (PLAN, review(PLAN, False), hold(PLAN, [(0, "lower")])):
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

    def test_certificate_survives_json(self) -> None:
        certificate = Certificate(
            bounds=PLAN.old_bounds, epsilon=0.1, regret_bound=0.05, beta=1.0, confidence=0.9,
            num_observations=7, best_X=(0.1, 0.2), best_value=-3.0,
        )  # fmt: skip
        assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate
        assert "with probability at least 0.9" in str(certificate)
        assert "nothing is claimed beyond the box" in str(certificate)
        with pytest.raises(InputDataError):
            Certificate.from_dict({**certificate.to_dict(), "best_X": [0.1, math.nan]})


def optimizer_with_data(**options: Any) -> UnboundedOptimizer:
    X = torch.rand(6, 2, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    optimizer = UnboundedOptimizer(
        [(0, 1), (0, 1)], num_restarts=2, raw_samples=32, num_initial=6, **options
    )
    optimizer.add_data(X, (X - 2).square().sum(dim=-1))
    return optimizer


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
        optimizer._on_expand = None
        assert optimizer.ask().X == optimizer_with_data().ask().X

    @pytest.mark.parametrize("method", ["EI-UBO", "GPUCB-UBO (as published)", "HuBO-EI", "HD-HuBO"])
    def test_growth_cap(self, method: str) -> None:
        """For boxes that grow and for boxes that travel."""
        optimizer = optimizer_with_data(max_growth=0.25, method=method)
        optimizer.ask()
        lower, upper = optimizer.box.bounds
        assert (lower >= -0.25 - 1e-9).all()
        assert (upper <= 1.25 + 1e-9).all()
        assert optimizer.box.history[0].capped

    def test_the_user_sees_what_failures_have_held_and_may_shrink_it_further(self) -> None:
        seen: list[ExpansionRecord] = []

        def shrink(record: ExpansionRecord) -> Any:
            seen.append(record)
            lower, upper = record.new_bounds
            return lower, (upper[0], 1.5)

        optimizer = optimizer_with_data(on_expand=shrink)
        optimizer.add_data([[1.5, 0.5], [1.6, 0.5]], [math.nan, math.nan])
        optimizer.ask()
        assert seen[0].held == ((0, "upper"),)
        assert seen[0].new_bounds[1][0] == 1.0
        assert optimizer.box.bounds[1].tolist() == [1.0, 1.5]
        record = optimizer.box.history[0]
        assert (record.held, record.decision) == (((0, "upper"),), "shrunk")


class TestLogging:
    def test_one_line_per_expansion(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, logger="botorch_ubo"):
            optimizer = optimizer_with_data()
            optimizer.ask()
            optimizer.ask()  # the same data: no other expansion
        lines = [record for record in caplog.records if record.levelno == logging.INFO]
        assert len(lines) == 1
        assert lines[0].getMessage() == str(optimizer.box.history[0])
        assert "\n" not in lines[0].getMessage()

    def test_quiet_by_default_and_root_untouched(self) -> None:
        logger = logging.getLogger("botorch_ubo")
        assert any(isinstance(handler, logging.NullHandler) for handler in logger.handlers)
        assert logger.level == logging.NOTSET
        assert logger.propagate

    def test_a_box_that_cannot_move_is_not_announced(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        bounds = tensor([[0.0], [1.0]])
        box = ExpandingBounds.corrected(bounds, hard_limits=bounds)
        X = tensor([[0.1], [0.5], [0.8]])
        with caplog.at_level(logging.INFO, logger="botorch_ubo"):
            box.update(default_model(X, X.square(), bounds).eval())
        assert not caplog.records
