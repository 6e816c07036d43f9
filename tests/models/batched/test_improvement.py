"""Posterior, expected improvement and confidence bounds are those of the fast path, run by run."""

import pytest
import torch
from gpytorch.settings import min_variance

from botorch_ubo import UnboundedUpperConfidenceBound
from botorch_ubo.models import fit_default_model
from botorch_ubo.models.batched import (
    BatchedConfidenceBound,
    BatchedFit,
    BatchedGP,
    BatchedLogEI,
    standardize_outcomes,
)
from botorch_ubo.models.batched.improvement import improvement_terms
from botorch_ubo.models.batched.pending import BatchedPendingLogEI, pending_outcomes
from botorch_ubo.models.own_units import in_own_units
from botorch_ubo.models.quick import QuickLogExpectedImprovement
from botorch_ubo.models.quick import improvement as quick_improvement
from botorch_ubo.models.quick.improvement import improvement_terms as quick_terms
from tests.support.batches import data, unit_box


@pytest.fixture(scope="module")
def models():
    """Models of the fast path without the units of their outcomes, and the same as a batch."""
    X, Y, present = data()
    given = [
        fit_default_model(X[i, row], Y[i, row].unsqueeze(-1), unit_box(2))
        for i, row in enumerate(present)
    ]
    kernels = [model.covar_module for model in given]
    p = torch.stack(
        [torch.cat([it.base_kernel.lengthscale[0], it.outputscale[None]]) for it in kernels]
    )
    noise = torch.cat([model.likelihood.noise for model in given]).detach()
    fit = BatchedFit(p.detach().log(), noise, noise, noise < 2e-6)
    y = standardize_outcomes(X / 2, Y, present).y
    gp = BatchedGP.of(0.5 + X / 6, y, present, fit)
    for model, mean in zip(given, gp.prior_mean, strict=True):
        # The fast path's is that of a noise of 1e-6 where it then takes 1.01e-6.
        assert model.mean_module.constant.item() == pytest.approx(float(mean), abs=1e-4)
        model.mean_module.constant.data.fill_(mean)
    return [in_own_units(model)[0] for model in given], gp


def _points() -> torch.Tensor:
    generator = torch.Generator().manual_seed(7)
    near = 5 * torch.rand(20, 2, generator=generator, dtype=torch.double) - 2.5
    return torch.cat([near, 30 * near[:3]])


def test_means_at_the_data_are_the_models(models):
    singles, gp = models
    for i, model in enumerate(singles):
        X = model.train_inputs[0].detach()
        raw = model.input_transform.untransform(X)
        mean = model.posterior(raw.unsqueeze(-2)).mean.detach().flatten()
        torch.testing.assert_close(gp.mean_at_data[i, : len(X)], mean, atol=1e-8, rtol=0)


def test_log_improvement_is_the_fast_paths(models):
    singles, gp = models
    raw = _points()
    points = gp.to_points((0.5 + raw / 6).expand(3, -1, -1))
    best_f = torch.tensor([0.3, 1.0, 4.0], dtype=torch.double)
    values, slopes = BatchedLogEI(gp, best_f)(points)
    for i, model in enumerate(singles):
        X = raw.clone().requires_grad_()
        expected = QuickLogExpectedImprovement(model, best_f[i])(X.unsqueeze(-2))
        torch.testing.assert_close(values[i], expected.detach(), atol=1e-8, rtol=1e-8)
        (slope,) = torch.autograd.grad(expected.sum(), X)
        in_raw = slopes[i] / gp.lengthscales[i] / 6
        torch.testing.assert_close(in_raw, slope, atol=1e-8, rtol=1e-7)


def test_the_confidence_bound_is_the_models(models):
    singles, gp = models
    raw = _points()
    points = gp.to_points((0.5 + raw / 6).expand(3, -1, -1))
    root = torch.tensor([0.5, 1.0, 2.0], dtype=torch.double)
    values, slopes = BatchedConfidenceBound(gp, root)(points)
    for i, model in enumerate(singles):
        X = raw.clone().requires_grad_()
        expected = UnboundedUpperConfidenceBound(model, root[i] ** 2)(X.unsqueeze(-2))
        torch.testing.assert_close(values[i], expected.detach(), atol=1e-7, rtol=1e-7)
        (slope,) = torch.autograd.grad(expected.sum(), X)
        torch.testing.assert_close(slopes[i] / gp.lengthscales[i] / 6, slope, atol=1e-6, rtol=1e-5)


def test_at_a_datum_without_noise_the_variance_has_its_floor(models):
    _, gp = models
    _, slopes = BatchedLogEI(gp, torch.zeros(3, dtype=torch.double))(gp.X)
    assert slopes.isfinite().all()
    assert min_variance.value(torch.double) > 0


def test_single_precision_has_the_tail_too():
    u = torch.tensor([-1e3, -100.0, -31.0, -29.0, -5.0, 0.0, 3.0, 8.9, 9.1, 50.0]).double()
    for single, double in zip(improvement_terms(u.float()), improvement_terms(u), strict=True):
        torch.testing.assert_close(single.double(), double, rtol=2e-3, atol=1e-5)


def test_the_terms_are_those_of_the_fast_path():
    u = torch.cat([torch.linspace(-40, 40, 801), torch.tensor([-999.0, 1e6])]).double()
    log_h, Phi_h = improvement_terms(u)
    expected_log, expected, _ = quick_terms(u.numpy())
    torch.testing.assert_close(log_h, torch.from_numpy(expected_log), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(Phi_h, torch.from_numpy(expected), rtol=1e-9, atol=1e-12)
    far_log, far = improvement_terms(torch.tensor([-1e5], dtype=torch.double))
    expected_log, expected, _ = quick_terms(torch.tensor([-1e5]).double().numpy())
    assert float(far_log) == pytest.approx(expected_log.item(), rel=1e-8)
    assert float(far) == pytest.approx(expected.item(), rel=1e-2)


def test_beyond_pending_points_it_is_the_fast_paths_too(models, monkeypatch):
    singles, gp = models
    raw = _points()
    pending = torch.tensor([[0.3, 1.2], [1.9, 1.4], [-0.5, 0.1]], dtype=torch.double)
    points, waiting = (gp.to_points((0.5 + X / 6).expand(3, -1, -1)) for X in (raw, pending))
    e = pending_outcomes(torch.arange(3), 3, raw)
    best_f = torch.tensor([0.3, 1.0, 2.0], dtype=torch.double)
    values, slopes = BatchedPendingLogEI.of(gp, best_f, waiting, e)(points)
    for i, model in enumerate(singles):
        outcomes = e[i].numpy()
        monkeypatch.setattr(quick_improvement, "_normal_outcomes", lambda *_, o=outcomes: o)
        X = raw.clone().requires_grad_()
        acqf = QuickLogExpectedImprovement(model, best_f[i], X_pending=pending)
        expected = acqf(X.unsqueeze(-2))
        torch.testing.assert_close(values[i], expected.detach(), atol=1e-7, rtol=1e-8)
        (slope,) = torch.autograd.grad(expected.sum(), X)
        in_raw = slopes[i] / gp.lengthscales[i] / 6
        torch.testing.assert_close(in_raw, slope, atol=1e-6, rtol=1e-5)
