"""Posteriors of known kernels against gpytorch's, and their gradients."""

from __future__ import annotations

import pytest
import torch

from benchmarks.problems.sample_paths import draw_paths, known_model
from benchmarks.problems.stationary import KERNELS
from benchmarks.runs.known_gp import KnownGP


@pytest.mark.parametrize("name", ["RBF", "Matern 5/2"])
def test_the_posterior_is_gpytorchs(name: str) -> None:
    torch.manual_seed(0)
    X, test = 4 * torch.rand(2, 7, 2).double(), 6 * torch.rand(2, 5, 2).double()
    Y = draw_paths(name, 2, [0, 1])(X, False)[0]
    gp = KnownGP.of(KERNELS[name].correlation, X, Y, 1e-4)
    root = torch.tensor([2.0, -1.5], dtype=torch.double)
    found = gp.bound(root)(test, False)[0]
    for i in range(2):
        posterior = known_model(X[i], Y[i].unsqueeze(-1), 1.0, name, 1e-4).posterior(test[i])
        with torch.no_grad():
            expected = posterior.mean + root[i] * posterior.variance.sqrt()
        torch.testing.assert_close(found[i], expected.flatten(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_gradients(name: str) -> None:
    torch.manual_seed(1)
    X, test = 4 * torch.rand(2, 6, 3).double(), 5 * torch.rand(2, 4, 3).double()
    gp = KnownGP.of(KERNELS[name].correlation, X, torch.randn(2, 6).double(), 1e-3)
    test.requires_grad_()
    values, gradients = gp.bound(torch.tensor([1.0, 3.0]).double())(test)
    torch.testing.assert_close(gradients, torch.autograd.grad(values.sum(), test)[0])


def test_some_of_them() -> None:
    torch.manual_seed(2)
    X, Y = torch.rand(3, 4, 1).double(), torch.randn(3, 4).double()
    bound = KnownGP.of(KERNELS["RBF"].correlation, X, Y, 1e-3).bound(torch.ones(3).double())
    rows, points = torch.tensor([2, 0]), torch.rand(2, 5, 1).double()
    whole = bound(points[[1, 0, 0]], False)[0]
    torch.testing.assert_close(bound.take(rows)(points, False)[0], whole[rows])
