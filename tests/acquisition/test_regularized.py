import math
import pickle

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.acquisition.input_constructors import get_acqf_input_constructor
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.utils.datasets import SupervisedDataset
from botorch.utils.testing import MockModel, MockPosterior

from botorch_ubo.acquisition import (
    HingeQuadraticPenalty,
    LogRegularizedExpectedImprovement,
    QuadraticPenalty,
)

BOX = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)


def h(u):
    """``phi(u) + u Phi(u)``."""
    return math.exp(-(u**2) / 2) / math.sqrt(2 * math.pi) + u * 0.5 * math.erfc(-u / math.sqrt(2))


def make_model(n=8, outputs=1, seed=0, **kwargs):
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 2, generator=generator, dtype=torch.double)
    Y = 3 + 10 * torch.rand(n, outputs, generator=generator, dtype=torch.double)
    model = SingleTaskGP(X, Y, input_transform=Normalize(2, bounds=BOX), **kwargs).eval()
    return model, X, Y


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize("maximize", [True, False])
def test_values_by_hand(dtype, maximize):
    # mean 0.5, variance 4, best 0: u = (+-0.5 - 3 xi) / 2 for a penalty in units of 3
    mean = torch.full((2, 1, 1), 0.5, dtype=dtype)
    model = MockModel(MockPosterior(mean=mean, variance=torch.full_like(mean, 4.0)))
    penalty = QuadraticPenalty.from_bounds(BOX.to(dtype))
    acqf = LogRegularizedExpectedImprovement(model, 0.0, penalty, scale=3.0, maximize=maximize)
    X = torch.tensor([[[0.5, 0.5]], [[1.5, 0.5]]], dtype=dtype)  # xi = 0 and 1
    value = acqf(X)
    assert value.dtype == dtype and value.shape == (2,)
    signed = 0.5 if maximize else -0.5
    expected = [math.log(2 * h(signed / 2)), math.log(2 * h((signed - 3) / 2))]
    assert value.tolist() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("maximize", [True, False])
def test_equals_EI_where_there_is_no_penalty(maximize):
    model, X, Y = make_model()
    best_f = Y.max() if maximize else Y.min()
    plain = LogExpectedImprovement(model, best_f, maximize=maximize)
    quadratic, hinge = (
        LogRegularizedExpectedImprovement(model, best_f, kind.from_bounds(BOX), maximize=maximize)
        for kind in (QuadraticPenalty, HingeQuadraticPenalty)
    )
    center = torch.full((1, 1, 2), 0.5).double()
    assert torch.equal(quadratic(center), plain(center))
    X = X.unsqueeze(-2)
    assert torch.allclose(hinge(X), plain(X))  # all of the box is in the ball
    assert (quadratic(X) < plain(X)).all()


def test_penalty_is_in_standard_deviations_of_the_outcomes():
    model, X, Y = make_model()
    penalty = QuadraticPenalty.from_bounds(BOX)
    acqf = LogRegularizedExpectedImprovement(model, Y.max(), penalty)
    assert float(acqf.scale) == pytest.approx(float(Y.std()))
    scaled = SingleTaskGP(X, 50 * Y - 7, input_transform=Normalize(2, bounds=BOX)).eval()
    other = LogRegularizedExpectedImprovement(scaled, 50 * Y.max() - 7, penalty)
    points = 3 * torch.rand(20, 1, 2, dtype=torch.double)
    assert torch.allclose(other(points), acqf(points) + math.log(50))


def test_penalty_acts_in_the_models_input_space():
    X, Y = make_model()[1:]
    box = BOX * torch.tensor([1.0, 1000.0])
    stretched = torch.tensor([1.0, 1000.0]).double()
    model = SingleTaskGP(X * stretched, Y, input_transform=Normalize(2, bounds=box)).eval()
    penalty = HingeQuadraticPenalty.from_bounds(BOX)
    acqf = LogRegularizedExpectedImprovement(model, Y.max(), penalty)
    reference = LogRegularizedExpectedImprovement(make_model()[0], Y.max(), penalty)
    points = 3 * torch.rand(20, 1, 2, dtype=torch.double)
    assert torch.allclose(acqf(points * stretched), reference(points))


def test_standardised_outcomes_are_a_change_of_units():
    penalty = QuadraticPenalty.from_bounds(BOX)
    inside, X, Y = make_model(outcome_transform=Standardize(1))
    mean, std = Y.mean(), Y.std()
    outside = SingleTaskGP(
        X, (Y - mean) / std, input_transform=Normalize(2, bounds=BOX), outcome_transform=None
    ).eval()
    one = LogRegularizedExpectedImprovement(inside, Y.max(), penalty)
    two = LogRegularizedExpectedImprovement(outside, (Y.max() - mean) / std, penalty)
    points = -1 + 3 * torch.rand(20, 1, 2, dtype=torch.double)
    assert torch.allclose(one(points), two(points) + std.log())


def make_ensemble():
    _, X, Y = make_model()
    return EnsembleMapSaasSingleTaskGP(X, Y, num_taus=3).eval()


def test_ensembles_outputs_batches_and_gradients():
    penalty = QuadraticPenalty.from_bounds(BOX)
    X = torch.rand(5, 1, 2, dtype=torch.double, requires_grad=True)
    ensemble = LogRegularizedExpectedImprovement(make_ensemble(), 0.0, penalty)
    two, _, _ = make_model(outputs=2)
    weights = ScalarizedPosteriorTransform(torch.tensor([1.0, -1.0]).double())
    scalarized = LogRegularizedExpectedImprovement(two, 0.0, penalty, posterior_transform=weights)
    for acqf in (ensemble, scalarized):
        value = acqf(X)
        assert value.shape == (5,)
        (gradient,) = torch.autograd.grad(value.sum(), X)
        assert gradient.isfinite().all()
        assert acqf(X.reshape(5, 1, 1, 2)).shape == (5, 1)
        again = pickle.loads(pickle.dumps(acqf))
        assert torch.equal(again(X), value)


def test_no_underflow_far_out():
    model, _, Y = make_model()
    acqf = LogRegularizedExpectedImprovement(model, Y.max(), QuadraticPenalty.from_bounds(BOX))
    X = torch.full((1, 1, 2), 1e4).double().requires_grad_()
    value = acqf(X)
    assert value.isfinite().all()
    (gradient,) = torch.autograd.grad(value.sum(), X)
    assert (gradient < 0).all()  # back to where there is something to find


def test_input_constructor():
    model, X, Y = make_model()
    data = SupervisedDataset(X, Y, feature_names=["a", "b"], outcome_names=["y"])
    inputs = get_acqf_input_constructor(LogRegularizedExpectedImprovement)(
        model=model, training_data=data, bounds=[(0.0, 1.0), (0.0, 1.0)], penalty=QuadraticPenalty
    )
    acqf = LogRegularizedExpectedImprovement(**inputs)
    reference = LogRegularizedExpectedImprovement(model, Y.max(), QuadraticPenalty.from_bounds(BOX))
    points = 2 * torch.rand(5, 1, 2, dtype=torch.double)
    assert torch.allclose(acqf(points), reference(points))
