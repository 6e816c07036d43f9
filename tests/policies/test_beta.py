import math
from itertools import pairwise

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform as Scalarized
from botorch.exceptions import BotorchError
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from gpytorch.kernels import RBFKernel

from botorch_ubo.policies.beta import ConstantBeta, PublishedBeta, TheoremBeta
from botorch_ubo.policies.view import ModelView
from tests.support.by_hand import unit_box
from tests.support.gps import tensor


def view(d, lengthscale=1.0, unit=1.0, dtype=torch.double):
    """An RBF model of standardised outcomes: derivatives have deviation ``1 / lengthscale``."""
    torch.manual_seed(0)
    X, Y = torch.rand(6, d, dtype=torch.double), torch.randn(6, 1, dtype=torch.double)
    kernel = RBFKernel().to(dtype)
    kernel.lengthscale = lengthscale
    model = SingleTaskGP(X.to(dtype), (unit * Y).to(dtype), covar_module=kernel)
    return ModelView(model.eval(), unit_box(d))


def sides(d, side=5.0):
    return torch.full((d,), side, dtype=torch.double)


@pytest.mark.parametrize(
    ("d", "t", "corrected", "published"),
    [
        (2, 1, 2.09, 1.96),
        (2, 5, 2.87, 2.77),
        (3, 1, 2.51, 2.33),
        (3, 5, 3.38, 3.26),
        (6, 1, 3.57, 3.32),
        (6, 5, 4.66, 4.48),
        (10, 1, 4.72, 4.42),
        (10, 5, 6.04, 5.80),
    ],
)
def test_known_values(d, t, corrected, published):
    """``sqrt(beta)`` for a box of five length-scales, delta = 0.1, times 1/5."""
    posterior = view(d)
    assert TheoremBeta()(t, sides(d), posterior) ** 0.5 == pytest.approx(corrected, abs=0.005)
    posterior.range = posterior.spread  # as the published values had it
    assert PublishedBeta()(t, sides(d), posterior) ** 0.5 == pytest.approx(published, abs=0.005)


def test_formula_by_hand():
    posterior = view(2, lengthscale=0.5)
    root = math.sqrt(math.log(80.0))  # 4 d a / delta with d = 2, a = 1, delta = 0.1
    b = math.sqrt(2) / 0.5
    expected = 2 * math.log(2 * math.pi**2 * 9 / 0.3)
    expected += 2 * math.log(2 * 9 * b * 1.0 * root) + 2 * math.log(2 * 9 * b * 3.0 * root)
    beta = TheoremBeta(delta=0.1, scale=1.0)(3, tensor([1.0, 3.0]), posterior)
    assert beta == pytest.approx(expected, rel=1e-12)
    assert TheoremBeta(scale=0.2)(3, tensor([1.0, 3.0]), posterior) == pytest.approx(beta / 5)


def test_published_formula_by_hand():
    posterior = view(2, lengthscale=0.5)
    slope = posterior.spread / posterior.range / 0.5 / math.sqrt(2)
    expected = 2 * math.log(2 * math.pi**2 * 9 / 0.3)
    expected += 4 * math.log(9 * 2 * slope * 3.0 * math.sqrt(math.log(80.0)))
    beta = PublishedBeta()(3, tensor([1.0, 3.0]), posterior)  # the largest side for both
    assert beta == pytest.approx(0.2 * expected, rel=1e-12)
    # `abs` where the theory's value would be negative
    flat = view(2, lengthscale=1e6)
    assert PublishedBeta()(1, tensor([1.0, 1.0]), flat) > 0


@pytest.mark.parametrize("d", [1, 4])
def test_floor(d):
    """A box that is small against the length-scale leaves the first term."""
    flat = view(d, lengthscale=1e9)
    for t in (1, 2, 7):
        floor = 0.2 * 2 * math.log(2 * math.pi**2 * t**2 / 0.3)
        assert TheoremBeta()(t, sides(d), flat) == pytest.approx(floor, rel=1e-12)
    assert TheoremBeta()(1, sides(d), flat) ** 0.5 == pytest.approx(1.29, abs=0.005)
    assert TheoremBeta()(1, sides(d), view(d)) ** 0.5 > 1.29


def test_monotone():
    posterior = view(3)
    schedule = TheoremBeta()
    values = [schedule(t, sides(3), posterior) for t in range(1, 20)]
    assert all(a < b for a, b in pairwise(values))
    for j in range(3):
        grown = [schedule(2, sides(3) + step * torch.eye(3)[j], posterior) for step in range(5)]
        assert all(a < b for a, b in pairwise(grown))
    assert TheoremBeta(delta=0.01)(1, sides(3), posterior) > values[0]


@pytest.mark.parametrize("schedule", [TheoremBeta(), PublishedBeta()])
def test_units_do_not_matter(schedule):
    beta = schedule(3, sides(2), view(2))
    assert schedule(3, sides(2), view(2, unit=1e4)) == pytest.approx(beta, rel=1e-9)
    assert schedule(3, 10 * sides(2), view(2, lengthscale=10.0)) == pytest.approx(beta, rel=1e-9)


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_dtypes(dtype):
    beta = TheoremBeta()(2, sides(2).to(dtype), view(2, 0.3, dtype=dtype))
    assert isinstance(beta, float)
    assert beta == pytest.approx(TheoremBeta()(2, sides(2), view(2, 0.3)), rel=1e-5)


def test_slopes_of_an_ensemble():
    X, Y = torch.rand(5, 2, dtype=torch.double), torch.randn(5, 1, dtype=torch.double)
    model = EnsembleMapSaasSingleTaskGP(X, Y, num_taus=2).eval()
    model.covar_module.base_kernel.lengthscale = tensor([[[1.0, 2.0]], [[4.0, 0.5]]])
    model.covar_module.outputscale = tensor([3.0, 3.0])
    found = ModelView(model, unit_box(2))
    slopes = found.slopes / found.spread  # Matern 5/2: s^2 = (5/3) 3 / l^2
    assert torch.allclose(slopes, math.sqrt(5) * tensor([1.0, 2.0]))


def test_slopes_of_a_weighted_sum():
    torch.manual_seed(0)
    X, Y = torch.rand(5, 1, dtype=torch.double), torch.randn(5, 2, dtype=torch.double)
    model = SingleTaskGP(X, Y, outcome_transform=None).eval()
    model.covar_module.lengthscale = tensor([[[1.0]], [[0.5]]])
    transform = Scalarized(tensor([3.0, 2.0]))
    found = ModelView(model, unit_box(1), posterior_transform=transform)
    expected = math.sqrt((3 / 1.0) ** 2 + (2 / 0.5) ** 2)  # 5
    assert found.slopes.item() == pytest.approx(expected)


def test_confidence():
    assert TheoremBeta(delta=0.05, scale=1.0).confidence is None  # not of a supremum
    assert TheoremBeta().confidence is None
    assert PublishedBeta().confidence is None and ConstantBeta(2.0).confidence is None


def test_constant():
    assert ConstantBeta(2.5)(7, sides(2), view(2)) == 2.5


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_invalid(value):
    with pytest.raises(BotorchError, match="Expected a positive finite beta; got"):
        ConstantBeta(value)
    with pytest.raises(BotorchError, match="positive finite scale; got"):
        TheoremBeta(scale=value)
    with pytest.raises(BotorchError, match="Expected 0 < delta < 1"):
        TheoremBeta(delta=value)
