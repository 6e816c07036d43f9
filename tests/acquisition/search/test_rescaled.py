"""Inputs in length-scales, whatever the units of the box."""

import pytest
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize

from botorch_ubo.acquisition.search import Neighborhood
from botorch_ubo.acquisition.search.rescaled import RescaledAcquisition
from tests.support.gps import tensor

BOX = tensor([[1e6, 2.0, -1e-9], [3e6, 5.0, 1e-9]])
SIDES = tensor([2e6, 3.0, 2e-9])


def rescaled(lengthscales: list[float], box: torch.Tensor = BOX) -> RescaledAcquisition:
    """Length-scales in sides of the box."""
    generator = torch.Generator().manual_seed(0)
    X = BOX[0] + SIDES * torch.rand(6, 3, generator=generator, dtype=torch.double)
    model = SingleTaskGP(X, X[:, 1:2].sin(), input_transform=Normalize(3, bounds=BOX)).eval()
    acqf = UpperConfidenceBound(model, tensor(4.0))
    near = Neighborhood(model, (X - BOX[0]) / SIDES, tensor(lengthscales), tensor([3.0] * 3))
    return RescaledAcquisition(acqf, box, near)


def test_a_step_of_one_is_a_length_scale() -> None:
    scaled = rescaled([0.5, 0.1, 0.25])
    torch.testing.assert_close(scaled.from_raw(BOX), tensor([[0.0] * 3, [2.0, 10.0, 4.0]]))


def test_at_most_a_side_of_the_box() -> None:
    scaled = rescaled([50.0, 0.1, 1.0])
    torch.testing.assert_close(scaled.from_raw(BOX), tensor([[0.0] * 3, [1.0, 10.0, 1.0]]))


@pytest.mark.parametrize("times", [1.0, 7.0])
def test_a_wider_box_has_the_same_lengths(times: float) -> None:
    scaled = rescaled([0.5, 0.1, 0.25], torch.stack([BOX[0], BOX[0] + times * SIDES]))
    torch.testing.assert_close(scaled.unit, SIDES * tensor([0.5, 0.1, 0.25]))


def test_values_are_the_same_there_and_back() -> None:
    scaled = rescaled([0.5, 0.1, 0.25])
    X = BOX.mean(dim=0).reshape(1, 1, 3)
    torch.testing.assert_close(scaled.to_raw(scaled.from_raw(X)), X)
    torch.testing.assert_close(scaled(scaled.from_raw(X)), scaled.acq_function(X))
