import pickle

import pytest
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.acquisition.objective import ScalarizedPosteriorTransform as Scalarized
from botorch.exceptions import UnsupportedError
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.optim import optimize_acqf
from botorch.utils.testing import MockModel, MockPosterior

from botorch_ubo.acquisition import LowerConfidenceBound, UnboundedUpperConfidenceBound
from botorch_ubo.acquisition.confidence import value_at_infinity
from botorch_ubo.posterior import summarize_posterior
from tests.support.gps import Dense, random_model, tensor

DTYPES = (torch.float, torch.double)
BOUNDS = (UnboundedUpperConfidenceBound, LowerConfidenceBound)


def mock(mean, variance, dtype):
    mean, variance = (torch.tensor(v, dtype=dtype) for v in (mean, variance))
    return MockModel(MockPosterior(mean=mean, variance=variance))


@pytest.mark.parametrize("dtype", DTYPES)
def test_hand_numbers(dtype):
    model, X = mock([[0.5]], [[4.0]], dtype), torch.zeros(1, 1, dtype=dtype)
    # 0.5 +- sqrt(9) * 2
    assert UnboundedUpperConfidenceBound(model, beta=9.0)(X).item() == pytest.approx(6.5)
    assert LowerConfidenceBound(model, beta=9.0)(X).item() == pytest.approx(-5.5)
    # the objective is -f
    assert UnboundedUpperConfidenceBound(model, 9.0, maximize=False)(X).item() == pytest.approx(5.5)
    assert LowerConfidenceBound(model, 9.0, maximize=False)(X).item() == pytest.approx(-6.5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_t_batches(dtype):
    model = mock([[[0.0]], [[0.5]]], [[[1.0]], [[4.0]]], dtype)
    X = torch.zeros(2, 1, 1, dtype=dtype)
    expected = torch.tensor([-1.0, -1.5], dtype=dtype)
    assert torch.allclose(LowerConfidenceBound(model, beta=1.0)(X), expected)
    assert torch.allclose(
        UnboundedUpperConfidenceBound(model, 1.0)(X), expected.new_tensor([1, 2.5])
    )
    # one beta per element of the batch
    beta = torch.tensor([[1.0], [4.0]], dtype=dtype)
    assert torch.allclose(LowerConfidenceBound(model, beta)(X), expected.new_tensor([-1.0, -3.5]))
    ucb = UnboundedUpperConfidenceBound(model, beta)
    assert torch.allclose(ucb(X), expected.new_tensor([1.0, 4.5]))


@pytest.mark.parametrize("bound", BOUNDS)
def test_one_point_at_a_time(bound):
    acquisition = bound(mock([[0.0]], [[1.0]], torch.double), beta=1.0)
    with pytest.raises(AssertionError, match=r"Expected X to be .*q=1"):
        acquisition(torch.zeros(2, 1))


@pytest.mark.parametrize("bound", BOUNDS)
def test_multi_output_needs_transform(bound):
    torch.manual_seed(0)
    X, Y = torch.rand(4, 2, dtype=torch.double), torch.randn(4, 2, dtype=torch.double)
    model = SingleTaskGP(X, Y).eval()
    with pytest.raises(UnsupportedError, match="Must specify a posterior transform"):
        bound(model, beta=1.0)
    posterior, weights = model.posterior(X.unsqueeze(-2)), tensor([1.0, -2.0])
    mean = (posterior.mean[:, 0] * weights).sum(dim=-1)
    sigma = (posterior.variance[:, 0] * weights.square()).sum(dim=-1).sqrt()
    expected = mean + (2 if bound is UnboundedUpperConfidenceBound else -2) * sigma
    assert torch.allclose(bound(model, 4.0, Scalarized(weights))(X.unsqueeze(-2)), expected)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_beta_in_dtype_of_model(bound, dtype):
    X, Y = torch.rand(4, 2, dtype=dtype), torch.randn(4, 1, dtype=dtype)
    acquisition = bound(SingleTaskGP(X, Y).eval(), beta=0.2)
    assert acquisition.beta.dtype == dtype
    if dtype == torch.double:
        assert acquisition.beta.item() == 0.2  # not rounded to single precision
    assert acquisition(X.unsqueeze(-2)).dtype == dtype
    assert "beta" in acquisition.state_dict()


def ensemble():
    torch.manual_seed(0)
    X, Y = torch.rand(6, 2, dtype=torch.double), torch.randn(6, 1, dtype=torch.double)
    model = EnsembleMapSaasSingleTaskGP(X, Y, num_taus=3).eval()
    model.covar_module.outputscale = tensor([0.5, 1.0, 4.0])
    return model


@pytest.mark.parametrize("maximize", [True, False])
def test_average_over_ensemble(maximize):
    model, X = ensemble(), torch.rand(5, 1, 2, dtype=torch.double)
    posterior = model.posterior(X)
    mean, sigma = posterior.mean[..., 0, 0], posterior.variance[..., 0, 0].sqrt()  # 5 x 3
    mean = mean if maximize else -mean
    lcb = LowerConfidenceBound(model, 4.0, maximize=maximize)(X)
    assert torch.allclose(lcb, (mean - 2 * sigma).mean(dim=-1))
    ucb = UnboundedUpperConfidenceBound(model, 4.0, maximize=maximize)
    assert torch.allclose(ucb(X), (mean + 2 * sigma).mean(dim=-1))
    far = ucb(torch.full((1, 1, 2), 1e4, dtype=torch.double))
    assert ucb.value_at_infinity.item() == pytest.approx(far.item(), rel=1e-9)


def test_equals_botorch():
    """A subclass that only adds the limit; and the two bounds mirror each other."""
    torch.manual_seed(0)
    model = random_model("matern52", 2, 10, inputs="normalize", standardize=True)
    X = 3 * torch.rand(7, 1, 2, dtype=torch.double)
    ucb = UnboundedUpperConfidenceBound(model, beta=3.0)
    assert isinstance(ucb, UpperConfidenceBound)
    assert torch.allclose(ucb(X), UpperConfidenceBound(model, tensor(3.0))(X), rtol=1e-12)
    lcb = LowerConfidenceBound(model, beta=3.0)
    assert not isinstance(lcb, UpperConfidenceBound)
    assert torch.allclose(ucb(X) + lcb(X), 2 * model.posterior(X).mean.flatten())


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_value_at_infinity(maximize, standardize):
    torch.manual_seed(1)
    model = random_model("rbf", 2, 10, inputs="normalize", standardize=standardize)
    ucb = UnboundedUpperConfidenceBound(model, beta=0.7, maximize=maximize)
    dense = Dense(model)
    mean = dense.shift + dense.scale * dense.mean
    expected = (mean if maximize else -mean) + 0.7**0.5 * dense.scale * dense.theta
    assert ucb.value_at_infinity.item() == pytest.approx(expected, rel=1e-12)
    far = ucb(torch.full((1, 2), 1e6, dtype=torch.double))
    assert far.item() == pytest.approx(expected, rel=1e-9)
    # many betas at once, and no rounding of a float to single precision
    summary = summarize_posterior(model, maximize=maximize)
    limits = value_at_infinity(summary, tensor([0.7, 2.8]))
    assert limits.shape == (2,) and float(limits[0]) == pytest.approx(expected, rel=1e-12)
    assert value_at_infinity(summary, 0.7) == limits[0]


def test_value_at_infinity_of_a_weighted_sum():
    torch.manual_seed(0)
    X, Y = torch.rand(6, 2, dtype=torch.double), 5 * torch.randn(6, 2, dtype=torch.double)
    model = SingleTaskGP(X, Y).eval()
    ucb = UnboundedUpperConfidenceBound(model, 2.0, Scalarized(tensor([1.0, -2.0]), offset=3.0))
    far = ucb(torch.full((1, 2), 1e4, dtype=torch.double))
    assert ucb.value_at_infinity.item() == pytest.approx(far.item(), rel=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_limit_in_dtype_of_model(dtype):
    torch.manual_seed(0)
    X, Y = torch.rand(4, 2, dtype=dtype), torch.randn(4, 1, dtype=dtype)
    limit = UnboundedUpperConfidenceBound(SingleTaskGP(X, Y).eval(), beta=0.2).value_at_infinity
    assert limit.dtype == dtype and limit.shape == ()
    assert limit.item() == pytest.approx((Y.mean() + 0.2**0.5 * Y.std()).item(), rel=1e-5)


@pytest.mark.parametrize("bound", BOUNDS)
def test_optimize_and_pickle(bound):
    torch.manual_seed(0)
    model = random_model("rbf", 2, 6, inputs="normalize")
    acquisition = bound(model, beta=4.0)
    bounds = tensor([[0.5, 0.5], [2.5, 2.5]])
    x, value = optimize_acqf(acquisition, bounds, q=1, num_restarts=2, raw_samples=16)
    assert acquisition(x).item() == pytest.approx(value.item())
    assert value >= acquisition(2 * torch.rand(50, 1, 2).double() + 0.5).max() - 1e-3
    again = pickle.loads(pickle.dumps(acquisition))
    assert again(x).item() == pytest.approx(value.item())
