"""The default's boxes with several objectives, by hand."""

import math
from dataclasses import replace

import torch
from botorch.acquisition import AcquisitionFunction
from torch import Tensor

from botorch_ubo import ExpandingBounds
from botorch_ubo.methods import get_method
from tests.policies.test_goal_view import BOTH, models
from tests.support.controlled import UNIT
from tests.support.gps import tensor

X = tensor([[0.1, 0.5], [0.9, 0.5], [0.5, 0.5]])
Y = tensor([[3.0, 1.0], [1.0, 3.0], [0.0, 0.0]])  # the last is dominated
# Three data show no structure, for which the box would be held back.
UNGUARDED = replace(get_method("EI-Turns"), blind_limit=math.inf)


class _Sum(AcquisitionFunction):
    """The sum of all inputs: its maximiser is the upper corner of what is searched."""

    def forward(self, X: Tensor) -> Tensor:
        return X.sum(dim=(-2, -1))


def test_the_boxes_are_around_the_whole_front() -> None:
    """Its ends are at the edge of the data, and may go on as far again."""
    box = ExpandingBounds(UNIT, method=UNGUARDED, objective=BOTH)
    record = box.update(models(Y, X))
    assert record is not None and box.state.boxes is not None
    # At the first step every point reaches a side, HuBO's (1 + 1) / 2, on either side.
    # The other end of the front, 0.8 away, asks for less.
    near, wide = box.state.boxes
    torch.testing.assert_close(near, tensor([[-0.9, -0.5], [1.9, 1.5]]))
    # Four sides beyond each point.
    torch.testing.assert_close(wide, tensor([[-3.9, -3.5], [4.9, 4.5]]))
    assert torch.equal(box.bounds, wide)
    assert record.details["front"] == [0, 1]
    assert "around the front" in record.details["why"]


def test_the_wide_box_is_not_narrower_than_the_near_one() -> None:
    """The ends of a front six sides apart may go on by as much."""
    far = X * tensor([6.0, 1.0])
    box = ExpandingBounds(UNIT, method=UNGUARDED, objective=BOTH)
    box.update(models(Y, far))
    assert box.state.boxes is not None
    near, wide = box.state.boxes
    torch.testing.assert_close(near[:, 0], tensor([0.6 - 4.8, 5.4 + 4.8]))
    torch.testing.assert_close(wide[:, 0], near[:, 0])
    torch.testing.assert_close(wide[:, 1], tensor([-3.5, 4.5]))


def test_they_take_turns_within_the_limits() -> None:
    limits = tensor([[0.0, 0.0], [3.0, 3.0]])
    box = ExpandingBounds(UNIT, objective=BOTH, hard_limits=limits)
    box.update(models(Y, X))
    assert box.state.boxes is not None
    torch.testing.assert_close(box.state.boxes[0], tensor([[0.0, 0.0], [1.9, 1.5]]))
    torch.testing.assert_close(box.state.boxes[1], limits)

    first = box.suggest(models(Y, X), _Sum)
    torch.testing.assert_close(first, tensor([[1.9, 1.5]]))
    later = torch.cat([X, tensor([[0.5, 0.6]])])
    second = box.suggest(models(torch.cat([Y, 0 * Y[:1]]), later), _Sum)
    torch.testing.assert_close(second, limits[1:])


def test_what_a_limit_cuts_off_the_wide_box_has_on_the_other_side() -> None:
    limits = tensor([[0.0, -10.0], [10.0, 10.0]])
    box = ExpandingBounds(UNIT, method=UNGUARDED, objective=BOTH, hard_limits=limits)
    record = box.update(models(Y, X))
    # 0.1 - 4 is beyond the limit by 3.9, 0.9 + 4 is the upper end without it.
    torch.testing.assert_close(box.bounds, tensor([[0.0, -3.5], [4.9 + 3.9, 4.5]]))
    assert record is not None and record.stopped_by_limit == ((0, "lower"),)
