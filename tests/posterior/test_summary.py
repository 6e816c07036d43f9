"""The quantities of Theorem 4.1, against dense algebra and the model's own posterior."""

import copy

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform as Scalarized
from botorch.exceptions import UnsupportedError
from botorch.models import (
    SingleTaskGP,
)
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Standardize
from gpytorch.kernels import MaternKernel, RBFKernel
from gpytorch.means import ZeroMean
from gpytorch.settings import min_fixed_noise

from botorch_ubo.models.space import from_model_space
from botorch_ubo.posterior import summarize_posterior
from botorch_ubo.posterior.radius import theorem_radius
from tests.support.gps import INPUT_TRANSFORMS, KERNELS, NOISE_KINDS, Dense, random_model, tensor


def data(n=8, d=2, m=1, seed=0):
    torch.manual_seed(seed)
    return torch.rand(n, d, dtype=torch.double), 5 * torch.randn(n, m, dtype=torch.double) - 2


def check_dense(model):
    summary, dense = summarize_posterior(model), Dense(model)
    top = torch.linalg.eigvalsh(dense.inverse)[-1]
    assert summary.z.shape == (1, 1, summary.n)
    assert torch.allclose(summary.z[0, 0], dense.z, rtol=1e-6)
    assert torch.allclose(summary.lambda_max, top.expand(1, 1), rtol=1e-6)
    assert summary.theta.item() == pytest.approx(dense.theta, rel=1e-12)
    assert summary.prior_mean.item() == pytest.approx(dense.mean, rel=1e-12)
    assert summary.Y_mean.item() == pytest.approx(dense.shift, rel=1e-12)
    assert summary.Y_scale.item() == pytest.approx(dense.scale, rel=1e-12)


def check_posterior(model, transform=None):
    """The mean rebuilt from ``z``, and the limits, against what the model itself predicts."""
    summary = summarize_posterior(model, transform)
    members, outputs = summary.theta.shape
    near = summary.X[:3] + 0.05
    far = summary.X[:1] + 1e3 * torch.ones_like(summary.X[:1])
    kernel = summary.kernel
    with torch.no_grad():
        k = kernel(near.expand(*kernel.batch_shape, -1, -1), summary.X).to_dense()
        k = k.expand(members * outputs, -1, -1).reshape(members, outputs, *k.shape[-2:])
        mean = summary.prior_mean.unsqueeze(-1) + (k @ summary.z.unsqueeze(-1)).squeeze(-1)
        raw = summary.Y_scale.unsqueeze(-1) * mean + summary.Y_mean.unsqueeze(-1)
        raw = (raw * summary.weights[:, None]).sum(dim=1) + summary.offset  # S x q
        posterior = model.posterior(from_model_space(model, near), posterior_transform=transform)
        assert torch.allclose(posterior.mean.reshape(raw.shape), raw, rtol=1e-5, atol=1e-6)
        posterior = model.posterior(from_model_space(model, far), posterior_transform=transform)
    assert torch.allclose(posterior.mean.flatten(), summary.mean_at_infinity, rtol=1e-6)
    assert torch.allclose(posterior.variance.flatten().sqrt(), summary.sigma_at_infinity, rtol=1e-6)


@pytest.mark.parametrize("family", KERNELS)
def test_kernels(family):
    torch.manual_seed(0)
    for _ in range(3):
        check_dense(random_model(family))
    model = random_model(family, inputs="normalize")
    if family != "rq":  # too slow a decay to see its limit
        check_posterior(model)


@pytest.mark.parametrize("noise", NOISE_KINDS)
@pytest.mark.parametrize("inputs", INPUT_TRANSFORMS)
@pytest.mark.parametrize("standardize", [True, False])
def test_noise_and_transforms(noise, inputs, standardize):
    torch.manual_seed(0)
    model = random_model("matern52", 2, 12, noise, inputs, standardize)
    check_dense(model)
    if inputs != "log":  # 1e3 decades away there is no floating point number
        check_posterior(model)


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_defaults(dtype):
    X, Y = data(20, 3)
    model = SingleTaskGP(X.to(dtype), Y.to(dtype)).eval()
    summary = summarize_posterior(model)
    assert summary.theta.item() == 1.0  # the default kernel has no output scale
    for value in (summary.X, summary.z, summary.lambda_max, summary.theta, summary.prior_mean):
        assert value.dtype == torch.double
    assert (summary.n, summary.d) == (20, 3)
    assert summary.Y_std == pytest.approx(float(Y.std()), rel=1e-6)
    if dtype == torch.double:
        check_dense(model)
        check_posterior(model)


def test_float_model_is_summarized_in_double():
    """Single precision would give a ``lambda_max`` far too small (17 times, once)."""
    torch.manual_seed(0)
    X, Y = data(60, 2)
    Yvar = torch.full_like(Y, 1e-4)
    with min_fixed_noise(float_value=1e-6):
        double = SingleTaskGP(X.float().double(), Y, Yvar, covar_module=RBFKernel().double())
        single = SingleTaskGP(X.float(), Y.float(), Yvar.float(), covar_module=RBFKernel())
    single.posterior(X.float()).mean.sum().backward()  # caches that require gradients
    expected, got = (summarize_posterior(model.eval()) for model in (double, single))
    assert torch.allclose(got.lambda_max, expected.lambda_max, rtol=1e-3)
    assert torch.allclose(got.z, expected.z, rtol=1e-2, atol=1e-3 * float(expected.z.abs().max()))
    assert single.train_targets.dtype == torch.float  # and is not changed


def test_model_is_not_changed():
    X, Y = data()
    model = SingleTaskGP(X, Y).eval()
    before = copy.deepcopy(model.state_dict())
    summarize_posterior(model)
    assert not model.training and model.prediction_strategy is None
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())


@pytest.mark.parametrize("fixed_noise", [True, False])
def test_ensemble(fixed_noise):
    X, Y = data(10, 3)
    Yvar = torch.full_like(Y, 0.1) if fixed_noise else None
    model = EnsembleMapSaasSingleTaskGP(X, Y, Yvar, taus=tensor([0.01, 0.1, 1.0]), num_taus=3)
    model.covar_module.base_kernel.lengthscale = torch.rand(3, 1, 3, dtype=torch.double) + 0.1
    model.covar_module.outputscale = tensor([0.5, 1.0, 3.0])
    model.eval()
    summary = summarize_posterior(model)
    assert summary.z.shape == (3, 1, 10)
    assert torch.allclose(summary.theta[:, 0].square(), tensor([0.5, 1.0, 3.0]))
    check_posterior(model)
    # each member is a model of its own
    for i in range(3):
        kernel = MaternKernel(ard_num_dims=3).double()
        kernel.lengthscale = model.covar_module.base_kernel.lengthscale[i]
        member = SingleTaskGP(X, Y, Yvar, covar_module=kernel, mean_module=ZeroMean()).eval()
        gram = summary.theta[i, 0] ** 2 * kernel(X).to_dense()
        noise = member.likelihood.noise if fixed_noise else model.likelihood.noise[i]
        top = torch.linalg.eigvalsh(gram + noise.expand(10).diag())[0].reciprocal()
        assert summary.lambda_max[i, 0].item() == pytest.approx(top.item(), rel=1e-9)


@pytest.mark.parametrize("fixed_noise", [True, False])
def test_fully_bayesian(fixed_noise):
    pytest.importorskip("jax")
    pytest.importorskip("numpyro")
    from botorch.models.fully_bayesian import SaasFullyBayesianSingleTaskGP

    X, Y = data(7, 2)
    Yvar = torch.full_like(Y, 0.1) if fixed_noise else None
    model = SaasFullyBayesianSingleTaskGP(X, Y, Yvar, outcome_transform=Standardize(1)).eval()
    with pytest.raises(UnsupportedError, match="has no kernel yet"):
        summarize_posterior(model)
    samples = {
        "mean": tensor([0.1, -0.2, 0.3]),
        "noise": tensor([0.01, 0.1, 0.2]),
        "outputscale": tensor([0.5, 1.0, 2.0]),
        "lengthscale": torch.rand(3, 2, dtype=torch.double) + 0.1,
    }
    model.load_mcmc_samples(samples)
    summary = summarize_posterior(model)
    assert torch.allclose(summary.theta[:, 0].square(), samples["outputscale"])
    assert torch.allclose(summary.prior_mean[:, 0], samples["mean"])
    assert summary.Y_std == pytest.approx(Y.std().item())
    check_posterior(model)
    assert theorem_radius(summary, 0.1, 4.0).half_widths.shape == (2,)


@pytest.mark.parametrize("standardize", [True, False])
def test_scalarized_outputs(standardize):
    X, Y = data(9, 2, 3)
    Y = Y * tensor([1.0, 10.0, 0.1])
    model = SingleTaskGP(X, Y, outcome_transform=Standardize(3) if standardize else None).eval()
    transform = Scalarized(tensor([0.5, -1.0, 2.0]), offset=7.0)
    summary = summarize_posterior(model, transform)
    assert summary.z.shape == (1, 3, 9)
    check_posterior(model, transform)
    objective = Y @ tensor([0.5, -1.0, 2.0]) + 7
    assert summary.Y_std == pytest.approx(objective.std().item())


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_Y_std(scale):
    X, Y = data()
    model = SingleTaskGP(X, scale * Y, outcome_transform=None).eval()
    assert summarize_posterior(model).Y_std == pytest.approx(scale * Y.std().item())
    constant = SingleTaskGP(X, torch.full_like(Y, scale), outcome_transform=None).eval()
    assert summarize_posterior(constant).Y_std == 1.0


@pytest.mark.parametrize("outputs", [1, 2])
def test_minimising_is_maximising_the_negative(outputs):
    X, Y = data(9, 2, outputs)
    model = SingleTaskGP(X, Y).eval()
    weights = tensor([0.5, -1.0])[:outputs]
    down = summarize_posterior(model, Scalarized(weights, offset=7.0), maximize=False)
    up = summarize_posterior(model, Scalarized(-weights, offset=-7.0))
    for name in ("mean_at_infinity", "sigma_at_infinity", "Y", "weights", "z", "lambda_max"):
        torch.testing.assert_close(getattr(down, name), getattr(up, name))
    torch.testing.assert_close(down.Y, -(Y @ weights + 7))
    assert down.offset == up.offset == -7
