from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from benchmarks.problems.sample_paths import draw_path, known_model, maximum_in


def tensor(values: list) -> Tensor:
    return torch.tensor(values, dtype=torch.double)


class TestSamplePaths:
    @pytest.mark.slow
    def test_covariance_is_the_kernels(self) -> None:
        """Over paths, values at two places have variance 1 and the kernel's covariance."""
        X = tensor([[0.0, 0.0], [0.3, 0.1]])
        values = torch.cat([draw_path(2, 0.4, seed)(X).T for seed in range(200)])
        expected = math.exp(-(0.3**2 + 0.1**2) / (2 * 0.4**2))
        covariance = values.T @ values / len(values)
        torch.testing.assert_close(
            covariance, tensor([[1.0, expected], [expected, 1.0]]), rtol=0, atol=0.25
        )
        assert values.mean(dim=0).abs().max() < 0.15

    def test_a_path_is_repeatable_and_a_function(self) -> None:
        X = torch.rand(7, 1, dtype=torch.double)
        path = draw_path(1, 0.2, 3)
        assert path(X).shape == (7, 1)
        torch.testing.assert_close(path(X), draw_path(1, 0.2, 3)(X))
        assert not torch.allclose(path(X), draw_path(1, 0.2, 4)(X))

    def test_the_model_is_the_paths_own(self) -> None:
        X = torch.linspace(0, 1, 9, dtype=torch.double).unsqueeze(-1)
        model = known_model(X, draw_path(1, 0.25, 0)(X), 0.25)
        posterior = model.posterior(tensor([[0.53], [40.0]]))
        truth = draw_path(1, 0.25, 0)(tensor([[0.53]]))
        assert posterior.mean[0].item() == pytest.approx(truth.item(), abs=0.02)
        assert posterior.variance[1].item() == pytest.approx(1.0)

    @pytest.mark.parametrize("dim", [1, 2, 3])
    def test_maximum(self, dim: int) -> None:
        """Known maxima: one off the grid, one at a corner of the box."""
        box = tensor([[0.0] * dim, [1.0] * dim])
        center = torch.full((dim,), 1 / math.pi, dtype=torch.double)
        inner = maximum_in(lambda X: 2 - (X - center).square().sum(-1, keepdim=True), box)
        assert inner == pytest.approx(2.0, abs=1e-9)
        assert maximum_in(lambda X: X.sum(-1, keepdim=True), box) == pytest.approx(dim)
