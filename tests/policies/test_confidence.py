"""Confidence bounds of a step: their beta, their sign, and that nobody pays for them twice."""

from unittest import mock

import pytest
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.exceptions.errors import UnsupportedError
from botorch.models import SingleTaskGP
from gpytorch.kernels import PeriodicKernel

from botorch_ubo import ConstantBeta, Never, RegretBound, TheoremBeta
from botorch_ubo.policies import confidence
from botorch_ubo.posterior import theorem_radius
from tests.support.by_hand import random_data, rbf_model, unit_box
from tests.support.controlled import FAST, build, corrected, data, gp
from tests.support.exhausted import dense, interpolating, started, wave


@pytest.mark.parametrize("maximize", [True, False])
def test_bounds_are_of_what_is_to_be_maximised(maximize: bool) -> None:
    X, Y = random_data(6)
    model = rbf_model(X, Y, lengthscale=0.4)
    box = corrected(unit_box(), beta=ConstantBeta(4.0), maximize=maximize)
    bounds = box.context(model).confidence
    points = torch.rand(9, 1, 2, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    with torch.no_grad():
        posterior = model.posterior(points.squeeze(-2))
        mean = posterior.mean.squeeze(-1) * (1 if maximize else -1)
        std = posterior.variance.sqrt().squeeze(-1)
        torch.testing.assert_close(bounds.ucb(points), mean + 2 * std)
        torch.testing.assert_close(bounds.lcb(points), mean - 2 * std)
        torch.testing.assert_close(bounds.ucb_at_data, bounds.ucb(X.unsqueeze(-2)))
        torch.testing.assert_close(bounds.lcb_at_data, bounds.lcb(X.unsqueeze(-2)))
        upper, lower = bounds.bounds(9.0)
        torch.testing.assert_close(upper(points), mean + 3 * std)
        torch.testing.assert_close(lower(points), mean - 3 * std)
        far = float(bounds.ucb(torch.full((1, 1, 2), 1e4).double()))
    assert bounds.ucb_at_infinity == pytest.approx(far) == pytest.approx(2.0)  # zero mean, theta 1


def test_beta_counts_steps_of_the_box_or_of_the_run() -> None:
    box = build("HuBO-EI", beta=TheoremBeta(), **FAST)  # moves at every step
    for n in (6, 7, 8):
        X, Y = data(n)
        box.update(gp(X, Y))
    context = box.context(gp(X, Y))
    assert (context.t, context.t_local) == (3, 1)
    sides = context.box[1] - context.box[0]
    expected = [TheoremBeta()(t, sides, context.view) for t in (1, 3)]
    assert [context.confidence.beta, context.confidence.beta_of_run] == pytest.approx(expected)
    assert expected[0] < expected[1]
    assert context.confidence.beta_in(context.first_box, 3) < expected[1]  # a smaller box


def test_slack_has_the_unit_of_the_outcomes_and_falls_with_the_steps_of_the_box() -> None:
    box = corrected(trigger=Never())
    X, Y = data(9)
    box.update(gp(X[:6], 1000 * Y[:6]))
    context = box.context(gp(X, 1000 * Y))
    assert context.t_local == 4
    slack = context.view.to_raw_difference(context.confidence.slack)
    assert slack == pytest.approx(1000 * float(Y.std()) / 16)


def test_regret_bound_equals_a_search_by_brute_force() -> None:
    box = started(RegretBound(), 4)
    model = interpolating(dense(10))  # t_local = 7
    context = box.context(model)
    assert context.t_local == 7
    grid = torch.linspace(0, 1, 4001, dtype=torch.double).unsqueeze(-1)
    with torch.no_grad():
        posterior = model.posterior(grid)
        at_data = model.posterior(dense(10))
    root = context.confidence.beta**0.5
    upper = posterior.mean + root * posterior.variance.sqrt()
    lower = at_data.mean - root * at_data.variance.clamp_min(1e-12).sqrt()
    slack = float(wave(dense(10)).std()) / 49
    expected = float(upper.max() - lower.max()) + slack
    bound = context.view.to_raw_difference(context.confidence.regret_bound)
    assert bound == pytest.approx(expected, abs=1e-5)


def test_the_radius_is_the_theorems() -> None:
    context = corrected(beta=ConstantBeta(4.0)).context(gp(*data()))
    expected = theorem_radius(context.view.summary, context.epsilon, 4.0)
    assert torch.equal(context.confidence.require_radius().half_widths, expected.half_widths)


def test_a_model_without_a_radius_is_refused_when_one_is_asked_for() -> None:
    X, Y = data()
    model = SingleTaskGP(X, Y, covar_module=PeriodicKernel().double()).eval()
    context = corrected().context(model)
    assert context.confidence.slack > 0  # needs no theorem
    with pytest.raises(UnsupportedError, match="PeriodicKernel"):
        context.confidence.require_radius()


def test_the_search_is_made_once() -> None:
    context = corrected(trigger=Never(), **FAST).context(gp(*data()))
    search = mock.Mock(side_effect=confidence.maximize_acquisition)
    with mock.patch.object(confidence, "maximize_acquisition", search):
        assert context.confidence.ucb_maximizer is context.confidence.ucb_maximizer
        _ = context.confidence.regret_bound, context.confidence.regret_bound
    assert search.call_count == 1


def test_what_the_trigger_searched_for_is_what_is_suggested() -> None:
    """The same box, the same bound: the maximiser is not searched for again."""
    box = started(RegretBound(), 4)
    search = mock.Mock(side_effect=confidence.maximize_acquisition)
    with (
        mock.patch.object(confidence, "maximize_acquisition", search),
        mock.patch(
            "botorch_ubo.controller.suggestion.maximize_acquisition", side_effect=AssertionError
        ),
    ):
        box.suggest(interpolating(dense(9)))
    assert search.call_count == 1


def test_is_ucb() -> None:
    """Only the bound of this very step counts, and asking does not build it."""
    model = gp(*data())
    bounds = corrected().context(model).confidence
    assert not bounds.is_ucb(UpperConfidenceBound(model, 4.0))
    assert "beta" not in vars(bounds)
    assert bounds.is_ucb(bounds.ucb) and bounds.ucb is bounds.ucb
    assert not bounds.is_ucb(bounds.bounds(bounds.beta)[0])
