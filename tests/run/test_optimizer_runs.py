"""UnboundedOptimizer in a run: given data, noise, pending trials, certificates, schedules."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from botorch.exceptions.errors import InputDataError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from botorch_ubo import available_methods
from tests.support.objectives import bowl
from tests.support.optimizing import make, started


class TestData:
    X = torch.tensor([[4.0, 4.0], [-3.0, 0.5], [0.0, 1.0], [0.5, 2.0], [0.9, 0.1], [5.0, -2.0]])
    Y = (X - 1.5).square().sum(dim=-1)

    @pytest.mark.parametrize("method", ["EI-UBO", "GPUCB-UBO", "HuBO-EI", "EI-Vanilla"])
    def test_warm_start_from_inside_and_outside_the_box(self, method: str) -> None:
        optimizer = make(data=(self.X, self.Y), method=method)
        trial = optimizer.ask()
        assert trial.X not in [trial.X for trial in make().ask(6)]  # a model, not a design
        if "UBO" in method:  # the theorem's box is around all data
            lower, upper = optimizer.box.bounds
            assert (lower <= self.X.amin(dim=0)).all()
            assert (upper >= self.X.amax(dim=0)).all()
        optimizer.tell(trial, bowl(trial.X))
        assert len(optimizer.result().Y) == 7

    @pytest.mark.parametrize(
        "form", [lambda x: x.numpy(), lambda x: x.tolist(), list, lambda x: x.double()]
    )
    def test_forms(self, form: Any) -> None:
        optimizer = make()
        new = optimizer.add_data(form(self.X), form(self.Y))
        assert [trial.X for trial in new] == [tuple(row) for row in self.X.double().tolist()]
        assert not any(trial.asked for trial in new)
        optimizer.add_data(self.X, self.Y.unsqueeze(-1) + 1)
        assert len(optimizer.completed) == 12

    @pytest.mark.parametrize(
        ("X", "Y", "variance"),
        [
            ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [1.0, 2.0], None),
            ([1.0, 2.0], [1.0], None),
            ([[1.0, 2.0]], [1.0, 2.0], None),
            ([[1.0, 2.0]], [[1.0, 2.0]], None),
            ([[1.0, 2.0]], ["much"], None),
            ([[1.0, math.nan]], [1.0], None),
            ([[1.0, 2.0]], [1.0], [0.1, 0.2]),
            ([[1.0, 2.0]], [1.0], [-0.1]),
        ],
    )
    def test_bad_data_change_nothing(self, X: Any, Y: Any, variance: Any) -> None:
        optimizer = make()
        with pytest.raises(InputDataError, match="Expected"):
            optimizer.add_data(X, Y, variance)
        assert not optimizer.trials

    def test_data_beyond_a_hard_limit_are_refused(self) -> None:
        with pytest.raises(InputDataError, match="hard limits"):
            make(hard_limits={0: (None, 3.0)}, data=(self.X, self.Y))

    def test_failed_data_count_as_failures(self) -> None:
        optimizer = make(data=([[0.0, 0.0], [1.0, 1.0]], [math.nan, 1.0]))
        assert (len(optimizer.failed), len(optimizer.completed)) == (1, 1)


class TestNoise:
    def test_given_variances_enter_the_model(self) -> None:
        optimizer = make(num_initial=2, method="HuBO-EI")  # none of its points is very bad
        for trial in optimizer.ask(6):
            optimizer.tell(trial, bowl(trial.X), 0.25)
        noise = optimizer.fit().likelihood.noise * optimizer.fit().outcome_transform.stdvs ** 2
        torch.testing.assert_close(noise.detach().flatten(), torch.full((6,), 0.25).double())
        assert optimizer.ask().status == "pending"

    def test_exact_observations(self, recwarn: pytest.WarningsRecorder) -> None:
        optimizer = make()
        for trial in optimizer.ask(6):
            optimizer.tell(trial, bowl(trial.X), 0.0)
        optimizer.ask()
        assert not [warning for warning in recwarn if "noise" in str(warning.message)]

    def test_replicates_sharpen_the_mean_and_do_not_break_the_search(self) -> None:
        """The same point again and again: a Gram matrix that is singular but for the noise."""
        optimizer = started()
        trial = optimizer.ask()
        values = [1.0, 1.4, 0.6, 1.2, 0.8, 1.0]
        optimizer.tell(trial, values[0])
        optimizer.add_data([trial.X] * 5, values[1:])
        optimizer.add_data([trial.X] * 5, [1.0] * 5)
        mean = optimizer.fit().posterior(torch.tensor([trial.X]).double()).mean.item()
        assert mean == pytest.approx(1.0, abs=0.1)
        assert math.dist(optimizer.ask().X, trial.X) > 1e-3
        assert len(optimizer.result().Y) == 17

    def test_a_constant_objective(self) -> None:
        optimizer = make()
        for _ in range(9):
            optimizer.tell(optimizer.ask(), 5)
        result = optimizer.result()
        assert result.best_value == 5.0
        assert result.bounds.isfinite().all()

    @pytest.mark.parametrize("scale", [pytest.param(1e-12, marks=pytest.mark.slow), 1e12])
    def test_outcomes_of_any_size(self, scale: float) -> None:
        optimizer = make()
        for _ in range(8):
            trial = optimizer.ask()
            optimizer.tell(trial, scale * bowl(trial.X))
        assert optimizer.result().best_value < scale * 10


class TestDirection:
    @pytest.mark.slow
    def test_minimising_f_is_maximising_minus_f(self) -> None:
        runs = []
        for direction, sign in (("minimize", 1.0), ("maximize", -1.0)):
            optimizer = make(direction=direction)
            for _ in range(8):
                trial = optimizer.ask()
                optimizer.tell(trial, sign * bowl(trial.X))
            runs.append(optimizer)
        low, high = (optimizer.result() for optimizer in runs)
        for a, b in zip(runs[0].trials, runs[1].trials, strict=True):
            assert a.X == pytest.approx(b.X, abs=1e-3)
        assert low.best_value == pytest.approx(-high.best_value, abs=1e-3)
        assert low.recommended_value == pytest.approx(-high.recommended_value, abs=1e-2)
        assert low.guaranteed_value == pytest.approx(-high.guaranteed_value, abs=1e-2)
        assert low.best_value == min(trial.value for trial in runs[0].completed)
        assert high.best_value == max(trial.value for trial in runs[1].completed)


DEFAULT, *OTHERS = (method.name for method in available_methods())


@pytest.mark.parametrize(
    "method", [DEFAULT, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)
def test_every_method_asks_with_pending_and_failed_trials(method: str) -> None:
    optimizer = started(method=method)
    pending = optimizer.ask(2)
    optimizer.tell_failed(pending[0], "broke")
    trial = optimizer.ask()
    assert all(math.dist(trial.X, other.X) > 1e-6 for other in optimizer.trials[:-1])
    optimizer.tell(trial, bowl(trial.X))
    assert optimizer.ask().status == "pending"


class TestPending:
    def test_the_trigger_looks_at_evaluated_points_only(self) -> None:
        optimizer = started(method="GPUCB-UBO")
        optimizer.ask()
        state = optimizer.box.state_dict()
        optimizer.ask(3)
        assert optimizer.box.state_dict() == state

    @pytest.mark.slow
    def test_a_trial_that_never_comes_back_does_not_stop_the_run(self) -> None:
        optimizer = started()
        lost = optimizer.ask()
        for _ in range(5):
            trial = optimizer.ask()
            optimizer.tell(trial, bowl(trial.X))
        assert optimizer.pending == (lost,)
        assert optimizer.result().best_value < 1.0


class TestCertify:
    def test_needs_the_initial_design(self) -> None:
        assert make().certify() is None

    def test_an_exhausted_box(self) -> None:
        """A box that may not grow, filled with exact observations of something smooth."""
        limits = [(0.0, 1.0)]
        X = torch.linspace(0, 1, 20).double().unsqueeze(-1)
        optimizer = make([(0.0, 1.0)], hard_limits=limits, epsilon=0.3)
        assert optimizer.certify() is None
        optimizer.add_data(X[:4], X[:4].square(), torch.zeros(4))
        optimizer.ask()
        optimizer.add_data(X[4:], X[4:].square(), torch.zeros(16))
        certificate = optimizer.certify()
        assert certificate is not None
        assert certificate.bounds == ((0.0,), (1.0,))
        assert certificate.best_X[0] < 0.2
        assert certificate.regret_bound <= certificate.epsilon
        assert optimizer.result().certificate == certificate


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A not p.d.")  # eight pending points on a short line
@example([3, 2, 2, 3, 1, 2, 0], 2)  # three failures around the only success
@example([4, 5, 0, 0, 4, 4, 1, 1, 1, 3, 4, 0], 1)  # eight pending at once
@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(0, 3))
@settings(max_examples=15)
def test_any_schedule_of_asks_and_tells(schedule: list[int], seed: int) -> None:
    """Ask, tell, fail and lose trials in any order: no point twice, none lost, all in bounds."""
    optimizer = make([(0.0, 1.0)], num_initial=3, hard_limits=[(-0.5, 2.0)], seed=seed)
    for action in schedule:
        if action <= 1 or not optimizer.pending:
            optimizer.ask(action + 1)
        elif action == 2:
            optimizer.tell_failed(optimizer.pending[-1], "broke")
        else:
            trial = optimizer.pending[0]
            optimizer.tell(trial, bowl(trial.X))
    points = [trial.X[0] for trial in optimizer.trials]
    assert len(set(points)) == len(points)
    assert all(-0.5 <= x <= 2.0 for x in points)
