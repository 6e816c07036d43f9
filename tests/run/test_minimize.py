"""minimize and maximize: budgets, reasons to stop, and runs from beginning to end."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import UnboundedOptimizer, maximize, minimize
from botorch_ubo.plotting import plot_boxes, plot_intervals
from botorch_ubo.run.trials import Trial
from tests.support.objectives import bowl
from tests.support.optimizing import BOX, FAST


class TestBudget:
    @pytest.mark.parametrize("budget", [1, 2, 7])
    def test_is_met_exactly(self, budget: int) -> None:
        calls: list[Any] = []
        result = minimize(lambda x: calls.append(x) or bowl(x), BOX, budget=budget, **FAST)
        assert len(calls) == len(result.trials) == budget
        assert result.stopped_because == "the budget was used up"

    @pytest.mark.filterwarnings("ignore::botorch_ubo.ObjectiveWarning")
    def test_failures_count(self) -> None:
        calls = iter(range(99))
        result = minimize(lambda x: bowl(x) if next(calls) else 1 / 0, BOX, budget=4, **FAST)
        assert len(result.trials) == 4
        assert len(result.Y) == 3

    def test_given_data_do_not_count(self) -> None:
        data = ([[0.0, 0.0], [5.0, 5.0]], [4.5, 24.5])
        result = minimize(bowl, BOX, budget=3, data=data, **FAST)
        assert len(result.Y) == 5
        assert sum(trial.asked for trial in result.trials) == 3

    def test_a_resumed_run_goes_on_to_the_new_budget(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        calls: list[Any] = []
        for budget, total in ((2, 2), (5, 5), (4, 5)):
            minimize(lambda x: calls.append(x) or bowl(x), BOX, budget=budget, checkpoint=path,
                     **FAST)  # fmt: skip
            assert len(calls) == total

    @pytest.mark.parametrize(
        "options",
        [
            {"budget": 0},
            {"budget": 3, "input_type": "numpy"},
            {"budget": 3, "epsilon": 0},
            {"budget": 3, "num_workers": 2},
            {"budget": 12.5},
            {"budget": 3, "timeout": 1.0},
            {"budget": 3, "callback": 5},
            {"budget": 3, "on_expand": "yes"},
        ],
    )
    def test_bad_arguments(self, options: dict[str, Any]) -> None:
        with pytest.raises(InputDataError, match="Expected"):
            minimize(bowl, BOX, **options)


class TestStopping:
    def test_what_cannot_be_called(self) -> None:
        for f in (None, 5, "f"):
            with pytest.raises(InputDataError, match="Expected `f` to be a function"):
                minimize(f, BOX, budget=3)

    def test_callback(self) -> None:
        seen: list[Trial] = []

        def callback(optimizer: UnboundedOptimizer, trial: Trial) -> Any:
            assert trial in optimizer.trials
            seen.append(trial)
            return np.array([len(seen)])[0] == 3

        result = minimize(bowl, BOX, budget=9, callback=callback, **FAST)
        assert [trial.status for trial in seen] == ["completed"] * 3
        assert len(result.trials) == 3
        assert result.stopped_because == "the callback said so"

    def test_a_callback_that_raises_loses_nothing(self, tmp_path: Path) -> None:
        def callback(optimizer: UnboundedOptimizer, trial: Trial) -> None:
            raise RuntimeError("mine")

        path = tmp_path / "run.db"
        with pytest.raises(RuntimeError, match="mine"):
            minimize(bowl, BOX, budget=9, callback=callback, checkpoint=path, **FAST)
        assert len(UnboundedOptimizer(BOX, checkpoint=path, **FAST).completed) == 1

    @pytest.mark.parametrize("method", ["EI-Vanilla", "GPUCB-UBO"])
    def test_epsilon(self, method: str) -> None:
        """Smooth, exact, one dimension: soon there is nothing left to find in the box."""
        calls: list[Any] = []

        def f(x: list[float]) -> tuple[float, float]:
            calls.append(x)
            return math.sin(3 * x[0]), 0.0

        result = minimize(f, [(0, 1)], budget=25, epsilon=0.2, method=method, **FAST)
        assert result.stopped_because == "a box is exhausted to the accuracy epsilon"
        assert len(calls) == len(result.Y) < 25
        assert result.certificate is not None
        assert "certificate: after" in str(result)
        assert result.best_value < 0.1

    @pytest.mark.slow
    def test_without_epsilon_the_budget_is_used(self) -> None:
        result = minimize(lambda x: (math.sin(3 * x[0]), 0.0), [(0, 1)], budget=12,
                          method="EI-Vanilla", **FAST)  # fmt: skip
        assert len(result.Y) == 12


class TestEndToEnd:
    def test_minimum_outside_the_box(self) -> None:
        result = minimize(bowl, [(-1.0, 0.0), (0.0, 1.0)], budget=16, **FAST)
        assert result.best_value < 0.2
        assert result.best_X == pytest.approx((1.5, 1.5), abs=0.5)
        assert "your box was too small" in result.advice
        assert result.expansions
        assert all(record.trigger for record in result.expansions)

    @pytest.mark.slow
    def test_maximum_at_a_hard_limit(self) -> None:
        result = maximize(
            lambda x: -bowl(x), [(-1.0, 0.0), (1.0, 2.0)], budget=14,
            hard_limits={0: (None, 0.5)}, **FAST,
        )  # fmt: skip
        assert all(trial.X[0] <= 0.5 for trial in result.trials)
        assert result.best_X[0] == pytest.approx(0.5, abs=1e-2)
        assert "stopped by the hard limit on dimension 0, upper side" in result.advice

    def test_limits_equal_to_the_box(self) -> None:
        result = minimize(bowl, [(-1.0, 0.0), (0.0, 1.0)], budget=8, hard_limits=[(-1, 0), (0, 1)],
                          **FAST)  # fmt: skip
        assert torch.equal(result.bounds, result.initial_bounds)
        assert not result.expansions
        assert "hard limit" in result.advice

    def test_equal_seeds_equal_runs(self) -> None:
        first, second, other = (
            minimize(bowl, BOX, budget=8, seed=seed, **FAST) for seed in (5, 5, 6)
        )
        assert torch.equal(first.X, second.X)
        assert not torch.equal(first.X, other.X)

    def test_numpy_all_over(self, tmp_path: Path) -> None:
        """Arguments as they come out of arrays and data frames, also in the run file."""
        arguments: dict[str, Any] = {
            "budget": np.int64(5),
            "seed": np.int64(3),
            "epsilon": np.float32(0.05),
            "num_initial": np.int64(3),
            "max_growth": np.float64("inf"),
            "checkpoint": tmp_path / "run.db",
        }
        for _ in range(2):
            result = minimize(lambda x: np.square(x).sum(), np.array([[0, 1]]), **arguments, **FAST)
        assert len(result.Y) == 5

    def test_both_functions_take_the_same_arguments(self) -> None:
        assert inspect.signature(minimize) == inspect.signature(maximize)
        assert maximize(lambda x: -bowl(x), BOX, budget=2).best_value < 0
        with pytest.raises(InputDataError, match="call `minimize` or `maximize`"):
            minimize(bowl, BOX, budget=2, direction="maximize")


def test_result_is_what_the_plots_take():
    result = minimize(
        lambda x: (x[0] - 3.0) ** 2 + x[1] ** 2,
        [(-1.0, 1.0), (0.0, 1.0)],
        budget=8,
        **FAST,
    )
    axes = plot_boxes(result.box, result.X, result.Y)
    assert axes.get_xlabel() == "$x_{0}$"
    assert plot_intervals(result.box, result.X, dim=1).get_ylabel() == "$x_{1}$"
