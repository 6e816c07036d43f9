from __future__ import annotations

import inspect
import io
import logging
import math
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import NoResultError, UnboundedOptimizer, maximize, minimize
from botorch_ubo.evaluation import EvaluationError, evaluate
from botorch_ubo.plotting import plot_boxes, plot_intervals
from botorch_ubo.trials import Trial

FAST: dict[str, Any] = {"num_restarts": 2, "raw_samples": 32}
BOX = [(-1.0, 1.0), (0.0, 3.0)]


def bowl(x: Any) -> Any:
    return (x[0] - 1.5) ** 2 + (x[1] - 1.5) ** 2


class TestObjective:
    """What an objective may be called with, return and raise; a design is enough to see it."""

    def test_floats(self) -> None:
        seen: list[Any] = []
        minimize(lambda x: seen.append(x) or bowl(x), BOX, budget=3, **FAST)
        assert all(type(x) is list and all(type(number) is float for number in x) for x in seen)

    def test_tensors(self) -> None:
        seen: list[Any] = []
        minimize(lambda x: seen.append(x) or bowl(x), BOX, budget=3, input_type="tensor", **FAST)
        assert all(x.shape == (2,) and x.dtype == torch.double for x in seen)

    @pytest.mark.parametrize(
        "wrap",
        [int, np.float32, np.array, torch.tensor, lambda y: torch.tensor([y], requires_grad=True)],
    )
    def test_kinds_of_numbers(self, wrap: Any) -> None:
        result = minimize(lambda x: wrap(bowl(x)), BOX, budget=3, **FAST)
        assert len(result.Y) == 3
        assert type(result.best_value) is float

    def test_values_with_their_variance(self) -> None:
        result = minimize(lambda x: (bowl(x), 0.01), BOX, budget=4, **FAST)
        assert [trial.variance for trial in result.trials] == [0.01] * 4

    @pytest.mark.parametrize(
        ("outcome", "reason"),
        [
            (math.nan, "the value is nan"),
            (np.inf, "the value is inf"),
            (None, "InputDataError: Expected the value to be one number; got None"),
            ("3", "InputDataError: Expected the value"),
            (np.arange(2), "InputDataError: Expected the value"),
            ((1.0, -0.1), "InputDataError: Expected a finite variance >= 0; got -0.1"),
            ((1.0, math.nan), "InputDataError: Expected a finite variance"),
            ((1.0, 2.0, 3.0), "ValueError: too many values to unpack"),
            (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
            (InputDataError("mine"), "InputDataError: mine"),
        ],
    )
    def test_failures_are_kept_with_their_reason(self, outcome: Any, reason: str) -> None:
        calls = iter(range(9))

        def f(x: list[float]) -> Any:
            if next(calls) != 1:
                return (bowl(x), 0.1) if isinstance(outcome, tuple) else bowl(x)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        result = minimize(f, BOX, budget=3, **FAST)
        assert [trial.status for trial in result.trials] == ["completed", "failed", "completed"]
        assert result.trials[1].reason.startswith(reason)
        assert len(result.Y) == 2

    def test_an_objective_that_always_fails(self) -> None:
        with pytest.raises(
            NoResultError, match=r"all 8 failed so far: 8 times .TypeError.*input_type"
        ):
            minimize(lambda x: (x - 1).sum(), BOX, budget=8, **FAST)

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
    def test_an_interrupt_is_not_a_failure(
        self, error: type[BaseException], tmp_path: Path
    ) -> None:
        path = tmp_path / "run.json"
        calls = iter(range(99))

        def f(x: list[float]) -> float:
            if next(calls) == 2:
                raise error
            return bowl(x)

        with pytest.raises(error):
            minimize(f, BOX, budget=5, checkpoint=path, **FAST)
        run = UnboundedOptimizer(BOX, checkpoint=path, **FAST)
        assert [trial.status for trial in run.trials] == ["completed", "completed", "pending"]
        result = minimize(f, BOX, budget=5, checkpoint=path, **FAST)
        whole = minimize(bowl, BOX, budget=5, **FAST)
        assert [trial.X for trial in result.trials] == [trial.X for trial in whole.trials]

    def test_evaluate_sends_text_only(self) -> None:
        class Unpicklable(Exception):
            def __init__(self, a: int, b: int) -> None:
                super().__init__(f"{a} and {b}")

        def f(x: list[float]) -> float:
            raise Unpicklable(1, 2)

        with pytest.raises(EvaluationError, match="Unpicklable: 1 and 2"):
            evaluate(f, "floats", [0.0])


class TestBudget:
    @pytest.mark.parametrize("budget", [1, 2, 7])
    def test_is_met_exactly(self, budget: int) -> None:
        calls: list[Any] = []
        result = minimize(lambda x: calls.append(x) or bowl(x), BOX, budget=budget, **FAST)
        assert len(calls) == len(result.trials) == budget
        assert result.stopped_because == "the budget was used up"

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
        path = tmp_path / "run.json"
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
        ],
    )
    def test_bad_arguments(self, options: dict[str, Any]) -> None:
        with pytest.raises(InputDataError, match="Expected"):
            minimize(bowl, BOX, **options)


class TestStopping:
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

        path = tmp_path / "run.json"
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
            "checkpoint": tmp_path / "run.json",
        }
        for _ in range(2):
            result = minimize(lambda x: np.square(x).sum(), np.array([[0, 1]]), **arguments, **FAST)
        assert len(result.Y) == 5

    def test_both_functions_take_the_same_arguments(self) -> None:
        assert inspect.signature(minimize) == inspect.signature(maximize)
        assert maximize(lambda x: -bowl(x), BOX, budget=2).best_value < 0
        with pytest.raises(TypeError, match="direction"):
            minimize(bowl, BOX, budget=2, direction="maximize")


class TestProgress:
    def test_bar_counts_and_tells_moves(self) -> None:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            minimize(bowl, BOX, budget=8, progress=True, **FAST)
        assert "8/8" in err.getvalue()
        assert "best=" in err.getvalue()
        assert "moved the box" in out.getvalue()

    def test_silence_is_the_default(self, caplog: pytest.LogCaptureFixture) -> None:
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out), caplog.at_level(logging.ERROR):
            minimize(lambda x: bowl(x) if x[0] < 0 else math.nan, BOX, budget=7, **FAST)
        assert out.getvalue() == ""

    def test_failures_are_warned_of(self, caplog: pytest.LogCaptureFixture) -> None:
        calls = iter(range(9))
        with caplog.at_level(logging.DEBUG, logger="botorch_ubo"):
            minimize(lambda x: bowl(x) if next(calls) else 1 / 0, BOX, budget=2, **FAST)
        assert "trial 0 failed: ZeroDivisionError: division by zero" in caplog.text
        assert "Traceback" in caplog.text  # at level DEBUG


def test_result_is_what_the_plots_take():
    result = minimize(
        lambda x: (x[0] - 3.0) ** 2 + x[1] ** 2,
        [(-1.0, 1.0), (0.0, 1.0)],
        budget=8,
        num_restarts=2,
        raw_samples=32,
    )
    axes = plot_boxes(result.box, result.X, result.Y)
    assert axes.get_xlabel() == "$x_{0}$"
    assert plot_intervals(result.box, result.X, dim=1).get_ylabel() == "$x_{1}$"
