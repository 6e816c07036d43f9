import math

import pytest
import torch
from gpytorch.kernels import (
    MaternKernel,
    PeriodicKernel,
    PiecewisePolynomialKernel,
    RBFKernel,
    RQKernel,
)

from botorch_ubo.posterior.kernel_roughness import derivative_variance
from tests.support.gps import KERNELS, SquaredKernel, random_scale, tensor

LIKE = torch.empty((), dtype=torch.double)


def build(kind, lengthscale, **kwargs):
    kernel = kind(**kwargs).double()
    kernel.lengthscale = lengthscale
    return kernel


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (build(RBFKernel, 2.0), 1 / 4),
        (build(RQKernel, 2.0), 1 / 4),
        (build(MaternKernel, 2.0, nu=2.5), 5 / 12),
        (build(MaternKernel, 2.0, nu=1.5), 3 / 4),
        (build(MaternKernel, 2.0, nu=0.5), 3 / 4),  # a stand-in: no derivative
        # (1 - r)^3 (1 + 3 r) = 1 - 6 r^2 + ...
        (build(PiecewisePolynomialKernel, 2.0, q=1), 12 / 4),
        (build(SquaredKernel, 2.0), 2 / 4),
        (build(PeriodicKernel, 0.01), 4 * math.pi**2 / (math.log(2) ** 2 * 0.01)),
    ],
)
def test_hand_numbers(kernel, expected):
    assert derivative_variance(kernel, LIKE, 1).item() == pytest.approx(expected, rel=1e-3)


# Without a second derivative: a stand-in for Matern 1/2 (above), a secant for the other.
ROUGH = ("matern12", "piecewise0")


@pytest.mark.parametrize("family", [name for name in KERNELS if name not in ROUGH])
def test_is_the_curvature_at_zero(family):
    torch.manual_seed(1)
    kernel = random_scale(KERNELS[family](3))
    step = 1e-5
    steps = torch.eye(3, dtype=torch.double) * step
    with torch.no_grad():
        top, low = (kernel(torch.zeros_like(steps), x, diag=True) for x in (0 * steps, steps))
        variance = derivative_variance(kernel, LIKE, 3)
    assert torch.allclose(variance, 2 * (top - low) / step**2, rtol=3e-3)


def test_active_dims_and_sums():
    first = build(RBFKernel, 2.0, active_dims=(0,))
    second = build(MaternKernel, 1.0, nu=2.5, active_dims=(2,))
    expected = tensor([0.25, 0.0, 5 / 3])
    assert torch.allclose(derivative_variance(first + second, LIKE, 3), expected)
    assert torch.allclose(derivative_variance(first * second, LIKE, 3), expected)


def test_batch_shapes():
    lengthscale = torch.rand(3, 1, 2, dtype=torch.double) + 0.1
    for kind in (RBFKernel, MaternKernel, PiecewisePolynomialKernel, SquaredKernel):
        batched = build(kind, lengthscale, ard_num_dims=2, batch_shape=torch.Size([3]))
        variance = derivative_variance(batched, LIKE, 2)
        assert variance.shape == (3, 2)
        for i in range(3):
            single = build(kind, lengthscale[i], ard_num_dims=2)
            assert torch.allclose(variance[i], derivative_variance(single, LIKE, 2))
