"""What the theorem does not cover is refused, with what was expected and what to do."""

import pytest
import torch
from botorch.acquisition.objective import ExpectationPosteriorTransform
from botorch.acquisition.objective import ScalarizedPosteriorTransform as Scalarized
from botorch.exceptions import UnsupportedError
from botorch.models import (
    KroneckerMultiTaskGP,
    MixedSingleTaskGP,
    ModelListGP,
    MultiTaskGP,
    SingleTaskGP,
    SingleTaskVariationalGP,
)
from botorch.models.transforms import Bilog, Log, Normalize, Warp
from botorch.models.transforms.input import AffineInputTransform, ChainedInputTransform, Round
from gpytorch.kernels import LinearKernel, RBFKernel, ScaleKernel
from gpytorch.means import LinearMean

from botorch_ubo.posterior import check_model, summarize_posterior
from botorch_ubo.posterior.radius import theorem_radius
from tests.support.gps import KERNELS, tensor


def data(n=8, d=2, m=1, seed=0):
    torch.manual_seed(seed)
    return torch.rand(n, d, dtype=torch.double), 5 * torch.randn(n, m, dtype=torch.double) - 2


def refused_models():
    X, Y = data(6, 2)
    task = torch.cat([X, tensor([[0.0], [1.0]] * 3)], dim=-1)
    both = torch.cat([Y, Y + 1], dim=-1)
    warp = Warp(2, [0, 1], bounds=torch.stack([X.amin(0) - 1, X.amax(0) + 1]))
    mirror = AffineInputTransform(2, coefficient=-torch.ones(1, 2).double(), offset=X[:1])
    linear = {"covar_module": LinearKernel().double()}
    return {
        "ModelListGP": ModelListGP(SingleTaskGP(X, Y)),
        "SingleTaskVariationalGP": SingleTaskVariationalGP(X, Y),
        "MultiTaskGP": MultiTaskGP(task, Y, task_feature=-1),
        "KroneckerMultiTaskGP": KroneckerMultiTaskGP(X, both),
        "CategoricalKernel": MixedSingleTaskGP(X.round(decimals=1), Y, cat_dims=[1]),
        "LinearMean": SingleTaskGP(X, Y, mean_module=LinearMean(2).double()),
        "Warp": SingleTaskGP(X, Y, input_transform=warp),
        "AffineInputTransform": SingleTaskGP(X, Y, input_transform=mirror),
        "Bilog": SingleTaskGP(X, Y, outcome_transform=Bilog()),
        "Log": SingleTaskGP(X, Y.abs(), outcome_transform=Log()),
        "2 outputs": SingleTaskGP(X, both),
        "batch shape": SingleTaskGP(X.expand(3, 6, 2), Y.expand(3, 6, 1)),
        "LinearKernel": SingleTaskGP(X, Y, **linear),
        "ProductKernel": SingleTaskGP(
            X[:1], Y[:1], covar_module=LinearKernel().double() * RBFKernel().double()
        ),
    }


@pytest.mark.parametrize("name", refused_models())
def test_refused_models(name):
    model = refused_models()[name].eval()
    with pytest.raises(UnsupportedError, match="(?s)Expected.*" + name) as error:
        theorem_radius(summarize_posterior(model), 0.1, 4.0)
    remedies = ("Use ", "Pass ", "Fit ", "Remove ", "Transform ")
    assert any(remedy in str(error.value) for remedy in remedies)


def test_tiny_outcomes_hide_nothing():
    X, Y = data()
    mean = LinearMean(2).double()
    mean.weights.data, mean.bias.data = tensor([[1e-12], [1e-12]]), tensor([0.0])
    kernel = ScaleKernel(KERNELS["rbf"](2)).double()
    kernel.outputscale = 1e-24
    model = SingleTaskGP(X, Y, outcome_transform=None, mean_module=mean, covar_module=kernel)
    with pytest.raises(UnsupportedError, match="LinearMean"):
        summarize_posterior(model.eval())


def test_refused_when_not_fitted():
    model = SingleTaskGP(*data())
    with pytest.raises(UnsupportedError, match=r"evaluation mode.*training mode.*fit_gpytorch_mll"):
        summarize_posterior(model)


def test_refused_transforms():
    X, Y = data(m=2)
    model = SingleTaskGP(X, Y).eval()
    with pytest.raises(UnsupportedError, match="Expected one weight per output"):
        summarize_posterior(model, Scalarized(tensor([1.0, 2.0, 3.0])))
    with pytest.raises(UnsupportedError, match="got ExpectationPosteriorTransform"):
        summarize_posterior(model, ExpectationPosteriorTransform(n_w=2))


def test_the_part_of_a_chain_that_is_in_the_way_is_named():
    chain = ChainedInputTransform(unit=Normalize(2), whole=Round(integer_indices=[0]))
    model = SingleTaskGP(*data(), input_transform=chain).eval()
    with pytest.raises(UnsupportedError, match=r"got Round, which.*a method without the theorem"):
        check_model(model)


def test_a_model_that_is_covered_comes_back():
    model = SingleTaskGP(*data(), input_transform=Normalize(2)).eval()
    assert check_model(model) is model
