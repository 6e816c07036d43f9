"""Algebra of boxes, and what is refused as one."""

import math

import pytest
import torch
from botorch.exceptions.errors import InputDataError
from hypothesis import given, settings
from hypothesis import strategies as st

from botorch_ubo.boxes import (
    cap_growth,
    cast_inward,
    check_bounds,
    check_inside,
    clip,
    contains,
    fit_inside,
    hull,
    log_volume,
    pad,
    parse_hard_limits,
    scale_about_center,
)
from tests.support.gps import tensor

UNIT = tensor([[0.0, 0.0], [1.0, 1.0]])
INF = math.inf


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_check_bounds_copies(dtype):
    bounds = UNIT.clone().to(dtype).requires_grad_()
    checked = check_bounds(bounds)
    assert torch.equal(checked, bounds) and checked.dtype == dtype
    assert checked.data_ptr() != bounds.data_ptr() and not checked.requires_grad


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([(0, 1), (0, 1)], "2 x d tensor; got list. Use"),
        (torch.zeros(3, 2), r"got \(3, 2\).*needs `.T`"),
        (torch.zeros(2), "shape 2 x d"),
        (torch.zeros(2, 0), "shape 2 x d"),
        (torch.tensor([[0], [1]]), "floating point.*int64.*double"),
        (tensor([[0.0], [INF]]), "Expected finite.*inf.*`hard_limits`"),
        (tensor([[math.nan], [1.0]]), "Expected finite"),
        (tensor([[0.0, 1.0], [1.0, 1.0]]), r"lower < upper.*dimension\(s\) \[1\]"),
    ],
)
def test_check_bounds_refuses(bounds, message):
    with pytest.raises(InputDataError, match=f"(?s){message}") as caught:
        check_bounds(bounds, "box")
    assert "Expected" in str(caught.value) and "`box`" in str(caught.value)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (None, [[-INF, -INF], [INF, INF]]),
        ({1: (0, None)}, [[-INF, 0.0], [INF, INF]]),
        ([(None, 2), (-1, INF)], [[-INF, -1.0], [2.0, INF]]),
        (tensor([[0.0, -INF], [1.0, 5.0]]).float(), [[0.0, -INF], [1.0, 5.0]]),
    ],
)
def test_parse_hard_limits(limits, expected):
    parsed = parse_hard_limits(limits, 2)
    assert parsed.dtype == torch.double and torch.equal(parsed, tensor(expected))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (torch.zeros(3, 2), r"2 x 2; got \(3, 2\)"),
        ([(0, 1)], "per dimension .2.; got 1. Use a dict"),
        ({2: (0, 1)}, "dimensions 0 to 1.*got 2"),
        ({-1: (0, 1)}, "dimensions 0 to 1.*got -1"),
        ({0: (1, 1)}, "lower < upper.*Use None"),
        ({0: (math.nan, 1)}, "without NaN"),
        ({0: ([], 1)}, "pair per dimension, or a 2 x d tensor; got {0:"),
        ({0: ("0", "1")}, "is a text"),
        ({"x": (0, 1)}, "as a dict"),
        (["01", "23"], "is a text"),
        ({0: 5.0}, "as a dict"),
        (5.0, "as a dict.*got 5.0"),
    ],
)
def test_parse_hard_limits_refuses(limits, message):
    with pytest.raises(InputDataError, match=f"(?s){message}"):
        parse_hard_limits(limits, 2)


def test_check_inside():
    limits = tensor([[0.0, -INF], [1.0, INF]])
    check_inside(tensor([[0.0, 1e300], [1.0, -5.0]]), limits, "X")
    for bad in ([[0.5, 0.0], [1.1, 0.0]], [[0.5, 0.0], [0.5, math.nan]], [[0.0, 0.0], [0.0, INF]]):
        with pytest.raises(InputDataError, match=r"Expected X to be finite.*row 1.*Correct"):
            check_inside(tensor(bad), limits, "X")


def test_hand_numbers():
    other = tensor([[-1.0, 0.5], [0.5, 0.7]])
    assert torch.equal(hull(UNIT, other), tensor([[-1.0, 0.0], [1.0, 1.0]]))
    assert torch.equal(hull(tensor([[3.0, 1.0], [2.0, 5.0], [2.5, 0.0]])), tensor([[2, 0], [3, 5]]))
    assert torch.equal(pad(UNIT, tensor([1.0, 2.0])), tensor([[-1.0, -2.0], [2.0, 3.0]]))
    assert torch.equal(clip(other, UNIT), tensor([[0.0, 0.5], [0.5, 0.7]]))
    assert torch.equal(scale_about_center(UNIT, 3.0), tensor([[-1.0, -1.0], [2.0, 2.0]]))
    assert log_volume(2 * UNIT) == pytest.approx(2 * math.log(2))
    assert log_volume(1e200 * UNIT) == pytest.approx(400 * math.log(10))
    wide = tensor([[-9.0, -0.1], [1.5, 9.0]])
    assert torch.equal(cap_growth(wide, UNIT, 2.0), tensor([[-2.0, -0.1], [1.5, 3.0]]))
    inside = contains(UNIT, tensor([[[0.0, 1.0], [0.5, 1.01]], [[-0.1, 0.5], [0.5, 0.5]]]))
    assert inside.tolist() == [[True, False], [False, True]]


def test_fit_inside():
    limits = tensor([[0.0, -INF], [INF, 1.0]])
    box = tensor([[-5.0, 3.0], [-3.0, 7.0]])
    # centres go to 0 and 1, then half of either side is cut off
    moved = tensor([[0.0, -1.0], [1.0, 1.0]])
    assert torch.equal(fit_inside(box, limits), moved)
    assert torch.equal(fit_inside(UNIT, limits), UNIT)
    # what overlaps is cut, each dimension by itself, also in a batch
    overlapping = tensor([[-5.0, 0.0], [3.0, 7.0]])
    cut = tensor([[0.0, 0.0], [3.0, 1.0]])
    assert torch.equal(fit_inside(overlapping, limits), cut)
    both = fit_inside(torch.stack([box, overlapping]), limits)
    assert torch.equal(both, torch.stack([moved, cut]))


def test_fit_inside_near_the_largest_number():
    """Twice the centre is more than there is."""
    limits = tensor([[-1e308], [INF]])
    box = tensor([[-1.5e308], [-1.1e308]])
    fitted = fit_inside(box, limits)
    assert fitted[0].item() == -1e308 and -1e308 < fitted[1].item() < -0.7e308


COORDINATE = st.floats(-1e6, 1e6)
BOXES = st.lists(st.tuples(COORDINATE, COORDINATE).map(sorted), min_size=2, max_size=2).map(
    lambda pairs: tensor(pairs).T
)


@settings(max_examples=50)
@given(BOXES, BOXES, st.floats(0.0, 1e3))
def test_hull_and_cap_contain(box, other, growth):
    both = hull(box, other)
    assert contains(both, box).all() and contains(both, other).all()
    capped = cap_growth(both, box, growth)
    assert contains(both, capped).all() and contains(capped, box).all()
    reach = growth * (box[1] - box[0])
    assert (capped[0] >= box[0] - reach).all() and (capped[1] <= box[1] + reach).all()


@settings(max_examples=50)
@given(BOXES)
def test_cast_inward(box):
    box = pad(box, torch.ones(2).double())
    single = cast_inward(box, torch.empty(0))
    assert single.dtype == torch.float
    assert contains(box, single.double()).all()
    assert torch.allclose(single.double(), box, rtol=1e-6)
    assert torch.equal(cast_inward(box, torch.empty(0, dtype=torch.double)), box)


def test_cast_inward_of_what_single_precision_cannot_hold():
    single = cast_inward(tensor([[-1e300], [1e300]]), torch.empty(0))
    assert single.isfinite().all()
