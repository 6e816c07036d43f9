"""``K + Sigma`` against dense algebra, and how often it is built and factored."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP

from botorch_ubo.models import default_model
from botorch_ubo.models.gram import Gram, conditional_variance, in_double, training_gram
from botorch_ubo.models.quick import QuickGP, QuickLogExpectedImprovement, fit_quick_gp
from botorch_ubo.posterior import summarize_posterior
from tests.support.by_hand import unit_box
from tests.support.fits import data
from tests.support.gps import INPUT_TRANSFORMS, NOISE_KINDS, Dense, random_model, tensor
from tests.support.quick_models import make


@pytest.mark.parametrize("noise", NOISE_KINDS)
@pytest.mark.parametrize("inputs", INPUT_TRANSFORMS)
def test_is_the_dense_algebra(inputs: str, noise: str) -> None:
    torch.manual_seed(0)
    model = random_model("matern52", 2, 12, noise, inputs)
    found, dense = training_gram(model), Dense(model)
    torch.testing.assert_close(found.covariance, dense.gram)
    torch.testing.assert_close(found.cholesky @ found.cholesky.mT, dense.gram)
    assert torch.equal(found.cholesky, found.cholesky.tril())
    torch.testing.assert_close(found.z, dense.z, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(found.prior_mean, torch.full_like(found.z, dense.mean))
    torch.testing.assert_close(found.prior_variance, torch.full_like(found.z, dense.theta**2))


def test_members_of_an_ensemble() -> None:
    torch.manual_seed(0)
    X, Y = torch.rand(6, 2).double(), torch.randn(6, 1).double()
    model = EnsembleMapSaasSingleTaskGP(X, Y, num_taus=3).eval()
    model.covar_module.outputscale = tensor([0.5, 1.0, 2.0])
    found = training_gram(model)
    assert found.covariance.shape == (3, 6, 6) and found.z.shape == (3, 6)
    torch.testing.assert_close(found.prior_variance[:, 0], tensor([0.5, 1.0, 2.0]))
    residual = model.train_targets - model.mean_module(model.train_inputs[0])
    solved = (found.covariance @ found.z.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(solved, residual.detach())


def test_single_precision_is_solved_in_double() -> None:
    model = make(dtype=torch.float)
    found = training_gram(model)
    assert found.cholesky.dtype == torch.double
    torch.testing.assert_close(found.z, training_gram(make()).z, rtol=1e-3, atol=1e-3)
    assert model.train_targets.dtype == torch.float  # and is left as it was
    assert in_double(model) is not model


def test_of_a_quick_gp_is_its_own_and_that_of_any_other() -> None:
    quick = make()
    assert training_gram(quick) is quick.factored().gram
    other = Gram.of(quick)
    torch.testing.assert_close(training_gram(quick).cholesky, other.cholesky)
    assert training_gram(quick) is not other


def test_a_quick_gp_without_shortcut_is_asked_all_the_same() -> None:
    model = make()
    plain = SingleTaskGP(*data(12, 3)).eval()
    matern = QuickGP(*data(12, 3), covar_module=random_model("matern52", 3).covar_module).eval()
    for each in (plain, matern):
        torch.testing.assert_close(training_gram(each).z, Dense(each).z, rtol=1e-6, atol=1e-8)
    assert training_gram(model).z.shape == (12,)


def test_no_gradients_are_kept() -> None:
    found = training_gram(make())
    assert not any(value.requires_grad for value in vars(found).values())


@pytest.mark.parametrize("known", [1, 5, 11])
def test_conditional_variance_is_that_of_a_model_of_the_first_data(known: int) -> None:
    torch.manual_seed(1)
    model = random_model("rbf", 2, 12, "homoskedastic", "none", False)
    dense = Dense(model)
    first = dense.gram[:known, :known]
    k = dense.gram[known:, :known]
    expected = dense.theta**2 - ((k @ torch.linalg.inv(first)) * k).sum(dim=-1)
    found = conditional_variance(dense.gram, tensor(dense.theta**2), known)
    torch.testing.assert_close(found, expected.clamp_min(0), rtol=1e-6, atol=1e-9)


def test_a_step_with_a_quick_gp_factors_its_matrix_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit, theorem, posterior and acquisition function share one factor."""
    calls = []

    def counted(A: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        calls.append(A.shape)
        return original(A, *args, **kwargs)

    original = torch.linalg.cholesky_ex
    monkeypatch.setattr(torch.linalg, "cholesky_ex", counted)  # gpytorch's way goes there too
    X, Y = data(12, 2)
    model = fit_quick_gp(default_model(X, Y, unit_box(2)))
    assert calls == []  # the fit has its own arithmetic
    summary = summarize_posterior(model)
    points = (X + 0.05).unsqueeze(-2)
    mean = model.posterior(points).mean
    value = QuickLogExpectedImprovement(model, Y.max())(points)
    summarize_posterior(model)
    assert mean.isfinite().all() and value.isfinite().all() and summary.n == 12
    assert calls == [(12, 12)]
    # A new state of the model is another matrix.
    model.set_train_data(targets=model.train_targets + 1)
    model.posterior(points)
    assert len(calls) == 2
