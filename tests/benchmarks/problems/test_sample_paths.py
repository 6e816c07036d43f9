from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from benchmarks.problems.sample_paths import draw_path, draw_paths, find_maxima, known_model
from botorch_ubo.policies.excursion import excursion_level


def tensor(values: list) -> Tensor:
    return torch.tensor(values, dtype=torch.double)


class TestSamplePaths:
    def test_covariance_is_the_kernels(self) -> None:
        """Over paths, values at two places have variance 1 and the kernel's covariance."""
        X = tensor([[0.0, 0.0], [0.3, 0.1]])
        values = torch.cat([draw_path(2, 0.4, seed)(X).T for seed in range(400)])
        expected = math.exp(-(0.3**2 + 0.1**2) / (2 * 0.4**2))
        covariance = values.T @ values / len(values)
        torch.testing.assert_close(
            covariance, tensor([[1.0, expected], [expected, 1.0]]), rtol=0, atol=0.2
        )
        assert values.mean(dim=0).abs().max() < 0.15

    def test_a_path_is_repeatable_and_a_function(self) -> None:
        X = torch.rand(7, 1, dtype=torch.double)
        path = draw_path(1, 0.2, 3)
        assert path(X).shape == (7, 1)
        torch.testing.assert_close(path(X), draw_path(1, 0.2, 3)(X))
        assert not torch.allclose(path(X), draw_path(1, 0.2, 4)(X))

    def test_many_at_once_are_those_one_by_one(self) -> None:
        X = torch.rand(2, 5, 3, dtype=torch.double)
        together = draw_paths("Matern 3/2", 3, [8, 9])
        for i, seed in enumerate((8, 9)):
            alone = draw_path(3, 1.0, seed, "Matern 3/2")(X[i]).flatten()
            torch.testing.assert_close(together(X, False)[0][i], alone)
            torch.testing.assert_close(together.take(tensor([i]).long())(X[i : i + 1])[0][0], alone)

    def test_gradients(self) -> None:
        X = torch.rand(2, 4, 2, dtype=torch.double, requires_grad=True)
        paths = draw_paths("two scales", 2, [1, 2])
        values, gradients = paths(X)
        torch.testing.assert_close(gradients, torch.autograd.grad(values.sum(), X)[0])

    def test_the_model_is_the_paths_own(self) -> None:
        X = torch.linspace(0, 1, 9, dtype=torch.double).unsqueeze(-1)
        model = known_model(X, draw_path(1, 0.25, 0)(X), 0.25)
        posterior = model.posterior(tensor([[0.53], [40.0]]))
        truth = draw_path(1, 0.25, 0)(tensor([[0.53]]))
        assert posterior.mean[0].item() == pytest.approx(truth.item(), abs=0.02)
        assert posterior.variance[1].item() == pytest.approx(1.0)

    @pytest.mark.parametrize("dim", [1, 2])
    def test_the_maximum_is_that_of_a_dense_grid_or_a_little_higher(self, dim: int) -> None:
        path, box = draw_path(dim, 0.3, 5), tensor([[-0.5] * dim, [0.7] * dim])
        place, value = path.maximizer_in(box)
        axes = [torch.linspace(-0.5, 0.7, 601 if dim == 1 else 201, dtype=torch.double)] * dim
        grid = torch.cartesian_prod(*axes).reshape(-1, dim)
        assert 0 <= value - path(grid).max().item() < 2e-3
        assert path(place).item() == pytest.approx(value)
        assert ((place >= box[0]) & (place <= box[1])).all()

    def test_each_has_its_own_box(self) -> None:
        paths = draw_paths("RBF", 1, [0, 0])
        boxes = tensor([[[0.0], [10.0]], [[0.0], [1.0]]])
        places, values = find_maxima(paths, boxes)
        assert values[1] < values[0] and 0 <= places[1].item() <= 1


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "slope"), [("RBF", 1.0), ("Matern 5/2", math.sqrt(5 / 3))])
def test_as_many_paths_exceed_the_level_as_it_says(kernel: str, slope: float) -> None:
    """600 paths on a dense grid: 10 % of them, to three standard errors."""
    level = excursion_level([20 * slope], 0.1)
    X = torch.linspace(0, 20, 400, dtype=torch.double).reshape(1, -1, 1)
    tops = [draw_paths(kernel, 1, [seed])(X, False)[0].max().item() for seed in range(600)]
    share = sum(top > level for top in tops) / len(tops)
    assert abs(share - 0.1) < 3 * math.sqrt(0.09 / len(tops))
