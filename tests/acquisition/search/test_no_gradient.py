"""A start without a gradient costs its own climb, not the search."""

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from torch import Tensor

from botorch_ubo.acquisition.search import climb
from tests.support.controlled import UNIT, data, gp
from tests.support.gps import tensor


class Hole(AcquisitionFunction):
    """A hill at (0.8, 0.2), whose gradient is NaN at the origin though its value is not."""

    def forward(self, X: Tensor) -> Tensor:
        distance = (X - X.new_tensor([0.8, 0.2])).square().sum(dim=-1).squeeze(-1)
        return -distance + 0 * X.squeeze(-2).norm(dim=-1).square().sqrt()


def test_the_other_starts_are_climbed_from() -> None:
    hole = Hole(gp(*data()))
    starts = tensor([[[0.0, 0.0]], [[0.3, 0.3]]])
    X, value = climb(hole, UNIT, starts)
    torch.testing.assert_close(X, tensor([[0.8, 0.2]]), atol=1e-3, rtol=0)
    assert float(value) > -1e-5


def test_without_any_gradient_the_best_start_stands() -> None:
    X, value = climb(Hole(gp(*data())), UNIT, tensor([[[0.0, 0.0]]]))
    assert X.tolist() == [[0.0, 0.0]] and abs(float(value) + 0.68) < 1e-12
