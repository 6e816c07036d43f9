"""Which improvement the default seeks, with noise and without."""

from __future__ import annotations

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo import ExpandingBounds
from botorch_ubo.acquisition import LogAugmentedExpectedImprovement
from botorch_ubo.acquisition.quick_improvement import QuickLogExpectedImprovement
from botorch_ubo.context import Context
from botorch_ubo.factories import noise_std, searching_log_ei
from botorch_ubo.models import default_model, fit_default_model
from botorch_ubo.quick_fit import fit_quick_gp

BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)


def data(noise: float = 0.0) -> tuple[Tensor, Tensor]:
    X = draw_sobol_samples(BOUNDS, 30, 1, seed=0).squeeze(-2)
    generator = torch.Generator().manual_seed(0)
    normal = torch.randn(30, 1, generator=generator, dtype=torch.double)
    return X, X.sum(dim=-1, keepdim=True).sin() + noise * normal


def context(model: SingleTaskGP) -> Context:
    return ExpandingBounds(BOUNDS.to(model.train_targets)).context(model.eval())


def test_exact_observations_have_no_noise() -> None:
    acqf = searching_log_ei(context(fit_quick_gp(default_model(*data(), BOUNDS))))
    assert isinstance(acqf, QuickLogExpectedImprovement)
    assert acqf.noise_std == 0.0


def test_noise_is_that_of_the_model() -> None:
    acqf = searching_log_ei(context(fit_default_model(*data(0.3), BOUNDS)))
    assert isinstance(acqf, QuickLogExpectedImprovement)
    assert acqf.noise_std == pytest.approx(0.3, rel=0.4)


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_known_variances(dtype: torch.dtype) -> None:
    """The least variance that gpytorch allows depends on the precision."""
    X, Y = (values.to(dtype) for values in data())
    exact = default_model(X, Y, BOUNDS, torch.zeros_like(Y)).to(dtype)
    assert noise_std(context(exact)) == 0.0
    noisy = default_model(X, Y, BOUNDS, torch.full_like(Y, 0.04)).to(dtype)
    assert noise_std(context(noisy)) == pytest.approx(0.2, rel=1e-3)


@pytest.mark.parametrize(
    ("noise", "expected"), [(1e-4, LogExpectedImprovement), (0.1, LogAugmentedExpectedImprovement)]
)
def test_a_stock_model_at_its_least_noise_and_above(noise: float, expected: type) -> None:
    model = SingleTaskGP(*data())
    model.likelihood.noise = noise
    assert type(searching_log_ei(context(model))) is expected
