"""The GP of the paper's experiments."""

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from gpytorch.means import ZeroMean

from botorch_ubo.models import published_model
from tests.support.outcomes import VALUES, spread


def test_is_a_plain_model_with_one_length_scale_and_no_priors() -> None:
    X = torch.cat([spread(5), spread(5).square()], dim=-1)
    model = published_model(X, VALUES)
    assert type(model) is SingleTaskGP
    assert not hasattr(model, "input_transform")
    assert isinstance(model.outcome_transform, Standardize)
    assert isinstance(model.mean_module, ZeroMean)
    assert isinstance(model.covar_module, ScaleKernel)
    assert isinstance(model.covar_module.base_kernel, RBFKernel)
    assert model.covar_module.base_kernel.lengthscale.numel() == 1
    assert not [*model.named_priors()]


def test_parameters_are_kept_between_limits() -> None:
    kernel = published_model(spread(5), VALUES).covar_module
    for constraint in (
        kernel.raw_outputscale_constraint,
        kernel.base_kernel.raw_lengthscale_constraint,
    ):
        limits = [float(constraint.lower_bound), float(constraint.upper_bound)]
        assert limits == pytest.approx([1e-5, 1e5])


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e6])
def test_there_is_hardly_any_noise_whatever_the_unit(
    unit: float, recwarn: pytest.WarningsRecorder
) -> None:
    model = published_model(spread(5), unit * VALUES).eval()
    assert isinstance(model.likelihood, FixedNoiseGaussianLikelihood)
    assert model.likelihood.noise.tolist() == pytest.approx([1.01e-6] * 5, rel=1e-6)
    model.posterior(spread(5))
    assert not [w for w in recwarn if "noise" in str(w.message)]
