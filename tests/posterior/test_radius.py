"""Theorem 4.1's constants, by hand and where the bound is attained."""

import math
from dataclasses import replace

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform as Scalarized
from botorch.exceptions import BotorchError
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from gpytorch.kernels import MaternKernel, PiecewisePolynomialKernel, RBFKernel, ScaleKernel

from botorch_ubo.posterior import summarize_posterior
from botorch_ubo.posterior.radius import check_epsilon, theorem_radius
from tests.support.gps import Dense, random_model, tensor


def gp(X, Y, theta, noise, kernel=None, mean=0.0):
    """A model with fixed noise whose kernel is ``theta^2 rho``; no transforms."""
    kernel = ScaleKernel(kernel or RBFKernel()).double()
    kernel.base_kernel.lengthscale = 1.0
    kernel.outputscale = theta**2
    Y = Y.unsqueeze(-1)
    variance = torch.full_like(Y, noise)
    model = SingleTaskGP(X, Y, variance, covar_module=kernel, outcome_transform=None)
    model.mean_module.constant = tensor(mean)
    return model.eval()


# One datum at zero: K + s^2 = 4 + 0.5, z = (y - c) / 4.5, lambda_max = 1 / 4.5, sqrt(beta) = 3.
THETA, NOISE, BETA = 2.0, 0.5, 9.0


def test_mean_term_by_hand():
    epsilon = 0.4
    model = gp(tensor([[0.0]]), tensor([10.0]), THETA, NOISE, mean=1.0)
    radius = theorem_radius(summarize_posterior(model), epsilon, BETA)
    gamma_1 = 0.1 / (9.0 / 4.5)  # 0.05
    assert radius.active_term == "mean"
    assert radius.gamma == pytest.approx(gamma_1 / 4.0, rel=1e-12)
    assert radius.half_widths.item() == pytest.approx(math.sqrt(2 * math.log(80.0)), rel=1e-12)


def test_variance_term_by_hand():
    epsilon = 0.4
    model = gp(tensor([[0.0]]), tensor([1.001]), THETA, NOISE, mean=1.0)
    radius = theorem_radius(summarize_posterior(model), epsilon, BETA)
    # (3 * 2 * 0.2 - 0.01) / (1 / 4.5) = 5.355; its root over 3
    gamma_2 = math.sqrt(5.355) / 3
    assert radius.active_term == "variance"
    assert radius.gamma == pytest.approx(gamma_2 / 4.0, rel=1e-12)


def test_sums_of_signs_not_of_magnitudes():
    """``S = max(S+, S-)``; two data too far apart to see each other."""
    X = tensor([[0.0], [100.0], [200.0]])
    model = gp(X, tensor([9.0, -45.0, 18.0]), THETA, NOISE)
    radius = theorem_radius(summarize_posterior(model), 0.4, BETA)
    assert radius.gamma == pytest.approx(0.1 / 10.0 / 4.0, rel=1e-12)  # S- = 10 > S+ = 6
    flipped = gp(X, tensor([-9.0, 45.0, -18.0]), THETA, NOISE)
    assert theorem_radius(summarize_posterior(flipped), 0.4, BETA).gamma == radius.gamma


@pytest.mark.parametrize("seed", range(10))
def test_variance_identity(seed):
    """``sqrt(beta) (theta - sqrt(theta^2 - n lambda gamma_2^2)) = epsilon / 4``."""
    torch.manual_seed(seed)
    model = random_model("rbf", standardize=False)
    summary = summarize_posterior(model)
    summary = replace(summary, z=torch.zeros_like(summary.z))  # leaves the variance term
    theta, lam = summary.theta.item(), summary.lambda_max.item()
    beta, epsilon = 0.5 + seed, 0.1 * theta
    radius = theorem_radius(summary, epsilon, beta)
    assert radius.active_term == "variance"
    gamma = radius.gamma * theta**2
    fall = theta - math.sqrt(theta**2 - summary.n * lam * gamma**2)
    assert math.sqrt(beta) * fall == pytest.approx(epsilon / 4, rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "r"), [(PiecewisePolynomialKernel, 0.72), (MaternKernel, 8.0), (RBFKernel, 4.0)]
)
@pytest.mark.parametrize(("d", "beta"), [(1, 4.0), (2, 0.3), (6, 9.0)])
@pytest.mark.parametrize("binding", ["mean", "variance", "both"])
def test_bound_is_attained(kind, r, d, beta, binding):
    """Data on a cross that do not see each other, all at distance ``r`` of the origin.

    Every inequality of the proof is an equality at the origin, so the quarter of each binding
    term is used up there. If both bind they add up to ``epsilon / 2``: nothing can be gained.
    """
    X = r * torch.cat([torch.eye(d), -torch.eye(d)]).double()
    n, theta, noise, root = 2 * d, 1.5, 0.3, math.sqrt(beta)
    origin, ones = torch.zeros(1, d).double(), torch.ones(2 * d).double()
    kernel = gp(X, ones, theta, noise, kind()).covar_module
    gamma = kernel(origin, X[:1]).to_dense().item()
    lam = 1 / (theta**2 + noise)
    lost = n * lam * gamma**2  # of the variance at the origin
    fall = root * lost / (theta + math.sqrt(theta**2 - lost))
    epsilon = 4 * fall * (2 if binding == "mean" else 1)
    z = -epsilon / (4 * gamma * n) * (0.5 if binding == "variance" else 1)
    model = gp(X, (1.0 + z / lam) * ones, theta, noise, kind(), mean=1.0)

    radius = theorem_radius(summarize_posterior(model), epsilon, beta)
    assert torch.allclose(radius.half_widths, tensor(r), rtol=1e-5)
    assert radius.active_term == binding or binding == "both"
    error = Dense(model).ucb(origin, beta).item() - Dense(model).limit(beta)
    assert error == pytest.approx(-epsilon / (2 if binding == "both" else 8 / 3), rel=1e-3)


@pytest.mark.parametrize("binding", ["mean", "variance", "both"])
def test_bound_is_attained_by_two_outputs(binding):
    """The same with one datum and two outputs: each has half of either quarter."""
    beta, noise, r, weights = 4.0, 0.25, 0.6, tensor([2.0, -2.0])
    kernel = ScaleKernel(PiecewisePolynomialKernel(q=1)).double()
    kernel.base_kernel.lengthscale = 1.0
    kernel.outputscale = 1.0
    X, x, lam = tensor([[0.0]]), tensor([[r]]), 1 / (1.0 + noise)
    gamma = kernel(X, x).to_dense().item()
    sigma = math.sqrt(8.0)
    fall = math.sqrt(beta) * (sigma - math.sqrt(sigma**2 - 8 * lam * gamma**2))
    epsilon = 4 * fall * (2 if binding == "mean" else 1)
    Y = -(epsilon / (8 * weights * gamma * lam)) * (0.5 if binding == "variance" else 1)
    Y = Y.unsqueeze(0)
    Yvar = torch.full_like(Y, noise)
    model = SingleTaskGP(X, Y, Yvar, covar_module=kernel, outcome_transform=None).eval()
    transform = Scalarized(weights)
    radius = theorem_radius(summarize_posterior(model, transform), epsilon, beta)
    assert radius.half_widths.item() == pytest.approx(r, rel=1e-6)
    with torch.no_grad():
        posterior = model.posterior(x, posterior_transform=transform)
    error = posterior.mean + math.sqrt(beta) * (posterior.variance.sqrt() - sigma)
    factor = 2 if binding == "both" else 8 / 3
    assert error.item() == pytest.approx(-epsilon / factor, rel=1e-6)


def test_ensemble_takes_the_widest_member():
    torch.manual_seed(0)
    X, Y = torch.rand(6, 2).double(), torch.randn(6, 1).double()
    model = EnsembleMapSaasSingleTaskGP(X, Y, taus=tensor([0.1, 1.0]), num_taus=2).eval()
    scales = tensor([[[0.1, 3.0]], [[0.5, 0.2]]])
    model.covar_module.base_kernel.lengthscale = scales
    model.covar_module.outputscale = tensor([1.0, 2.0])
    radius = theorem_radius(summarize_posterior(model), 0.1, 4.0)
    members = []
    for i in range(2):
        kernel = ScaleKernel(MaternKernel(ard_num_dims=2)).double()
        kernel.base_kernel.lengthscale = scales[i]
        kernel.outputscale = model.covar_module.outputscale[i].detach()
        member = SingleTaskGP(X, Y, covar_module=kernel)
        member.mean_module.constant = model.mean_module.constant[i].detach()
        member.likelihood.noise = model.likelihood.noise[i].detach()
        members.append(theorem_radius(summarize_posterior(member.eval()), 0.1, 4.0).half_widths)
    assert torch.allclose(radius.half_widths, torch.stack(members).amax(dim=0), rtol=1e-6)


def test_floor_of_one_lengthscale():
    """An accuracy so coarse that every point is within the bound still gives a region."""
    model = gp(tensor([[0.0]]), tensor([1e-9]), 1.0, 10.0)
    radius = theorem_radius(summarize_posterior(model), 3.9, 1.0)
    assert radius.active_term == "floor"
    assert radius.half_widths.item() == pytest.approx(1.0)
    assert radius.in_lengthscales == pytest.approx(1.0)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 24.0, 100.0, math.nan, math.inf])
def test_epsilon_out_of_range(epsilon):
    model = gp(tensor([[0.0]]), tensor([1.0]), THETA, NOISE)
    with pytest.raises(BotorchError, match=r"Expected 0 < epsilon < 4 sqrt.*got.*Lower"):
        theorem_radius(summarize_posterior(model), epsilon, BETA)
    check_epsilon(23.99, 3.0, 2.0)


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_dtypes(dtype):
    torch.manual_seed(0)
    model = random_model("matern52", 3, 20, "fixed", "normalize", True)
    summary = summarize_posterior(model)
    epsilon = 0.1 * summary.Y_std
    expected = theorem_radius(summary, epsilon, 4.0).half_widths
    got = theorem_radius(summarize_posterior(model.to(dtype)), epsilon, 4.0).half_widths
    assert got.dtype == torch.double
    assert torch.allclose(got, expected, rtol=1e-4 if dtype == torch.float else 1e-12)
    assert Dense(model).theta == pytest.approx(summarize_posterior(model).theta.item(), rel=1e-6)
