"""Theorem 4.1 and Proposition 4.1 on random Gaussian processes, and what the box must obey."""

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform as Scalarized
from botorch.exceptions import BotorchError
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel

from botorch_ubo.acquisition import UnboundedUpperConfidenceBound
from botorch_ubo.acquisition.confidence import value_at_infinity
from botorch_ubo.boxes import contains
from botorch_ubo.models.space import from_model_space
from botorch_ubo.posterior import summarize_posterior
from botorch_ubo.posterior.radius import theorem_radius
from botorch_ubo.strategies.theorem import theorem_box
from tests.support.gps import ELLIPSOIDAL, KERNELS, Dense, log_uniform, random_model, tensor


def few_of(count, quick=3):
    """The first few are quick enough, and the others slow together."""
    return [i if i < quick else pytest.param(i, marks=pytest.mark.slow) for i in range(count)]


QUICK = ("rbf", "matern52", "product", "active_dims")
FAMILIES = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in KERNELS
]


def shells(X, widths, box_shaped, num=24):
    """Points at and beyond the edges of the data's regions, in random and in axis directions."""
    d = X.shape[-1]
    directions = torch.cat([torch.eye(d), -torch.eye(d), torch.randn(num, d)]).double()
    edge = directions.abs().amax(dim=-1) if box_shaped else directions.norm(dim=-1)
    directions = directions / edge.unsqueeze(-1) * widths
    factors = tensor([1 + 1e-9, 1.03, 1.3, 2.0, 30.0])
    centers = X[torch.randperm(len(X))[:6]]
    points = centers[:, None, None] + directions[:, None] * factors[:, None]
    return points.reshape(-1, d)


def outside(points, X, widths, box_shaped):
    """Which points are beyond the region of every datum."""
    steps = (points.unsqueeze(-2) - X) / widths
    distance = steps.abs().amax(dim=-1) if box_shaped else steps.norm(dim=-1)
    return (distance >= 1).all(dim=-1)


def draw_settings(summary):
    beta = log_uniform(0.1, 30.0).item()
    epsilon = log_uniform(1e-3, 0.5).item() * summary.Y_std
    return min(epsilon, beta**0.5 * summary.sigma_at_infinity.min().item()), beta


def check_theorem(summary, ucb, limit, epsilon, beta, box_shaped):
    """Both claims, for a function of points in the model's input space."""
    radius = theorem_radius(summary, epsilon, beta)
    X, widths = summary.X, radius.half_widths
    edge = shells(X, widths, box_shaped)
    beyond = outside(edge, X, widths, box_shaped)
    assert beyond.any()
    # (a) beyond the region the bound is within epsilon / 2 of its limit
    slack = epsilon / 2 * (1 + 1e-6) + 1e-12 * abs(limit)
    assert (ucb(edge[beyond]) - limit).abs().max() <= slack
    # (c) the box holds a point within epsilon of the supremum
    near = X[:, None] + widths * torch.randn(len(X), 4, X.shape[-1]).double() / 3
    # the outermost data touch the faces of the box beyond the reach of all others
    faces = torch.cat([X[X.argmax(dim=0)] + widths.diag(), X[X.argmin(dim=0)] - widths.diag()])
    points = torch.cat([X, near.flatten(0, 1), faces, edge, 100 * edge[::9]])
    values, inside = ucb(points), contains(theorem_box(summary.X, radius), points)
    assert values[inside].max() >= max(values.max().item(), limit) - epsilon
    return radius


@pytest.mark.parametrize("chunk", few_of(4, quick=1))
@pytest.mark.parametrize("family", FAMILIES)
def test_theorem(family, chunk):
    """Ten random GPs each, 520 in all."""
    torch.manual_seed(100 * chunk + list(KERNELS).index(family))
    box_shaped = family not in ELLIPSOIDAL
    for _ in range(10):
        model = random_model(family)
        summary, dense = summarize_posterior(model), Dense(model)
        epsilon, beta = draw_settings(summary)
        limit = dense.limit(beta)
        assert value_at_infinity(summary, beta).item() == pytest.approx(limit, rel=1e-9)

        def ucb(points, dense=dense, beta=beta):
            return dense.ucb(points, beta)

        radius = check_theorem(summary, ucb, limit, epsilon, beta, box_shaped)
        # (b) Proposition 4.1: the further, the closer
        far = summary.X[:1] + 1e7 * radius.half_widths
        assert ucb(far).item() == pytest.approx(limit, rel=1e-6, abs=1e-3 * epsilon)
        # and the algebra is the model's: the same values through its transforms
        near = summary.X[:5] + 0.1 * radius.half_widths
        raw = from_model_space(model, near)
        if raw.abs().max() < 1e6:
            acquisition = UnboundedUpperConfidenceBound(model, beta)
            with torch.no_grad():
                values = acquisition(raw.unsqueeze(-2))
            unit = summary.sigma_at_infinity.item()
            assert torch.allclose(values, ucb(near), rtol=1e-4, atol=1e-3 * unit)


@pytest.mark.parametrize("seed", few_of(20))
def test_theorem_with_scalarized_outputs(seed):
    torch.manual_seed(seed)
    d, n, m = 1 + seed % 3, 3 + seed, 2 + seed % 2
    X, Y = torch.rand(n, d).double(), torch.randn(n, m).double() * tensor([1.0, 9.0, 0.1])[:m]
    model = SingleTaskGP(X, Y).eval()
    model.covar_module.lengthscale = log_uniform(0.05, 1.0, m, 1, d)
    transform = Scalarized(torch.randn(m).double(), offset=2.0)
    check_model_posterior(model, transform)


@pytest.mark.parametrize("seed", few_of(10))
def test_theorem_with_ensembles(seed):
    torch.manual_seed(seed)
    d, n = 1 + seed % 3, 3 + seed
    X, Y = torch.rand(n, d).double(), torch.randn(n, 1).double()
    model = EnsembleMapSaasSingleTaskGP(X, Y, num_taus=3).eval()
    model.covar_module.base_kernel.lengthscale = log_uniform(0.05, 1.0, 3, 1, d)
    model.covar_module.outputscale = log_uniform(0.1, 10.0, 3)
    check_model_posterior(model)


def check_model_posterior(model, transform=None):
    summary = summarize_posterior(model, transform)
    epsilon, beta = draw_settings(summary)
    acquisition = UnboundedUpperConfidenceBound(model, beta, transform)

    def ucb(points):
        with torch.no_grad():
            return acquisition(points.unsqueeze(-2))

    limit = acquisition.value_at_infinity.item()
    radius = check_theorem(summary, ucb, limit, epsilon, beta, box_shaped=True)
    far = summary.X[:1] + 1e4 * radius.half_widths
    assert ucb(far).item() == pytest.approx(limit, rel=1e-6, abs=1e-3 * epsilon)


def box(model, epsilon, beta=4.0):
    summary = summarize_posterior(model)
    return from_model_space(model, theorem_box(summary.X, theorem_radius(summary, epsilon, beta)))


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("factor", [1e-2, 7.0, 1e6])
def test_box_does_not_depend_on_units_of_outcomes(standardize, factor):
    torch.manual_seed(0)
    X, Y = torch.rand(10, 2).double(), torch.randn(10, 1).double()
    Yvar = torch.rand(10, 1).double() + 0.1

    def model(unit):
        kernel = ScaleKernel(RBFKernel(ard_num_dims=2)).double()
        kernel.base_kernel.lengthscale = tensor([[0.2, 0.5]])
        kernel.outputscale = 2.0 if standardize else 2.0 * unit**2
        outcome = Standardize(1) if standardize else None
        gp = SingleTaskGP(
            X, unit * Y, unit**2 * Yvar, covar_module=kernel, outcome_transform=outcome
        )
        gp.mean_module.constant = tensor(0.3 if standardize else 0.3 * unit)
        return gp.eval()

    assert torch.allclose(box(model(1.0), 0.05), box(model(factor), 0.05 * factor), rtol=1e-9)


@pytest.mark.parametrize("transform", ["none", "fixed", "learned"])
def test_box_follows_units_of_inputs(transform):
    torch.manual_seed(0)
    X, Y = torch.rand(10, 2).double(), torch.randn(10, 1).double()
    stretch, shift = tensor([1e-3, 40.0]), tensor([5.0, -100.0])

    def model(moved):
        a, b = (stretch, shift) if moved else (torch.ones(2).double(), torch.zeros(2).double())
        kernel = MaternKernel(ard_num_dims=2).double()
        lengthscale = tensor([[0.2, 0.5]])
        kernel.lengthscale = lengthscale * a if transform == "none" else lengthscale
        bounds = torch.stack([b, a + b])
        inputs = {
            "none": None,
            "fixed": Normalize(2, bounds=bounds),
            "learned": Normalize(2),
        }[transform]
        return SingleTaskGP(X * a + b, Y, covar_module=kernel, input_transform=inputs).eval()

    assert torch.allclose(box(model(True), 0.05), box(model(False), 0.05) * stretch + shift)


def test_box_follows_units_of_logarithmic_inputs():
    """A factor on an input is a shift of its logarithm, and a factor on the box."""
    torch.manual_seed(0)
    X, Y = 0.5 + 2 * torch.rand(10, 2).double(), torch.randn(10, 1).double()

    def model(factor):
        logs = Log10([0, 1])
        unit = Normalize(2, bounds=(tensor([[0.5, 0.5], [2.5, 2.5]]) * factor).log10())
        inputs = ChainedInputTransform(log=logs, unit=unit)
        return SingleTaskGP(X * factor, Y, input_transform=inputs).eval()

    factor = tensor([1e-3, 40.0])
    expected = box(model(torch.ones(2).double()), 0.05)
    assert (expected > 0).all()
    assert torch.allclose(box(model(factor), 0.05), expected * factor, rtol=1e-9)


def degenerate_data():
    torch.manual_seed(0)
    X, Y = torch.rand(8, 2).double(), torch.randn(8, 1).double()
    return {
        "one point": (X[:1], Y[:1]),
        "duplicates": (X[:1].expand(8, 2), Y),
        "constant outcomes": (X, torch.full_like(Y, 3.0)),
        "collinear": (torch.linspace(0, 1, 8).double()[:, None].expand(8, 2), Y),
        "huge outcomes": (X, 1e12 * Y),
        "tiny outcomes": (X, 1e-12 * Y),
        "huge inputs": (1e12 * X, Y),
        "many": (torch.rand(500, 2).double(), torch.randn(500, 1).double()),
    }


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("name", degenerate_data())
def test_degenerate_data(name, standardize):
    X, Y = degenerate_data()[name]
    outcome = Standardize(1) if standardize else None
    model = SingleTaskGP(X, Y, input_transform=Normalize(2), outcome_transform=outcome).eval()
    summary = summarize_posterior(model)
    epsilon = 0.05 * summary.Y_std
    theta = summary.sigma_at_infinity.item()
    if epsilon >= 8 * theta:  # 1e12 against an output scale of 1
        with pytest.raises(BotorchError, match="output scale has not collapsed"):
            theorem_radius(summary, epsilon, 4.0)
        return
    radius = theorem_radius(summary, epsilon, 4.0)
    result = from_model_space(model, theorem_box(summary.X, radius))
    assert result.isfinite().all() and (result[0] < result[1]).all()
    assert (result[0] < X.amin(dim=0)).all() and (result[1] > X.amax(dim=0)).all()
    # an RBF reaches this far for one part in 1e16 and less
    assert 1 - 1e-9 <= radius.in_lengthscales < 12
