"""Improvement beyond pending points: by hand, against BoTorch's joint improvement, its gradient."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling.normal import SobolQMCNormalSampler
from torch import Tensor

from botorch_ubo.compat.botorch_private import log_ei_helper
from botorch_ubo.models import fit_default_model
from botorch_ubo.models.quick import improvement
from botorch_ubo.models.quick.gp import QuickGP
from botorch_ubo.models.quick.improvement import (
    far_improvement_terms,
    improvement_terms,
    mean_improvement_terms,
)
from botorch_ubo.models.quick.log_ei import QuickLogExpectedImprovement
from tests.support.gps import tensor


@pytest.mark.parametrize("u", [-1e8, -1e6, -1e3, -999.0, -1.001, -1.0, 0.0, 5.0, 40.0])
def test_terms_of_the_improvement(u: float) -> None:
    """Against derivatives of BoTorch's ``log h``, of which ``Phi / h`` is one."""
    z = torch.tensor([u], dtype=torch.double, requires_grad=True)
    log_h = log_ei_helper(z)
    (slope,) = torch.autograd.grad(log_h.sum(), z)
    found = improvement_terms(np.array([u]))
    assert found[0] == pytest.approx(log_h.item(), rel=1e-12)
    assert found[1] == pytest.approx(slope.item(), rel=1e-6)
    assert found[2] + u * found[1] == pytest.approx(1.0, rel=1e-6, abs=1e-12 * u * u)


@pytest.mark.parametrize("u", [-25.0, -26.0, -40.0, -300.0, -1e3, -1e6, -1e100])
def test_terms_of_the_far_improvement(u: float) -> None:
    z = torch.tensor([u], dtype=torch.double, requires_grad=True)
    log_h = log_ei_helper(z)
    found = far_improvement_terms(np.array([u]))
    assert found[0] == pytest.approx(log_h.item(), rel=1e-10)
    if u > -1e3:
        (slope,) = torch.autograd.grad(log_h.sum(), z)
        assert found[1] == pytest.approx(slope.item(), rel=1e-7)
    assert (found[2] - 1) / -u == pytest.approx(found[1], rel=1e-12)  # h = phi + u Phi


@pytest.mark.parametrize("low", [-1e6, -40.0, -26.0, -24.0, -3.0, 2.0])
def test_mean_over_outcomes(low: float) -> None:
    """By the logarithms of all terms, which need no care for those that are far below others."""
    u = np.array([[low, low - 1.0], [low, 3.0], [low, low - 1e5]])
    log_h, Phi_h, phi_h = improvement_terms(u)
    largest = log_h.max(axis=-1, keepdims=True)
    share = np.exp(log_h - largest)
    share /= share.sum(axis=-1, keepdims=True)
    values, by_mean, by_sigma = mean_improvement_terms(u)
    expected = largest[:, 0] + np.log(np.exp(log_h - largest).mean(axis=-1))
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(by_mean, share * Phi_h, rtol=1e-6, atol=1e-30)
    np.testing.assert_allclose(by_sigma, (share * phi_h).sum(axis=-1), rtol=1e-6)


def problem(seed: int, d: int, m: int, noise: float = 0.0) -> tuple[QuickGP, float, Tensor, Tensor]:
    """A fitted model, the best observation, ``m`` pending points and six candidates near it."""
    generator = torch.Generator().manual_seed(100 * d + seed)
    X = 3 * torch.rand(6 * d + 4, d, generator=generator, dtype=torch.double)
    Y = (2 * X).sin().sum(dim=-1, keepdim=True)
    Y = Y + noise * torch.randn(Y.shape, generator=generator, dtype=torch.double)
    model = fit_default_model(X, Y, tensor([[0.0] * d, [3.0] * d]))
    best = X[Y.argmax()]
    near = best + 0.6 * torch.randn(m + 6, d, generator=generator, dtype=torch.double)
    return model, float(Y.max()), near[:m], near[m:].unsqueeze(-2)


def improvements(model: QuickGP, best_f: float, X: Tensor) -> tuple[float, float]:
    """``log E[max(f(X) - best_f, 0)]`` over 2^15 outcomes; also that of all points but the last."""
    sampler = SobolQMCNormalSampler(torch.Size([2**15]), seed=1)
    with torch.no_grad():
        gain = (sampler(SingleTaskGP.posterior(model, X)).squeeze(-1) - best_f).clamp_min(0)
    return float(gain.amax(dim=-1).mean().log()), float(gain[:, :-1].amax(dim=-1).mean().log())


CASES = [(0, 2, 1, 0.2), (1, 2, 4, 0.3), (2, 3, 8, 0.0), (3, 4, 16, 0.1), (4, 6, 3, 0.0)]


@pytest.mark.parametrize(("seed", "d", "m", "noise"), CASES)
def test_pending_points_and_the_increment_make_the_joint_improvement(
    seed: int, d: int, m: int, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(improvement, "NUM_OUTCOMES", 2**11)  # as many as make the mean exact
    model, best_f, pending, X = problem(seed, d, m, noise)
    acqf = QuickLogExpectedImprovement(model, best_f, X_pending=pending)
    for x, added in zip(X, acqf(X), strict=True):
        joint, alone = improvements(model, best_f, torch.cat([pending, x]))
        assert np.logaddexp(alone, float(added)) == pytest.approx(joint, abs=0.02)


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize(("seed", "d", "m", "noise"), CASES)
def test_gradient(seed: int, d: int, m: int, noise: float, maximize: bool) -> None:
    model, best_f, pending, X = problem(seed, d, m, noise)
    acqf = QuickLogExpectedImprovement(model, best_f, maximize, pending, seed=3)
    quick = acqf.closed_form()
    assert quick is not None
    points = quick.to_points(X.squeeze(-2))
    _, gradient = quick.formula(points)
    for j in range(d):
        step = 1e-5 * np.eye(d)[j]
        rise = quick.formula(points + step)[0] - quick.formula(points - step)[0]
        np.testing.assert_allclose(gradient[:, j], rise / 2e-5, rtol=1e-4, atol=1e-4)
    leaf = X.clone().requires_grad_()
    values = acqf(leaf)
    values.sum().backward()
    np.testing.assert_allclose(values.detach(), quick.formula(points)[0], rtol=1e-9)
    np.testing.assert_allclose(leaf.grad.squeeze(-2), gradient * quick.slope.numpy(), rtol=1e-9)


def test_far_from_all_others_a_pending_point_changes_nothing_but_the_best() -> None:
    """Its outcome is as good as prior: where it cannot be good, one more point loses nothing."""
    model, best_f, _, X = problem(0, 2, 1)
    far = tensor([[1e4, 1e4]])
    free = QuickLogExpectedImprovement(model, best_f + 50)
    among = QuickLogExpectedImprovement(model, best_f + 50, X_pending=far)
    torch.testing.assert_close(among(X), free(X), rtol=1e-6, atol=1e-6)


def test_a_rough_formula_of_fewer_outcomes_has_the_same_best_point() -> None:
    model, best_f, pending, X = problem(0, 2, 3)
    acqf = QuickLogExpectedImprovement(model, best_f, X_pending=pending)
    form = acqf.closed_form()
    assert form is not None and form.rough is not None
    points = form.to_points(X.reshape(-1, 2))
    exact, rough = (formula(points, gradient=False)[0] for formula in (form.formula, form.rough))
    assert form.rough.gap.shape < form.formula.gap.shape
    assert rough.argmax() == exact.argmax()
    assert (rough != exact).any()
    alone = QuickLogExpectedImprovement(model, best_f).closed_form()
    assert alone is not None and alone.rough is None


def test_a_pending_point_is_not_proposed_again_nor_is_one_of_two_equal_ones() -> None:
    model, best_f, pending, X = problem(1, 2, 2)
    acqf = QuickLogExpectedImprovement(model, best_f, X_pending=pending[[0, 1, 1]])
    assert (acqf(pending.unsqueeze(-2)) < acqf(X).max() - 3).all()


def test_by_hand() -> None:
    """One datum far away, one pending point ``p``, a prior of mean 0 and variance 1; best is -9.

    At ``x`` with correlation ``r`` to ``p`` the gain is ``max(f(x) - f(p), 0)``, with a standard
    deviation of ``s = sqrt(2 - 2 r)``: its mean is ``s phi(0)``.
    """
    X, Y = tensor([[1e3]]), tensor([[0.0]])
    model = QuickGP(X, Y, outcome_transform=None).eval()
    model.covar_module.lengthscale = 1.0
    acqf = QuickLogExpectedImprovement(model, -9.0, X_pending=tensor([[0.0]]))
    for x in (0.5, 2.0, 30.0):
        s = math.sqrt(2 - 2 * math.exp(-(x**2) / 2))
        expected = math.log(s / math.sqrt(2 * math.pi))
        assert float(acqf(tensor([[[x]]]))) == pytest.approx(expected, abs=5e-3)


def test_outcomes_depend_on_the_seed_alone() -> None:
    model, best_f, pending, X = problem(2, 3, 3)
    state = torch.get_rng_state(), np.random.get_state()[1].copy()
    values = [
        QuickLogExpectedImprovement(model, best_f, X_pending=pending, seed=seed)(X)
        for seed in (0, 0, 1)
    ]
    assert torch.equal(values[0], values[1]) and not torch.equal(values[0], values[2])
    torch.testing.assert_close(values[0], values[2], rtol=0, atol=0.5)
    assert torch.equal(state[0], torch.get_rng_state())
    assert (state[1] == np.random.get_state()[1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_batch_is_as_good_as_one_by_botorch(seed: int) -> None:
    model, best_f, _, _ = problem(seed, 2 + seed % 2, 1, 0.1 * (seed % 2))
    bounds = tensor([[-1.0] * (2 + seed % 2), [4.0] * (2 + seed % 2)])
    found = []
    for acqf in (
        QuickLogExpectedImprovement(model, best_f),
        qLogExpectedImprovement(model, best_f, SobolQMCNormalSampler(torch.Size([512]), seed=0)),
    ):
        torch.manual_seed(0)
        X, _ = optimize_acqf(acqf, bounds, q=4, num_restarts=8, raw_samples=256, sequential=True)
        found.append(improvements(model, best_f, X)[0])
    assert found[0] >= found[1] - 0.02
