import inspect

import pytest
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.acquisition.input_constructors import get_acqf_input_constructor
from botorch.acquisition.objective import ScalarizedPosteriorTransform as Scalarized
from botorch.models import SingleTaskGP
from botorch.utils.datasets import SupervisedDataset

from botorch_ubo.acquisition import (
    LowerConfidenceBound,
    UnboundedUpperConfidenceBound,
    qLogIncrementalExpectedImprovement,
)
from botorch_ubo.acquisition.input_constructors import construct_inputs_confidence_bound
from tests.support.gps import tensor

BOUNDS = (UnboundedUpperConfidenceBound, LowerConfidenceBound)


def model(m=1):
    torch.manual_seed(0)
    X, Y = torch.rand(4, 2, dtype=torch.double), torch.randn(4, m, dtype=torch.double)
    return SingleTaskGP(X, Y).eval()


@pytest.mark.parametrize("bound", BOUNDS)
def test_registered(bound):
    gp = model()
    kwargs = get_acqf_input_constructor(bound)(model=gp, beta=0.3)
    assert kwargs == construct_inputs_confidence_bound(gp, beta=0.3)
    # a class of our own has an entry of its own, and BoTorch's stays
    theirs = get_acqf_input_constructor(UpperConfidenceBound)
    assert theirs is not get_acqf_input_constructor(bound)


@pytest.mark.parametrize("bound", BOUNDS)
def test_registry_is_by_exact_class(bound):
    class Mine(bound):
        pass

    with pytest.raises(RuntimeError, match=r"Input constructor for .* `Mine` not registered"):
        get_acqf_input_constructor(Mine)


@pytest.mark.parametrize("bound", BOUNDS)
def test_arguments(bound):
    gp = model()
    kwargs = get_acqf_input_constructor(bound)(model=gp, beta=0.3, maximize=False)
    assert set(kwargs) == set(inspect.signature(bound).parameters)
    acquisition = bound(**kwargs)
    assert acquisition.model is gp
    assert acquisition.beta.item() == 0.3
    assert not acquisition.maximize
    x = torch.rand(1, 2, dtype=torch.double)
    assert acquisition(x).item() == bound(gp, 0.3, maximize=False)(x).item()


@pytest.mark.parametrize("bound", BOUNDS)
def test_defaults_are_those_of_botorch(bound):
    gp = model()
    theirs = get_acqf_input_constructor(UpperConfidenceBound)(model=gp)
    kwargs = get_acqf_input_constructor(bound)(model=gp)
    assert kwargs["beta"] == theirs["beta"] == 0.2
    assert kwargs["maximize"] is theirs["maximize"] is True
    assert kwargs["posterior_transform"] is None


@pytest.mark.parametrize("bound", BOUNDS)
def test_posterior_transform(bound):
    transform = Scalarized(tensor([1.0, 2.0]))
    kwargs = get_acqf_input_constructor(bound)(model=model(2), posterior_transform=transform)
    assert kwargs["posterior_transform"] is transform
    assert bound(**kwargs)(torch.rand(3, 1, 2).double()).shape == (3,)


def test_incremental_takes_the_best_value_and_pending_points():
    gp = model()
    X, Y = gp.train_inputs[0], tensor([[1.0], [2.0], [0.5], [0.0]])
    data = SupervisedDataset(X=X, Y=Y, feature_names=["a", "b"], outcome_names=["y"])
    kwargs = get_acqf_input_constructor(qLogIncrementalExpectedImprovement)(
        model=gp, training_data=data, X_pending=X[:1]
    )
    acqf = qLogIncrementalExpectedImprovement(**kwargs)
    assert float(acqf.best_f) == 2.0
    assert torch.equal(acqf.X_pending, X[:1])
    assert acqf(X.unsqueeze(-2) + 0.1).isfinite().all()
