"""Kernels against gpytorch's, and against the spectra that paths are drawn by."""

from __future__ import annotations

import pytest
import torch
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel, RQKernel
from torch import Tensor

from benchmarks.problems.stationary import KERNELS

DISTANCES = torch.tensor([0.0, 0.1, 0.7, 1.5, 4.0], dtype=torch.double)


def gpytorchs(kernel: Kernel) -> Tensor:
    kernel = kernel.double()
    kernel.lengthscale = 1.0
    if isinstance(kernel, RQKernel):
        kernel.alpha = 1.0
    with torch.no_grad():
        found: Tensor = kernel(torch.zeros(1, 1).double(), DISTANCES.reshape(-1, 1)).to_dense()
    return found.flatten()


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("RBF", RBFKernel()),
        ("Matern 5/2", MaternKernel(nu=2.5)),
        ("Matern 3/2", MaternKernel(nu=1.5)),
        ("rational quadratic", RQKernel()),
    ],
)
def test_correlations_are_gpytorchs(name: str, kernel: Kernel) -> None:
    found = KERNELS[name].correlation(DISTANCES.square())[0]
    torch.testing.assert_close(found, gpytorchs(kernel), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_derivatives_and_slopes(name: str) -> None:
    kernel, square = KERNELS[name], torch.tensor([0.3, 2.0], dtype=torch.double)
    square.requires_grad_()
    value, derivative = kernel.correlation(square)
    expected = torch.autograd.grad(value.sum(), square)[0]
    torch.testing.assert_close(derivative.detach(), expected)
    # The variance of a partial derivative is -k''(0), twice the derivative by the square.
    start = kernel.correlation(torch.tensor([1e-14], dtype=torch.double))[1]
    assert kernel.slope**2 == pytest.approx(-2 * start.item(), rel=1e-5)


@pytest.mark.parametrize("name", KERNELS)
def test_spectra_are_the_kernels(name: str) -> None:
    """The kernel is the mean of cos(w . x): 200,000 frequencies, to five standard errors."""
    generator = torch.Generator().manual_seed(0)
    count = 200_000
    factors = KERNELS[name].factors(count, generator)
    frequencies = factors * torch.randn(count, 2, generator=generator, dtype=torch.double)
    x = torch.tensor([0.6, -0.5], dtype=torch.double)
    found = (frequencies @ x).cos().mean()
    expected = KERNELS[name].correlation(x.square().sum())[0]
    assert abs(found - expected) < 5 * count**-0.5
