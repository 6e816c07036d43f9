import math

import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo.acquisition import HingeQuadraticPenalty, QuadraticPenalty

BOX = torch.tensor([[0.0, -1.0], [3.0, 3.0]], dtype=torch.double)  # centre (1.5, 1), diagonal 5
PENALTIES = [HingeQuadraticPenalty, QuadraticPenalty]


def test_hinge_by_hand():
    penalty = HingeQuadraticPenalty.from_bounds(BOX)  # radius 2.5
    along = torch.tensor([[1.5, 1.0], [4.0, 1.0], [6.5, 1.0], [9.0, 1.0]], dtype=torch.double)
    assert penalty(along).tolist() == pytest.approx([0, 0, 1, 4])  # centre, R, 2R, 3R
    wider = HingeQuadraticPenalty(BOX.mean(dim=0), radius=2.5, width=2.0)
    assert wider(along).tolist() == pytest.approx([0, 0, 0.25, 1])


def test_quadratic_by_hand():
    penalty = QuadraticPenalty.from_bounds(BOX)
    points = torch.tensor([[1.5, 1.0], [4.5, 1.0], [1.5, 9.0], [4.5, 5.0]], dtype=torch.double)
    assert penalty(points).tolist() == pytest.approx([0, 1, 4, 2])


def test_hinge_is_continuous_with_continuous_slope_at_R():
    penalty = HingeQuadraticPenalty.from_bounds(BOX)
    direction = torch.tensor([0.6, 0.8], dtype=torch.double)
    values, slopes = [], []
    for distance in (2.5 - 1e-9, 2.5, 2.5 + 1e-9):
        X = (penalty.center + distance * direction).requires_grad_()
        value = penalty(X)
        (gradient,) = torch.autograd.grad(value, X)
        values.append(float(value.detach()))
        slopes.append(float(gradient @ direction))
    assert values == pytest.approx([0, 0, 0], abs=1e-15)
    assert slopes == pytest.approx([0, 0, 0], abs=1e-8)
    # and the slope grows from there: 2 (r - R) / R^2
    X = (penalty.center + 3.5 * direction).requires_grad_()
    (gradient,) = torch.autograd.grad(penalty(X), X)
    assert float(gradient @ direction) == pytest.approx(2 / 2.5**2)


@pytest.mark.parametrize("kind", PENALTIES)
def test_gradient_at_the_centre_is_zero(kind):
    penalty = kind.from_bounds(BOX)
    X = penalty.center.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(penalty(X), X)
    assert gradient.tolist() == [0, 0]


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("level", [0.5, 7.0])
def test_level_box_is_the_smallest_around_the_level_set(kind, level):
    penalty = kind.from_bounds(BOX)
    box = penalty.level_box(level)
    center = penalty.center
    for j in range(2):  # the faces touch the level set on the axes
        for row in range(2):
            point = center.clone()
            point[j] = box[row, j]
            assert float(penalty(point)) == pytest.approx(level)
    angles = torch.linspace(0, 2 * math.pi, 50, dtype=torch.double)
    far = center + 100 * torch.stack([angles.cos(), angles.sin()], dim=-1)
    assert (penalty(far) > level).all()


def test_batches_dtypes_and_bad_arguments():
    for dtype in (torch.float, torch.double):
        penalty = HingeQuadraticPenalty.from_bounds(BOX.to(dtype))
        value = penalty(torch.rand(4, 1, 2, dtype=dtype))
        assert value.shape == (4, 1) and value.dtype == dtype
    with pytest.raises(InputDataError, match="positive radius and width; got radius=0"):
        HingeQuadraticPenalty(BOX[0], 0.0)
    with pytest.raises(InputDataError, match=r"one positive width per dimension of the center \(2"):
        QuadraticPenalty(BOX[0], torch.ones(3))
