"""The loop: what an objective may take, return and raise, and what is told on the way."""

from __future__ import annotations

import io
import logging
import math
import pickle
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import (
    EvaluationError,
    NoResultError,
    ObjectiveWarning,
    UnboundedOptimizer,
    minimize,
)
from botorch_ubo.run.evaluation import evaluate
from tests.support.objectives import bowl
from tests.support.optimizing import BOX, FAST


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
            ((1.0, 2.0, 3.0), "InputDataError: Expected a number, or a pair"),
            (np.ma.masked, "InputDataError: Expected the value to be one number"),
            (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
            (InputDataError("mine"), "InputDataError: mine"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::botorch_ubo.ObjectiveWarning")
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

    @pytest.mark.filterwarnings("ignore::botorch_ubo.ObjectiveWarning")
    def test_a_variance_with_some_results_only(self) -> None:
        """Noise is given for all results or for none; the odd one is kept in the reason."""
        outcomes = iter([(1.0, 0.1), 2.5, (3.0, 0.1)])
        result = minimize(lambda _: next(outcomes), BOX, budget=3, **FAST)
        assert [trial.value for trial in result.trials] == [1.0, None, 3.0]
        assert "returned 2.5" in result.failures[0].reason
        assert "a variance, as with the results so far" in result.failures[0].reason

    def test_an_objective_that_always_fails(self) -> None:
        with (
            pytest.warns(ObjectiveWarning, match="unsupported operand"),
            pytest.raises(
                NoResultError, match=r"all 8 failed so far: 8 times .TypeError.*input_type"
            ),
        ):
            minimize(lambda x: (x - 1).sum(), BOX, budget=8, catch=TypeError, **FAST)

    @pytest.mark.parametrize(
        "error", [KeyboardInterrupt, pytest.param(SystemExit, marks=pytest.mark.slow)]
    )
    def test_an_interrupt_is_not_a_failure(
        self, error: type[BaseException], tmp_path: Path
    ) -> None:
        path = tmp_path / "run.db"
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

        with pytest.raises(EvaluationError, match="Unpicklable: 1 and 2") as error:
            evaluate(f, "floats", [0.0])
        again = pickle.loads(pickle.dumps(error.value))
        assert (str(again), again.is_bug) == ("Unpicklable: 1 and 2", False)
        assert "raise Unpicklable(1, 2)" in again.trace
        assert "builtins.Exception" in again.kinds

    @pytest.mark.filterwarnings("ignore::botorch_ubo.ObjectiveWarning")
    def test_an_exception_that_cannot_be_printed(self) -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no words")

        calls = iter(range(9))

        def f(x: list[float]) -> float:
            if next(calls) == 1:
                raise Mute
            return bowl(x)

        result = minimize(f, BOX, budget=3, **FAST)
        assert result.trials[1].reason.startswith("Mute: Mute (which could not be printed")


class TestBugs:
    """A mistake in the objective shows at once."""

    @pytest.mark.parametrize(
        ("f", "words"),
        [
            (lambda a, b: 0.0, "TypeError: .*missing 1 required positional argument"),
            (lambda x: undefined, "NameError: name 'undefined'"),  # noqa: F821
            (lambda x: x.sum(), "AttributeError: 'list'"),
            (lambda x: x[7], "IndexError"),
            (lambda x: None, "InputDataError: Expected the value to be one number; got None"),
            (lambda x: (1, 2, 3), "InputDataError: Expected a number, or a pair"),
        ],
    )
    def test_in_the_first_evaluation_stops_the_run(
        self, f: Any, words: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "run.db"
        with pytest.raises(EvaluationError, match=words) as error:
            minimize(f, BOX, budget=5, checkpoint=path, **FAST)
        notes = "\n".join(error.value.__notes__)
        assert "looks like a mistake" in notes
        assert "`catch=" in notes
        assert error.value.result is None
        # With the mistake mended, the run begins with the same trial.
        run = minimize(bowl, BOX, budget=2, checkpoint=path, **FAST)
        assert [trial.status for trial in run.trials] == ["completed"] * 2

    @pytest.mark.parametrize("catch", [TypeError, Exception, (ValueError, TypeError)])
    def test_unless_the_user_says_otherwise(self, catch: Any) -> None:
        calls = iter(range(9))
        with pytest.warns(ObjectiveWarning):
            result = minimize(
                lambda x: bowl(x) if next(calls) else x + 1, BOX, budget=3, catch=catch, **FAST
            )
        assert [trial.status for trial in result.trials] == ["failed", "completed", "completed"]

    def test_a_catch_that_is_none(self) -> None:
        with pytest.raises(InputDataError, match="`catch` to be an exception"):
            minimize(bowl, BOX, budget=3, catch="TypeError")

    def test_what_is_no_mistake_does_not_stop_it(self) -> None:
        calls = iter(range(9))
        with pytest.warns(ObjectiveWarning, match="division by zero"):
            result = minimize(lambda x: bowl(x) if next(calls) else 1 / 0, BOX, budget=2, **FAST)
        assert len(result.Y) == 1

    def test_the_first_exception_is_shown_with_its_traceback_once(self) -> None:
        def f(x: list[float]) -> float:
            if x[0] > 0:
                raise ValueError("a very special place")
            return bowl(x)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = minimize(f, BOX, budget=6, num_initial=6, **FAST)
        shown = [str(it.message) for it in caught if it.category is ObjectiveWarning]
        assert len(shown) == 1
        assert "a very special place" in shown[0]
        assert 'raise ValueError("a very special place")' in shown[0]
        assert [it.filename for it in caught if it.category is ObjectiveWarning] == [__file__]
        assert sum(trial.status == "failed" for trial in result.trials) > 1


class TestInterrupt:
    def test_ctrl_c_has_what_was_found_without_a_checkpoint_too(self) -> None:
        calls = iter(range(99))

        def f(x: list[float]) -> float:
            if next(calls) == 4:
                raise KeyboardInterrupt
            return bowl(x)

        with pytest.raises(KeyboardInterrupt) as stop:
            minimize(f, BOX, budget=9, **FAST)
        result = stop.value.result
        assert len(result.Y) == 4
        assert result.stopped_because == "of KeyboardInterrupt"
        assert len(stop.value.optimizer.trials) == 5
        assert "4 evaluation(s)" in stop.value.__notes__[-1]
        again = minimize(bowl, BOX, budget=2, data=(result.X, result.Y), **FAST)
        assert len(again.Y) == 6

    def test_any_other_end_has_it_too(self) -> None:
        def callback(*_: Any) -> None:
            raise RuntimeError("mine")

        with pytest.raises(RuntimeError) as stop:
            minimize(bowl, BOX, budget=9, callback=callback, **FAST)
        assert len(stop.value.result.Y) == 1


class TestProgress:
    def test_bar_counts_and_tells_moves(self) -> None:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            minimize(bowl, BOX, budget=8, progress=True, **FAST)
        assert "8/8" in err.getvalue()
        assert "best=" in err.getvalue()
        assert "box=[" in err.getvalue()
        lines = out.getvalue().splitlines()
        assert lines[0].startswith("after 6 evaluations the box is [")
        assert "wider" in lines[0]
        assert len(lines) <= 2

    def test_silence_is_the_default(self, caplog: pytest.LogCaptureFixture) -> None:
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out), caplog.at_level(logging.ERROR):
            minimize(lambda x: bowl(x) if x[0] < 0 else math.nan, BOX, budget=7, **FAST)
        assert out.getvalue() == ""

    def test_failures_are_warned_of(self, caplog: pytest.LogCaptureFixture) -> None:
        calls = iter(range(9))
        with caplog.at_level(logging.DEBUG, logger="botorch_ubo"), pytest.warns(ObjectiveWarning):
            minimize(lambda x: bowl(x) if next(calls) else 1 / 0, BOX, budget=2, **FAST)
        assert "trial 0 failed: ZeroDivisionError: division by zero" in caplog.text
