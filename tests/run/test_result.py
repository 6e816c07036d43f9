"""The result of a run: the best, the recommended and the guaranteed point, in the user's sign."""

from __future__ import annotations

import math

import pytest
import torch

from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.recorded import as_run
from botorch_ubo.run.result import NoResultError
from botorch_ubo.run.words import advice_of
from tests.support.optimizing import FAST


@pytest.fixture(scope="module", params=["minimize", "maximize"])
def optimizer(request: pytest.FixtureRequest) -> UnboundedOptimizer:
    """The same noisy data in both directions; the sign of the outcomes is the direction's."""
    generator = torch.Generator().manual_seed(1)
    X = torch.rand(20, 2, dtype=torch.double, generator=generator)
    noise = 0.05 * torch.randn(20, dtype=torch.double, generator=generator)
    Y = (X - 0.3).square().sum(dim=-1) + noise
    optimizer = UnboundedOptimizer([(0, 1), (0, 1)], direction=request.param, **FAST)
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

    def test_under_noise_it_leads_with_the_recommended_point(
        self, optimizer: UnboundedOptimizer
    ) -> None:
        result = optimizer.result()
        assert result.is_noisy
        model = optimizer.fit()
        noise = model.likelihood.noise.sqrt() * model.outcome_transform.stdvs
        assert result.noise == pytest.approx(float(noise.detach()), rel=0.05)
        first, second, *_ = str(result).splitlines()
        assert first.startswith("recommended (0.")
        assert f"{result.recommended_value:.6g}" in first
        assert "luck" in second
        assert f"{result.best_value:.6g}" in second

    def test_one_line_and_a_small_table(self, optimizer: UnboundedOptimizer) -> None:
        result = optimizer.result()
        for thing in (result, optimizer, optimizer.box):
            assert "\n" not in repr(thing)
            assert len(repr(thing)) < 250
            table = thing._repr_html_()
            assert table.startswith("<table>")
            assert len(table) < 3000
        assert repr(result).startswith("OptimizationResult(best_value=")
        assert "20 completed, 0 pending, 1 failed" in repr(optimizer)
        assert "[0, 1] x [0, 1]" in repr(optimizer.box)

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


def test_failures_beyond_the_successes_are_in_the_advice(optimizer: UnboundedOptimizer) -> None:
    assert "failed evaluations" not in optimizer.result().advice  # one failure is no pattern
    other = UnboundedOptimizer([(0, 1), (0, 1)], **FAST)
    other.add_data([[0.2, 0.2], [0.5, 0.5], [0.8, 0.8]], [1.0, 2.0, 3.0])
    other.add_data([[0.5, 1.5], [0.5, 1.6]], [math.nan, math.inf])
    advice = other.result().advice
    assert advice.endswith("held back by failed evaluations on dimension 1, upper side")


def test_exact_values_are_not_called_noisy() -> None:
    optimizer = UnboundedOptimizer([(0, 1), (0, 1)], **FAST)
    X = torch.rand(12, 2, dtype=torch.double, generator=torch.Generator().manual_seed(1))
    optimizer.add_data(X, (X - 0.3).square().sum(dim=-1))
    result = optimizer.result()
    assert not result.is_noisy
    assert str(result).startswith("best value")


@pytest.mark.parametrize("value", [0.0, 5.0, -1e9, -1e-200, 1e100])
def test_a_flat_objective_is_called_flat(value: float) -> None:
    optimizer = UnboundedOptimizer([(0, 1)], **FAST)
    for _ in range(8):
        optimizer.tell(optimizer.ask(), value)
    result = optimizer.result()
    assert result.advice.startswith(f"the objective is flat: all 8 values are {value:.6g}")
    assert result.certificate is None
    assert "your box was enough" not in str(result)
    assert "noise" not in str(result) and "luck" not in str(result)


def test_noise_alone_is_called_flat_and_a_slope_with_noise_is_not() -> None:
    generator = torch.Generator().manual_seed(0)
    X = 8 * torch.rand(50, 2, dtype=torch.double, generator=generator) - 3.5
    noise = torch.randn(50, dtype=torch.double, generator=generator)
    for Y, flat in ((noise, True), (noise + 3 * X.sum(dim=-1), False)):
        optimizer = UnboundedOptimizer([(0, 1), (0, 1)], **FAST)
        optimizer.add_data(X, Y)
        advice = optimizer.result().advice
        told = "the objective is flat as far as 50 evaluations can tell"
        assert advice.startswith(told) == flat
        assert ("your box was" in advice) != flat
        assert advice_of(as_run(optimizer)).startswith(told) == flat


def test_few_values_are_not_called_noise() -> None:
    optimizer = UnboundedOptimizer([(0, 1), (0, 1)], **FAST)
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(10, 2, dtype=torch.double, generator=generator)
    optimizer.add_data(X, torch.randn(10, dtype=torch.double, generator=generator))
    assert "flat" not in optimizer.result().advice


def test_many_dimensions_fit_on_a_screen() -> None:
    optimizer = UnboundedOptimizer([(0, 1)] * 60, num_initial=2, **FAST)
    for trial in optimizer.ask(2):
        optimizer.tell(trial, sum(trial.X))
    for thing in (optimizer, optimizer.box, optimizer.result()):
        assert len(repr(thing)) < 400
    assert len(str(optimizer.result())) < 2000


def test_kinds_of_failures_with_counts_and_an_example() -> None:
    optimizer = UnboundedOptimizer([(0, 1)], **FAST)
    trials = optimizer.ask(8)
    optimizer.tell(trials[0], 1.0)
    for trial in trials[1:4]:
        optimizer.tell_failed(trial, f"ValueError: trial {trial.id}\n is bad")
    optimizer.tell_failed(trials[4], "RuntimeError: " + "x" * 300)
    optimizer.tell(trials[5], math.nan)
    optimizer.tell_failed(trials[6], "the oven was cold")
    line = str(optimizer.result()).splitlines()[-1]
    assert line.startswith("failures: 3 x ValueError (trial 1, at (")
    assert "ValueError: trial 1 is bad" in line
    assert "1 x RuntimeError" in line
    assert "1 x the value is nan" in line
    assert line.endswith("and 1 other kinds")
    assert len(line) < 500
