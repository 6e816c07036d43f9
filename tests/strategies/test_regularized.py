import math

import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo.acquisition import HingeQuadraticPenalty, QuadraticPenalty
from botorch_ubo.boxes import contains
from botorch_ubo.strategies import HyperharmonicBox, RegularizedBox
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import NOISE, random_data, rbf_model, unit_box
from tests.support.controlled import build


@pytest.mark.slow
class TestHingeConformance(StrategyConformance):
    method = "EI-H"

    def must_contain(self, box, X, Y):
        return box.initial_bounds  # without penalty


@pytest.mark.slow
class TestQuadraticConformance(StrategyConformance):
    method = "EI-Q"

    def must_contain(self, box, X, Y):
        return box.initial_bounds.mean(dim=0, keepdim=True)


def test_region_by_hand():
    # One datum y = 2: mu_max = min(theta^2 z, theta sqrt(y z)) = 2 / (1 + s^2) with z = y / (1 +
    # s^2), and the level is mu_max - y + 6 theta in units of the standard deviation, here 1.
    level = 2 / (1 + NOISE) - 2 + 6
    X, Y = torch.full((1, 2), 0.5).double(), torch.tensor([2.0]).double()
    for method, half in (
        ("EI-H", math.sqrt(0.5) * (1 + math.sqrt(level))),
        ("EI-Q", math.sqrt(level)),
    ):
        box = build(method, unit_box())
        record = box.update(rbf_model(X, Y))
        assert record.details["penalty_level"] == pytest.approx(level)
        expected = [pytest.approx([0.5 - half] * 2), pytest.approx([0.5 + half] * 2)]
        assert box.bounds.tolist() == expected


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("penalty", [HingeQuadraticPenalty, QuadraticPenalty])
def test_nothing_to_find_beyond_the_region(penalty, maximize):
    X, Y = random_data(10)
    X = 3 * X - 1
    Y = 5 * Y if maximize else -5 * Y
    box = build("EI-H", unit_box(), strategy=RegularizedBox(penalty), maximize=maximize)
    model = rbf_model(X, Y, lengthscale=0.7)
    box.update(model)
    acqf = box.method.acquisition(box.context(model))
    center, side = box.bounds.mean(dim=0), box.bounds[1] - box.bounds[0]
    points = center + 1.5 * side * (torch.rand(5000, 2, dtype=torch.double) - 0.5)
    outside = points[~contains(box.bounds, points)]
    assert len(outside) > 1000
    h = math.exp(-18) / math.sqrt(2 * math.pi) - 6 * 0.5 * math.erfc(6 / math.sqrt(2))
    with torch.no_grad():
        assert acqf(outside.unsqueeze(-2)).max() <= math.log(h) + 1e-6
        assert acqf(points.unsqueeze(-2)).max() > math.log(h) + 3


def test_the_acquisition_has_the_penalty_of_the_strategy():
    """It exists once: another strategy brings another penalty, and there is nothing to forget."""
    X, Y = random_data(4)
    model = rbf_model(X, Y)
    far = torch.tensor([[[2.5, 0.5]]]).double()
    for penalty in (HingeQuadraticPenalty, QuadraticPenalty):
        box = build("EI-H", unit_box(), strategy=RegularizedBox(penalty))
        acqf = box.method.acquisition(box.context(model))
        assert type(acqf.penalty) is penalty
        expected = penalty.from_bounds(unit_box())(far)
        torch.testing.assert_close(acqf.penalty(far), expected)


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_the_penalty_is_in_standard_deviations_of_the_outcomes(unit):
    X, Y = random_data(6)
    box = build("EI-Q", unit_box())
    acqf = box.method.acquisition(box.context(rbf_model(X, unit * Y)))
    assert float(acqf.scale) == pytest.approx(unit * float(Y.std()))


def test_without_a_penalty_there_is_no_regularized_improvement():
    box = build("EI-H", unit_box(), strategy=HyperharmonicBox())
    with pytest.raises(InputDataError, match=r"regularized_log_ei.*got HyperharmonicBox"):
        box.suggest(rbf_model(*random_data(4)))
