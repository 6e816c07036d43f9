"""Failed evaluations hold the box, in a plain loop as in the optimizer."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from botorch_ubo import ExpandingBounds, ExpansionRecord
from botorch_ubo.controller.failures import failing_sides, keep_failing_sides
from tests.support.by_hand import PLAN
from tests.support.controlled import FAST, UNIT, corrected, data, gp, optimizer_with_data
from tests.support.gps import tensor


class TestKeepFailingSides:
    def test_keeps_faces_where_they_were(self) -> None:
        record = keep_failing_sides(PLAN, [(0, "lower"), (1, "upper")])
        assert record.new_bounds == ((0.0, 0.0), (2.0, 1.0))
        assert record.held == ((0, "lower"), (1, "upper"))
        assert "held by failures on x0 lower, x1 upper" in str(record)

    def test_says_nothing_of_faces_that_did_not_want_to_move(self) -> None:
        assert keep_failing_sides(PLAN, [(1, "lower")]) == PLAN

    def test_lets_a_box_go_that_has_left_its_old_place(self) -> None:
        away = ExpansionRecord(**{**vars(PLAN), "new_bounds": ((4.0, -2.0), (6.0, 0.5))})
        record = keep_failing_sides(away, [(0, "upper"), (1, "lower")])
        assert record.new_bounds == ((4.0, 0.0), (6.0, 0.5))
        assert record.held == ((1, "lower"),)

    @given(
        st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 5)), min_size=4, max_size=4),
        st.sets(st.tuples(st.integers(0, 1), st.sampled_from(["lower", "upper"]))),
    )
    @settings(max_examples=60)
    def test_never_adds_to_a_move(
        self, sides: list[tuple[float, float]], held: set[tuple[int, str]]
    ) -> None:
        old, new = (
            (tuple(a for a, _ in pair), tuple(a + b for a, b in pair))
            for pair in (sides[:2], sides[2:])
        )
        plan = ExpansionRecord(**{**vars(PLAN), "old_bounds": old, "new_bounds": new})
        lower, upper = keep_failing_sides(plan, held).new_bounds
        for dim in range(2):
            assert new[0][dim] <= lower[dim] < upper[dim] <= new[1][dim]


class TestFailingSides:
    X = tensor([[0.0, 0.0], [1.0, 2.0], [0.5, 1.0]])

    def test_by_hand(self) -> None:
        failed = tensor([[-1.0, 1.0], [-2.0, 2.5], [-3.0, 2.1], [0.5, 3.0]])
        assert failing_sides(self.X, failed) == [(0, "lower"), (1, "upper")]

    @pytest.mark.parametrize(("count", "expected"), [(0, []), (1, []), (2, [(0, "upper")])])
    def test_two_beyond_all_successes_and_not_one(self, count: int, expected: list[Any]) -> None:
        failed = tensor([[1.5, 1.0], [3.0, 1.0]])[:count]
        assert failing_sides(self.X, failed) == expected

    def test_only_those_beyond_count(self) -> None:
        """On the outermost success, or between successes, a failure says nothing of the side."""
        assert failing_sides(self.X, tensor([[1.0, 1.0], [1.0, 1.0], [0.7, 1.0]])) == []
        assert failing_sides(self.X, tensor([[1.5, 1.0], [1.0, 1.0]])) == []

    def test_nothing_failed_or_nothing_succeeded(self) -> None:
        assert failing_sides(self.X, None) == []
        assert failing_sides(self.X[:0], tensor([[1.5, 1.0], [3.0, 1.0]])) == []


class TestPlainLoop:
    """``ExpandingBounds`` alone, without the optimizer's ledger."""

    @staticmethod
    def failed(count: int) -> Tensor:
        return tensor([[1.5, 0.5], [1.7, 0.4], [1.6, 0.6]])[:count]

    @pytest.mark.parametrize("call", ["update", "suggest"])
    @pytest.mark.parametrize("count", [1, 2])
    @pytest.mark.parametrize("method", ["GPUCB-UBO", "EI-Roaming"])
    def test_two_failures_hold_the_side_and_one_does_not(
        self, method: str, count: int, call: str
    ) -> None:
        X, Y = data()
        model = gp(X, Y)
        box, free = (ExpandingBounds(UNIT, method=method, **FAST) for _ in range(2))
        getattr(box, call)(model, X_failed=self.failed(count))
        free.update(model)
        assert free.bounds[1, 0] > 1
        if count == 1:
            assert torch.equal(box.bounds, free.bounds)
            assert box.history[0].held == ()
        else:
            assert box.history[0].held == ((0, "upper"),)
            assert box.bounds[1, 0] == 1.0
            others = torch.tensor([[True, True], [False, True]])
            assert torch.equal(box.bounds[others], free.bounds[others])

    def test_a_success_further_out_sets_the_side_free(self) -> None:
        X, Y = data()
        beyond = torch.cat([X, tensor([[2.0, 0.5]])])
        record = corrected(UNIT, **FAST).update(
            gp(beyond, torch.cat([Y, Y[:1]])), X_failed=self.failed(3)
        )
        assert record.held == () and record.new_bounds[1][0] > 2

    def test_the_user_is_asked_about_what_is_left_of_the_plan(self) -> None:
        X, Y = data()
        seen: list[ExpansionRecord] = []
        box = corrected(UNIT, on_expand=seen.append, **FAST)
        record = box.update(gp(X, Y), X_failed=self.failed(2))
        assert seen == [record]
        assert seen[0].held == ((0, "upper"),) and seen[0].new_bounds[1][0] == 1.0

    def test_a_held_side_stays_held_over_a_run(self) -> None:
        X, Y = data()
        box = ExpandingBounds(UNIT, **FAST)
        for _ in range(3):
            x = box.suggest(gp(X, Y), X_failed=self.failed(2))
            assert x[0, 0] <= box.bounds[1, 0] <= 1.0
            X, Y = torch.cat([X, x]), torch.cat([Y, torch.zeros(1, 1, dtype=torch.double)])
        assert len(box.history) == 3


def test_the_user_sees_what_failures_have_held_and_may_shrink_it_further() -> None:
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
