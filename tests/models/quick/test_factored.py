"""The factored posterior is the model's, in tensors and in numpy."""

import numpy as np
import pytest
import torch
from scipy.linalg import solve_triangular

from botorch_ubo.models.quick.factored import to_array
from tests.support.gps import Dense
from tests.support.quick_models import INPUTS, make, of_parent, points


@pytest.mark.parametrize("inputs", ["none", "normalize", "log"])
def test_mean_and_variance_are_the_parents(inputs: str) -> None:
    model = make(inputs=inputs)
    factored = model.factored()
    X = points().squeeze(-2)
    mean, variance = factored.mean_and_variance(X if factored.affine else model.transform_inputs(X))
    expected = of_parent(model, points())
    found = factored.Y_mean + factored.Y_scale * mean
    torch.testing.assert_close(found, expected.mean.flatten().detach())
    found = factored.Y_scale.square() * variance
    torch.testing.assert_close(found, expected.variance.flatten().detach())


@pytest.mark.parametrize("inputs", INPUTS)
def test_only_one_affine_map_of_all_dimensions_is_built_in(inputs: str) -> None:
    expected = inputs in ("none", "normalize", "learned", "standardize")
    assert make(inputs=inputs).factored().affine == expected


def test_arrays_are_the_same_numbers() -> None:
    model = make()
    factored = model.factored()
    arrays = factored.arrays
    assert arrays is factored.arrays  # made once
    np.testing.assert_allclose(arrays.X, to_array(factored.X))
    np.testing.assert_allclose(arrays.half_norms, 0.5 * (arrays.X**2).sum(axis=-1))
    assert arrays.variance == pytest.approx(2.7)
    np.testing.assert_allclose(arrays.z, Dense(model).z.numpy(), rtol=1e-8)
    factor = np.linalg.cholesky(Dense(model).gram.numpy())
    inverse = solve_triangular(factor, np.eye(len(factor)), lower=True)
    np.testing.assert_allclose(arrays.inverse, inverse, rtol=1e-7, atol=1e-9)


def test_points_are_in_length_scales_from_the_centre_of_the_data() -> None:
    model = make(inputs="none")
    factored = model.factored()
    X = model.train_inputs[0]
    scales = model.covar_module.base_kernel.lengthscale.detach()
    torch.testing.assert_close(factored.X, (X - X.mean(dim=0)) / scales)
    torch.testing.assert_close((X - factored.origin) * factored.slope, factored.X)
