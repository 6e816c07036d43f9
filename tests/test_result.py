from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from botorch_ubo.advice import advise
from botorch_ubo.optimizer import UnboundedOptimizer
from botorch_ubo.result import NoResultError
from tests.helpers import tensor

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


def bowl(X: Tensor) -> Tensor:
    return (X - 0.3).square().sum(dim=-1)


@pytest.fixture(scope="module", params=["minimize", "maximize"])
def optimizer(request: pytest.FixtureRequest) -> UnboundedOptimizer:
    """The same noisy data in both directions; the sign of the outcomes is the direction's."""
    generator = torch.Generator().manual_seed(1)
    X = torch.rand(20, 2, dtype=torch.double, generator=generator)
    noise = 0.05 * torch.randn(20, dtype=torch.double, generator=generator)
    Y = bowl(X) + noise
    optimizer = UnboundedOptimizer(
        [(0, 1), (0, 1)], direction=request.param, num_restarts=2, raw_samples=32
    )
    optimizer.add_data(X, Y if request.param == "minimize" else -Y)
    optimizer.add_data([[0.9, 0.9]], [math.nan])
    return optimizer


class TestResult:
    def test_best_recommended_and_guaranteed(self, optimizer: UnboundedOptimizer) -> None:
        result = optimizer.result()
        sign = 1.0 if optimizer.direction == "maximize" else -1.0
        best = int((sign * result.Y).argmax())
        assert result.best_value == result.Y[best]
        assert result.best_X == tuple(result.X[best].tolist())
        mean = optimizer.fit().posterior(result.X).mean.squeeze(-1).detach()
        assert result.recommended_value == pytest.approx(sign * float((sign * mean).max()))
        # Pessimistic: worse than what is expected of the recommended point, not by much.
        assert sign * result.guaranteed_value < sign * result.recommended_value
        assert abs(result.guaranteed_value - result.recommended_value) < 0.2
        # Noise makes the best observation better than it is.
        assert sign * result.best_value > sign * result.recommended_value

    def test_both_directions_mirror_each_other(self, optimizer: UnboundedOptimizer) -> None:
        result = optimizer.result()
        sign = -1.0 if optimizer.direction == "maximize" else 1.0
        assert sign * result.best_value == pytest.approx(-0.02227, abs=1e-5)
        assert result.recommended_X == pytest.approx((0.3, 0.3), abs=0.15)

    def test_regret_bound_and_certificate(self, optimizer: UnboundedOptimizer) -> None:
        result = optimizer.result()
        assert result.regret_bound > 0
        if result.certificate is not None:
            assert result.certificate.regret_bound <= result.certificate.epsilon

    def test_all_evaluations_are_there(self, optimizer: UnboundedOptimizer) -> None:
        result = optimizer.result("of a test")
        assert result.X.shape == (20, 2)
        assert result.Y.shape == (20,)
        assert len(result.trials) == 21
        text = str(result)
        assert "20 evaluations and 1 failure" in text
        assert "stopped because of a test" in text
        assert "advice: " in text

    def test_asking_for_a_result_changes_nothing(self, optimizer: UnboundedOptimizer) -> None:
        before = optimizer.trials, optimizer.box.state_dict()
        first = optimizer.result()
        assert (optimizer.trials, optimizer.box.state_dict()) == before
        assert str(optimizer.result()) == str(first)


class TestNoResult:
    def test_nothing_yet(self) -> None:
        optimizer = UnboundedOptimizer([(0, 1)])
        optimizer.ask(2)
        with pytest.raises(NoResultError, match="none yet, and 2 are pending"):
            optimizer.result()

    def test_all_failed(self) -> None:
        optimizer = UnboundedOptimizer([(0, 1)])
        for trial in optimizer.ask(5):
            optimizer.tell(trial, math.nan)
        optimizer.tell_failed(optimizer.ask(), "power cut")
        with pytest.raises(
            NoResultError, match="all 6 failed so far: 5 times 'the value is nan'; 1 times 'power"
        ):
            optimizer.result()
