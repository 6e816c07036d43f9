"""The default's box with several objectives, by hand."""

import torch

from botorch_ubo import ExpandingBounds
from tests.policies.test_goal_view import BOTH, models
from tests.support.controlled import UNIT
from tests.support.gps import tensor


def test_the_box_is_around_the_whole_front() -> None:
    """Its ends are at the edge of the data, and may go on as far again."""
    X = tensor([[0.1, 0.5], [0.9, 0.5], [0.5, 0.5]])
    Y = tensor([[3.0, 1.0], [1.0, 3.0], [0.0, 0.0]])  # the last is dominated
    box = ExpandingBounds(UNIT, objective=BOTH)
    record = box.update(models(Y, X))
    assert record is not None
    # At the first step every point reaches a side, HuBO's (1 + 1) / 2, on either side.
    # The other end of the front, 0.8 away, asks for less.
    torch.testing.assert_close(box.bounds, tensor([[-0.9, -0.5], [1.9, 1.5]]))
    assert record.details["front"] == [0, 1]
    assert "around the front" in record.details["why"]


def test_every_candidate_is_sought_in_it() -> None:
    X = tensor([[0.1, 0.5], [0.9, 0.5], [0.5, 0.1]])
    box = ExpandingBounds(UNIT, objective=BOTH)
    box.update(models(tensor([[3.0, 1.0], [1.0, 3.0], [0.0, 0.0]]), X))
    assert box.state.boxes is None  # no trust region takes turns
