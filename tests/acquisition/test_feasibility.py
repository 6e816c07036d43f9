from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.optim import optimize_acqf

from botorch_ubo.acquisition.feasibility import LogFeasibilityWeighted
from botorch_ubo.models import fit_default_model
from botorch_ubo.models.quick import QuickLogExpectedImprovement, has_quick_search
from tests.support.gps import tensor

X = tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
FAILED = tensor([[3.0, 0.5], [3.5, 0.5]])
UNITS = tensor([1.0, 1.0])


def model() -> SingleTaskGP:
    Y = X.sum(dim=-1, keepdim=True)
    return SingleTaskGP(X, Y, input_transform=Normalize(2, bounds=tensor([[0.0] * 2, [1.0] * 2])))


def weighted(kind: str = "ei", units: torch.Tensor = UNITS) -> LogFeasibilityWeighted:
    gp = model().eval()
    acqf = LogExpectedImprovement(gp, 2.0) if kind == "ei" else UpperConfidenceBound(gp, 2.0)
    return LogFeasibilityWeighted(acqf, X, FAILED, units)


class TestChance:
    def test_by_hand(self) -> None:
        """One success at distance 1 and one failure at distance 2, in two dimensions."""
        acqf = LogFeasibilityWeighted(
            LogExpectedImprovement(model().eval(), 2.0), X[:1], tensor([[3.0, 0.0]]), UNITS
        )
        chance = acqf.log_chance(tensor([[1.0, 0.0]])).exp()
        assert chance.item() == pytest.approx(1 / (1 + 1 / 8))

    def test_at_successes_failures_and_far_away(self) -> None:
        acqf = weighted()
        assert acqf.log_chance(X).exp().tolist() == pytest.approx([1.0] * 4)
        assert (acqf.log_chance(FAILED) < -30).all()
        far = acqf.log_chance(tensor([[1e6, 1e6], [-1e6, 0.0]])).exp()
        assert far.tolist() == pytest.approx([4 / 6] * 2, rel=1e-4)

    def test_falls_from_a_success_to_a_failure(self) -> None:
        path = torch.stack([torch.linspace(1, 3, 50), torch.full((50,), 0.5)], dim=-1).double()
        chance = weighted().log_chance(path)
        assert (chance.diff() < 0).all()

    def test_has_no_scale_of_its_own(self) -> None:
        points = tensor([[2.0, 0.3], [5.0, 5.0]])
        torch.testing.assert_close(
            weighted(units=UNITS).log_chance(points), weighted(units=100 * UNITS).log_chance(points)
        )

    def test_many_dimensions_and_close_points_stay_finite(self) -> None:
        torch.manual_seed(0)
        X = torch.rand(30, 20).double()
        gp = SingleTaskGP(X, X[:, :1]).eval()
        acqf = LogFeasibilityWeighted(
            LogExpectedImprovement(gp, 0.5), X[:20], X[20:], torch.ones(20).double()
        )
        points = torch.cat([X, X + 1e-12, X + 1e3]).requires_grad_()
        values = acqf(points.unsqueeze(-2))
        values.sum().backward()
        assert values.isfinite().all()
        assert points.grad.isfinite().all()


class TestValue:
    def test_adds_to_a_logarithm(self) -> None:
        acqf = weighted()
        point = tensor([[2.0, 0.4]])
        expected = acqf.acq_function(point.unsqueeze(-2)) + acqf.log_chance(point)
        torch.testing.assert_close(acqf(point.unsqueeze(-2)), expected)

    def test_is_a_monotone_function_of_other_values(self) -> None:
        acqf = weighted("ucb")
        torch.manual_seed(0)
        points = 3 * torch.rand(40, 1, 2).double() - 1
        plain = acqf.acq_function(points)
        value = acqf(points) - acqf.log_chance(points.squeeze(-2))
        assert torch.equal(plain.argsort(), value.argsort())

    def test_very_low_values_do_not_underflow(self) -> None:
        acqf = weighted("ucb")
        acqf.unit = 1e-6
        values = acqf(X.unsqueeze(-2))
        assert values.isfinite().all()
        assert values.argmax() == acqf.acq_function(X.unsqueeze(-2)).argmax()

    def test_without_spread_the_unit_is_one(self) -> None:
        gp = SingleTaskGP(X, torch.zeros(4, 1).double()).eval()
        ucb = UpperConfidenceBound(gp, 0.0)
        acqf = LogFeasibilityWeighted(ucb, X[:1], FAILED, UNITS)
        assert acqf.unit == 1.0

    @pytest.mark.parametrize("kind", ["ei", "ucb"])
    def test_the_maximiser_keeps_away(self, kind: str) -> None:
        """Without the weight both would go to where it failed."""
        acqf = weighted(kind)
        bounds = tensor([[0.0, 0.5], [4.0, 0.5 + 1e-6]])
        best, _ = optimize_acqf(acqf, bounds, q=1, num_restarts=4, raw_samples=64)
        assert min(math.dist(best[0].tolist(), point) for point in FAILED.tolist()) > 0.3


class TestFormula:
    """The same in numpy, for an acquisition function that has one."""

    @pytest.mark.parametrize("pending", [None, tensor([[1.5, 0.5]])])
    def test_is_the_value_and_its_gradient(self, pending: torch.Tensor | None) -> None:
        gp = fit_default_model(X, X.sum(dim=-1, keepdim=True).sin(), tensor([[0.0] * 2, [1.0] * 2]))
        acqf = LogFeasibilityWeighted(
            QuickLogExpectedImprovement(gp, 0.9), X, FAILED, tensor([0.2, 0.7])
        )
        acqf.set_X_pending(pending)
        quick = acqf.closed_form()
        assert quick is not None and has_quick_search(acqf)
        torch.manual_seed(0)
        points = torch.cat([4 * torch.rand(20, 2).double() - 1, X + 1e-3, FAILED + 1e-3])
        leaf = points.unsqueeze(-2).requires_grad_()
        values = acqf(leaf)
        values.sum().backward()
        found, gradient = quick.formula(quick.to_points(points))
        np.testing.assert_allclose(found, values.detach(), rtol=1e-6)
        expected = (leaf.grad.squeeze(-2) / quick.slope).numpy()
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(quick.to_raw(quick.to_points(points)), points)

    def test_at_failures_in_many_dimensions_it_stays_finite(self) -> None:
        torch.manual_seed(0)
        X = torch.rand(30, 40).double()
        box = torch.stack([torch.zeros(40), torch.ones(40)]).double()
        gp = fit_default_model(X, X[:, :1], box)
        acqf = LogFeasibilityWeighted(
            QuickLogExpectedImprovement(gp, 0.5), X[:20], X[20:], torch.ones(40).double()
        )
        quick = acqf.closed_form()
        assert quick is not None
        for found in quick.formula(quick.to_points(torch.cat([X, X + 1e-12, X + 1e3]))):
            assert np.isfinite(found).all()

    def test_is_absent_where_the_acquisition_function_has_none(self) -> None:
        assert weighted("ei").closed_form() is None
        assert weighted("ucb").closed_form() is None


class TestPending:
    def test_go_to_the_acquisition_function(self) -> None:
        gp = model().eval()
        acqf = LogFeasibilityWeighted(qLogExpectedImprovement(gp, 2.0), X, FAILED, UNITS)
        point = tensor([[1.5, 1.5]])
        free = acqf(point.unsqueeze(-2))
        acqf.set_X_pending(point + 1)
        assert torch.equal(acqf.X_pending, point + 1)
        assert acqf(point.unsqueeze(-2)) > free  # of two points, one may be better
        acqf.set_X_pending(None)
        assert acqf.X_pending is None
        torch.testing.assert_close(acqf(point.unsqueeze(-2)), free)

    def test_are_absent_where_the_acquisition_function_takes_none(self) -> None:
        assert not hasattr(weighted("ei"), "X_pending")
