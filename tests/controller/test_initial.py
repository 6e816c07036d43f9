"""Initial points in and around the guess."""

from dataclasses import replace

import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import ExpandingBounds, get_method
from botorch_ubo.boxes import contains, scale_about_center
from botorch_ubo.controller.initial import usual_num_initial
from tests.support.by_hand import unit_box


def inside(box, X):
    return [bool(contains(box, x.unsqueeze(0)).all()) for x in X]


def test_the_first_are_in_the_box_and_others_around_it():
    box = ExpandingBounds(unit_box(3), seed=2)
    X = box.initial_points(40)
    assert X.shape == (40, 3)
    assert all(inside(unit_box(3), X[:4]))
    wide = scale_about_center(unit_box(3), 3.0)
    assert all(inside(wide, X)) and not all(inside(scale_about_center(unit_box(3), 2.5), X))
    # evenly in the wide box: about one in 27 falls into the first
    assert sum(inside(unit_box(3), X[4:])) <= 6


def test_the_first_of_more_are_the_same():
    box = ExpandingBounds(unit_box(2))
    X = box.initial_points(9)
    for n in range(9):
        assert torch.equal(box.initial_points(n), X[:n])


def test_other_methods_stay_in_the_box():
    X = ExpandingBounds(unit_box(2), method="GPUCB-UBO").initial_points(20)
    assert all(inside(unit_box(2), X))


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_hard_limits_are_kept_without_crowding_them(dtype):
    limits = torch.tensor([[0.0, -0.1], [1.0, torch.inf]], dtype=torch.double)
    box = ExpandingBounds(unit_box(2).to(dtype), hard_limits=limits)
    X = box.initial_points(60)
    assert X.dtype == dtype
    assert all(inside(limits, X.double()))
    assert X[:, 0].unique().numel() == 60 and (X[:, 1] > 1).any()


def test_a_span_below_one_is_refused():
    with pytest.raises(InputDataError, match=r"at least 1; got 0\.5"):
        replace(get_method("EI-UBO"), initial_span=0.5)


def test_usual_number_is_three_per_dimension_up_to_ten() -> None:
    found = {d: usual_num_initial(d) for d in (1, 2, 10, 11, 50, 100)}
    assert found == {1: 3, 2: 6, 10: 30, 11: 30, 50: 30, 100: 30}
