"""Advice: what a run tells about the user's box, in words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from botorch_ubo.run.advice import advise, describe_failures
from botorch_ubo.run.trials import Trial
from tests.support.gps import tensor

FREE = tensor([[-math.inf] * 3, [math.inf] * 3])
UNIT = tensor([[0.0] * 3, [1.0] * 3])
WIDE = tensor([[-9.0] * 3, [9.0] * 3])
CENTER = [0.5, 0.5, 0.5]


def advice(
    best: list[float], before: list[list[float]], after: list[list[float]] = (), **kwargs: Any
) -> str:
    """Advice for a best point with other evaluations before and after it."""
    X = tensor([*before, best, *after])
    arguments: dict[str, Any] = {
        "initial_bounds": UNIT, "bounds": WIDE, "limits": FREE, **kwargs
    }  # fmt: skip
    return advise(X, len(before), **arguments)


class TestAdvice:
    def test_the_box_was_enough(self) -> None:
        assert advice(CENTER, [[2.0] * 3]) == "your box was enough: the best point lies in it"

    def test_nothing_beyond_the_box_was_searched(self) -> None:
        assert "nothing beyond it was searched" in advice(CENTER, [[0.1] * 3], bounds=UNIT)

    def test_too_small_and_done(self) -> None:
        others = [[x] * 3 for x in (-1.0, 4.0, 3.0, 2.5)]
        text = advice([2.0, 0.5, -0.5], others[:2], others[2:])
        assert text == (
            "your box was too small: the best point lies outside it in dimension(s) [0, 2]"
        )

    def test_still_expanding(self) -> None:
        """The best point came late, and from beyond all that had been evaluated."""
        text = advice([4.0, 0.5, 0.5], [[x, 0.5, 0.5] for x in (0.1, 0.9, 2.0, 3.0)])
        assert "your box was too small" in text
        assert text.endswith("still expanding when the budget ended: more evaluations may pay")

    def test_one_evaluation_is_no_way(self) -> None:
        assert advice([2.0, 0.5, 0.5], []) == (
            "your box was too small: the best point lies outside it in dimension(s) [0]"
        )

    def test_still_expanding_at_the_edge_of_the_last_box(self) -> None:
        text = advice([9.0, 0.5, 0.5], [[0.1] * 3], [[9.0] * 3] * 9)
        assert "still expanding when the budget ended" in text

    def test_a_method_that_does_not_grow_is_told_to(self) -> None:
        text = advice([0.5, 1.0, 0.5], [[0.1] * 3], bounds=UNIT)
        assert text == "the best point lies on the edge of your box: let the box grow"

    @pytest.mark.parametrize(("dim", "row", "side"), [(2, 1, "upper"), (0, 0, "lower")])
    def test_stopped_by_a_hard_limit(self, dim: int, row: int, side: str) -> None:
        limits, best = FREE.clone(), [*CENTER]
        limits[row, dim] = best[dim] = UNIT[row, dim].item()
        bounds = WIDE.clone()
        bounds[row, dim] = limits[row, dim]
        text = advice(best, [[0.1] * 3], limits=limits, bounds=bounds)
        assert text.startswith(f"stopped by the hard limit on dimension {dim}, {side} side")
        assert "enough" not in text
        assert "still expanding" not in text

    def test_a_limit_close_by_in_a_wide_box_has_not_stopped_anything(self) -> None:
        limits = FREE.clone()
        limits[0, 0] = 0.4
        bounds = tensor([[0.4, -90.0, -90.0], [90.0] * 3])
        assert "hard limit" not in advice(CENTER, [[0.5] * 3], limits=limits, bounds=bounds)

    def test_several_limits_and_a_box_too_small(self) -> None:
        limits = tensor([[-math.inf, 0.0, -math.inf], [2.0, math.inf, math.inf]])
        text = advice([2.0, 0.0, 0.5], [CENTER], [CENTER] * 9, limits=limits)
        assert "dimension(s) [0]" in text
        assert "hard limit on dimension 1, lower side" in text
        assert "hard limit on dimension 0, upper side" in text

    def test_held_back_by_failures(self) -> None:
        text = advice(CENTER, [[2.0] * 3], held=[(1, "upper")])
        assert text.endswith("held back by failed evaluations on dimension 1, upper side")


def test_failures_are_told_in_names_where_there_are_any() -> None:
    trial = Trial(id=3, X=(-4.6,), status="failed", reason="ValueError: too far", order=0)
    assert describe_failures([trial]) == (
        "1 x ValueError (trial 3, at (-4.6): ValueError: too far)"
    )
    named = replace(trial, params={"lr": 0.01, "act": "relu"})
    assert "at lr = 0.01, act = relu: ValueError" in describe_failures([named])
