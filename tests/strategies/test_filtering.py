import math

import pytest
import torch
from botorch.exceptions.errors import BotorchError

from botorch_ubo.boxes import contains, hull, log_volume, scale_about_center
from botorch_ubo.policies.beta import ConstantBeta
from botorch_ubo.strategies import FilteringBox
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import feed, random_data, rbf_model, unit_box
from tests.support.controlled import FAST, build


@pytest.mark.slow
class TestConformance(StrategyConformance):
    method = "GPUCB-FBO"

    def must_contain(self, box, X, Y):
        return hull(box.initial_bounds, X)


def make(budget, **kwargs):
    strategy = FilteringBox(budget=budget)
    return build("GPUCB-FBO", unit_box(), strategy=strategy, **FAST, **kwargs)


def test_volume_factor_is_T_over_t_and_stops_at_T():
    box = make(budget=3)  # T = 6 + 3
    X, Y = random_data(11)
    records = feed(box, X, Y, start=6)
    factors = [record.details["volume_factor"] for record in records]
    assert factors == pytest.approx([9 / 6, 9 / 7, 9 / 8, 1, 1, 1])
    assert torch.equal(box.bounds, unit_box())  # no growth, all data inside
    by_default = build("GPUCB-FBO", unit_box(), **FAST)
    feed(by_default, X[:6], Y[:6], start=6)
    assert by_default.history[-1].details["volume_factor"] == pytest.approx((6 + 20) / 6)


def test_where_all_is_possible_the_box_grows_to_its_full_size():
    box = make(budget=14)
    X, Y = random_data(6)
    feed(box, X, Y / 100, start=6)  # as good as no information: UCB is high everywhere
    side = math.sqrt(20 / 6)  # 1.83, the first step for d = 2 at T = 20
    grown = scale_about_center(unit_box(), side)
    assert log_volume(grown) == pytest.approx(math.log(20 / 6))
    assert contains(grown, box.bounds).all() and contains(box.bounds, unit_box()).all()
    assert torch.allclose(box.bounds, grown, atol=0.01)  # samples come close to the faces


def test_where_the_optimum_cannot_be_is_filtered_out():
    X, _ = random_data(12)
    Y = 4 * X[:, 0]  # the best values are on the right
    box = make(budget=12, beta=ConstantBeta(0.05))  # confident bounds
    feed(box, X, Y, start=12)
    assert float(box.bounds[0, 0]) == 0.0
    assert float(box.bounds[1, 0]) > 1.05
    kept = box.history[-1].details["num_kept"]
    assert 0 < kept < 600  # of 1000 samples


def test_the_kept_box_is_the_hull_of_first_box_and_data():
    X, Y = random_data(7)
    X[6] = torch.tensor([1.5, -0.25])
    box = make(budget=1)
    feed(box, X, Y, start=6)  # at T: the kept box itself
    assert box.bounds.tolist() == [[0.0, -0.25], [1.5, 1.0]]


def test_searched_with_the_beta_of_the_run():
    X, Y = random_data(9)
    box = make(budget=20)
    feed(box, X, Y, start=6)
    context = box.context(rbf_model(X, Y))
    assert box.method.acquisition(context).beta == pytest.approx(
        context.confidence.beta_in(context.box, 4)
    )


@pytest.mark.parametrize("arguments", [{"budget": 0}, {"num_samples": 0}])
def test_bad_arguments(arguments):
    with pytest.raises(BotorchError, match="Expected a positive budget"):
        FilteringBox(**arguments)
