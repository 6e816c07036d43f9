"""UnboundedOptimizer with given data, noise, failures and pending trials."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from botorch.exceptions.errors import InputDataError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from botorch_ubo.methods import available_methods
from tests.optimizing import bowl, make, started


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
        optimizer = make(num_initial=2)
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

    @pytest.mark.parametrize("scale", [1e-12, 1e12])
    def test_outcomes_of_any_size(self, scale: float) -> None:
        optimizer = make()
        for _ in range(8):
            trial = optimizer.ask()
            optimizer.tell(trial, scale * bowl(trial.X))
        assert optimizer.result().best_value < scale * 10


class TestFailures:
    def test_are_kept_with_their_reason_and_stay_out_of_the_model(self) -> None:
        optimizer = started()
        for outcome in (math.nan, math.inf, -math.inf):
            assert optimizer.tell(optimizer.ask(), outcome).status == "failed"
        optimizer.tell_failed(optimizer.ask(), "sample broke")
        assert [trial.reason for trial in optimizer.failed] == [
            "the value is nan",
            "the value is inf",
            "the value is -inf",
            "sample broke",
        ]
        assert optimizer.fit().train_targets.shape == (6,)

    def test_repel_the_next_proposal(self) -> None:
        optimizer = started()
        failed = []
        for _ in range(4):
            trial = optimizer.ask()
            optimizer.tell_failed(trial, "broke")
            failed.append(trial.X)
        for a, b in itertools.combinations(failed, 2):
            assert math.dist(a, b) > 0.01

    def test_never_move_the_box(self) -> None:
        optimizer = started()
        trial = optimizer.ask()
        box, moves = optimizer.box.bounds, len(optimizer.box.history)
        for _ in range(4):
            optimizer.tell_failed(trial, "broke")
            trial = optimizer.ask()
        assert torch.equal(optimizer.box.bounds, box)
        assert len(optimizer.box.history) == moves

    @pytest.mark.parametrize("method", ["EI-UBO", "GPUCB-UBO"])
    def test_the_box_does_not_keep_growing_where_evaluations_fail(self, method: str) -> None:
        """The minimum is beyond x0 = 1.2, where everything fails; elsewhere the box may grow."""
        optimizer = make(method=method, seed=1)
        held_at = None
        for _ in range(16):
            trial = optimizer.ask()
            if held_at is not None:
                assert optimizer.box.bounds[1, 0] <= held_at
            if trial.X[0] > 1.2:
                optimizer.tell_failed(trial, "beyond 1.2")
            else:
                optimizer.tell(trial, (trial.X[0] - 4) ** 2 + (trial.X[1] - 1.5) ** 2)
            if (0, "upper") in optimizer._ledger.failing_sides(2) and held_at is None:
                held_at = float(optimizer.box.bounds[1, 0])
        assert held_at is not None
        result = optimizer.result()
        assert "held back by failed evaluations on dimension 0, upper side" in result.advice
        assert len(optimizer.failed) < 12
        # It does not give up on what works either: the first design came to 0.69.
        assert result.best_X[0] > 0.8

    def test_a_first_design_that_fails_is_followed_by_another(self) -> None:
        optimizer = make()
        for trial in optimizer.ask(6):
            optimizer.tell_failed(trial, "broke")
        more = optimizer.ask(2)
        assert all(-1 <= trial.X[0] <= 1 for trial in more)
        assert not optimizer.box.history
        optimizer.tell(more[0], bowl(more[0].X))
        assert math.dist(optimizer.ask().X, more[1].X) > 0


@pytest.mark.parametrize("method", [method.name for method in available_methods()])
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
