import math

import pytest
import torch
from botorch.exceptions.errors import UnsupportedError

from botorch_ubo.acquisition import HingeQuadraticPenalty, QuadraticPenalty
from botorch_ubo.boxes import contains
from botorch_ubo.factories import RegularizedLogEI
from botorch_ubo.methods import get_method
from botorch_ubo.strategies import RegularizedBox
from botorch_ubo.testing import StrategyConformance
from tests.strategies.helpers import NOISE, random_data, rbf_model, unit_box


class TestHingeConformance(StrategyConformance):
    def make(self, bounds, **kwargs):
        return get_method("EI-H").build(bounds, **kwargs)

    def must_contain(self, box, X, Y):
        return box.initial_bounds  # without penalty


class TestQuadraticConformance(StrategyConformance):
    def make(self, bounds, **kwargs):
        return get_method("EI-Q").build(bounds, **kwargs)

    def must_contain(self, box, X, Y):
        return box.initial_bounds.mean(dim=0, keepdim=True)


class TestPriorMeanConformance(StrategyConformance):
    def make(self, bounds, **kwargs):
        settings = {
            "strategy": RegularizedBox(variant="prior_mean"),
            "acquisition": RegularizedLogEI(variant="prior_mean"),
        }
        return get_method("EI-H").build(bounds, **{**settings, **kwargs})

    def must_contain(self, box, X, Y):
        return box.initial_bounds


def test_region_by_hand():
    # One datum y = 2: mu_max = min(theta^2 z, theta sqrt(y z)) = 2 / (1 + s^2) with z = y / (1 +
    # s^2), and the level is mu_max - y + 6 theta in units of the standard deviation, here 1.
    level = 2 / (1 + NOISE) - 2 + 6
    X, Y = torch.full((1, 2), 0.5).double(), torch.tensor([2.0]).double()
    for method, half in (
        ("EI-H", math.sqrt(0.5) * (1 + math.sqrt(level))),
        ("EI-Q", math.sqrt(level)),
    ):
        box = get_method(method).build(unit_box())
        record = box.update(rbf_model(X, Y))
        assert record.details["penalty_level"] == pytest.approx(level)
        expected = [pytest.approx([0.5 - half] * 2), pytest.approx([0.5 + half] * 2)]
        assert box.bounds.tolist() == expected


def test_region_of_a_prior_mean_by_hand():
    # One datum y = 2 where xi = 9: the regression is on y + xi = 11.
    level = 11 / (1 + NOISE) - 2 + 6
    X, Y = torch.tensor([[3.5, 0.5]]).double(), torch.tensor([2.0]).double()
    strategy = RegularizedBox(QuadraticPenalty, "prior_mean")
    record = get_method("EI-Q").build(unit_box(), strategy=strategy).update(rbf_model(X, Y))
    assert record.details["penalty_level"] == pytest.approx(level)


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("variant", ["target", "prior_mean"])
@pytest.mark.parametrize("penalty", [HingeQuadraticPenalty, QuadraticPenalty])
def test_nothing_to_find_beyond_the_region(penalty, variant, maximize):
    X, Y = random_data(10)
    X = 3 * X - 1
    Y = 5 * Y if maximize else -5 * Y
    box = get_method("EI-H").build(
        unit_box(),
        strategy=RegularizedBox(penalty, variant),
        acquisition=RegularizedLogEI(penalty, variant),
        maximize=maximize,
    )
    model = rbf_model(X, Y, lengthscale=0.7)
    box.update(model)
    acqf = box.acquisition(box.context(model))
    center, side = box.bounds.mean(dim=0), box.bounds[1] - box.bounds[0]
    points = center + 1.5 * side * (torch.rand(5000, 2, dtype=torch.double) - 0.5)
    outside = points[~contains(box.bounds, points)]
    assert len(outside) > 1000
    h = math.exp(-18) / math.sqrt(2 * math.pi) - 6 * 0.5 * math.erfc(6 / math.sqrt(2))
    with torch.no_grad():
        assert acqf(outside.unsqueeze(-2)).max() <= math.log(h) + 1e-6
        assert acqf(points.unsqueeze(-2)).max() > math.log(h) + 3


def test_unknown_variant():
    with pytest.raises(UnsupportedError, match=r"got 'multiplicative'"):
        RegularizedBox(variant="multiplicative")
