"""The default model with categories: its kernel, and its fit."""

import math

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import InputDataError
from botorch.fit import fit_gpytorch_mll
from botorch.models.kernels import CategoricalKernel
from gpytorch.mlls import ExactMarginalLogLikelihood
from scipy.optimize import approx_fprime

from botorch_ubo.models import default_model, fit_default_model
from botorch_ubo.models.mixed import mixed_kernel
from botorch_ubo.models.mixed_fit import MixedLogDensity

BOUNDS = torch.tensor([[0.0, 0.0, -1.0], [1.0, 2.0, 1.0]], dtype=torch.double)


def data(n=16, noise=0.0):
    generator = torch.Generator().manual_seed(3)
    X = torch.rand(n, 3, generator=generator, dtype=torch.double)
    X[:, 1] = torch.randint(3, (n,), generator=generator).double()
    X[:, 2] = 2 * X[:, 2] - 1
    offset = torch.tensor([0.0, 1.0, 0.3], dtype=torch.double)[X[:, 1:2].long()]
    Y = torch.sin(3 * X[:, :1]) + X[:, 2:] ** 2 + offset
    return X, Y + noise * torch.randn(n, 1, generator=generator, dtype=torch.double)


def test_categories_correlate_by_equality_alone():
    kernel = mixed_kernel(3, [1]).double()
    X = torch.tensor([[0.1, 0.0, 0.2], [0.1, 1.0, 0.2], [0.1, 2.0, 0.2]], dtype=torch.double)
    K = kernel(X).to_dense()
    off = math.exp(-1.0)  # length-scale 1
    assert torch.allclose(K, torch.eye(3).double() * (1 - off) + off, atol=1e-12)


def test_all_columns_may_be_categories():
    assert isinstance(mixed_kernel(2, [0, 1]), CategoricalKernel)


def test_the_density_is_that_of_botorch():
    X, Y = data()
    model = default_model(X, Y, BOUNDS, categorical=[1])
    model.train()
    density = MixedLogDensity(model, None)
    mll = ExactMarginalLogLikelihood(model.likelihood, model)

    def by_botorch(p):
        from botorch_ubo.models.mixed_fit import _put

        _put(model, density, p)
        return -float(mll(model(*model.train_inputs), model.train_targets).detach()) * len(Y)

    one = density.starts()[1]
    two = one + 0.1 * np.arange(len(one))
    assert density(two)[0] - density(one)[0] == pytest.approx(by_botorch(two) - by_botorch(one))


def test_the_gradient_is_that_of_the_value():
    X, Y = data()
    model = default_model(X, Y, BOUNDS, categorical=[1])
    density = MixedLogDensity(model.train(), None)
    p = density.starts()[1] + 0.2
    numeric = approx_fprime(p, lambda q: density(q)[0], 1e-6)
    assert density(p)[1] == pytest.approx(numeric, abs=1e-3)


@pytest.mark.slow
def test_the_fit_is_as_good_as_that_of_botorch():
    X, Y = data(noise=0.1)
    # Given, since inferred noise may be found to be absent, which BoTorch never does.
    Yvar = torch.full_like(Y, 0.01)
    ours = fit_default_model(X, Y, BOUNDS, Yvar, categorical=[1])
    theirs = default_model(X, Y, BOUNDS, Yvar, categorical=[1])
    fit_gpytorch_mll(ExactMarginalLogLikelihood(theirs.likelihood, theirs))
    values = []
    for model in (ours, theirs):
        mll = ExactMarginalLogLikelihood(model.likelihood, model.train())
        values.append(float(mll(model(*model.train_inputs), model.train_targets).detach()) * len(Y))
    assert values[0] > values[1] - 0.1  # nats


def test_exact_observations_are_found_and_interpolated():
    X, Y = data(24)
    model = fit_default_model(X, Y, BOUNDS, categorical=[1])
    assert float(model.likelihood.noise.detach()) < 1e-4
    assert torch.allclose(model.posterior(X).mean, Y, atol=1e-2)


def test_a_model_of_categories_alone_and_of_given_noise():
    X = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], dtype=torch.double)
    Y = torch.tensor([[1.0], [0.2], [0.9], [0.0]], dtype=torch.double)
    bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)
    model = fit_default_model(X, Y, bounds, torch.full_like(Y, 0.01), categorical=[0, 1])
    assert int(model.posterior(X).mean.argmax()) in (0, 2)


def test_codes_of_categories_are_whole_numbers():
    X, Y = data()
    X[0, 1] = 0.4
    with pytest.raises(InputDataError, match=r"codes of categories, in columns \[1\]"):
        fit_default_model(X, Y, BOUNDS, categorical=[1])
