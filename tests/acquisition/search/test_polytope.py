"""Points between planes: inside, spread evenly, and the same for the same seed."""

import pytest
import torch

from botorch_ubo.acquisition.search.polytope import HitAndRun
from tests.support.gps import tensor

BOX = tensor([[0.0, 0.0], [2.0, 1e6]])
INDEX = torch.tensor([0, 1])


def test_a_triangle_is_filled_evenly() -> None:
    """Below the diagonal of a box, whatever its units: the mean is a third of the sides."""
    below = [(INDEX, tensor([-0.5, -1e-6]), -1.0)]
    X = HitAndRun(BOX, below, None, seed=0).draw(2000)
    assert ((X >= BOX[0]) & (X <= BOX[1])).all()
    assert (X[:, 0] / 2 + X[:, 1] / 1e6 <= 1 + 1e-9).all()
    mean = X.mean(dim=0) / (BOX[1] - BOX[0])
    assert mean.tolist() == pytest.approx([1 / 3, 1 / 3], abs=0.02)  # three standard errors


def test_equalities_leave_a_line() -> None:
    on_line = [(INDEX, tensor([0.5, 1e-6]), 0.8)]
    X = HitAndRun(BOX, None, on_line, seed=0).draw(500)
    assert torch.allclose(X[:, 0] / 2 + X[:, 1] / 1e6, tensor(0.8))
    assert X[:, 0].mean().item() == pytest.approx(0.8, abs=0.06)
    assert len(X.unique(dim=0)) == 500


def test_equalities_may_leave_a_point() -> None:
    point = [(torch.tensor([0]), tensor([1.0]), 0.5), (torch.tensor([1]), tensor([1.0]), 7.0)]
    X = HitAndRun(BOX, None, point, seed=0).draw(3)
    assert torch.allclose(X, tensor([[0.5, 7.0]]).expand(3, 2))


def test_nothing_of_the_process_is_drawn() -> None:
    before = torch.get_rng_state()
    below = [(INDEX, tensor([-0.5, -1e-6]), -1.0)]
    X = HitAndRun(BOX, below, None, seed=4).draw(5)
    assert torch.equal(HitAndRun(BOX, below, None, seed=4).draw(5), X)
    assert not torch.equal(HitAndRun(BOX, below, None, seed=5).draw(5), X)
    assert torch.equal(torch.get_rng_state(), before)
