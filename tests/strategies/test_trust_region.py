import pytest
import torch
from botorch.exceptions.errors import BotorchError

from botorch_ubo.strategies import TrustRegionBox
from botorch_ubo.strategies.trust_region import TrustRegionState
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import feed, random_data, rbf_model, unit_box
from tests.support.controlled import build


@pytest.mark.slow
class TestConformance(StrategyConformance):
    method = "TuRBO-1"


UP, DOWN = 1.0, -1.0


def fold(outcomes, d=2, **arguments):
    """The state after successes (UP) and failures (DOWN)."""
    Y = [0.0]
    for outcome in outcomes:
        Y.append(max(Y) + outcome)
    return TrustRegionBox(**arguments).fold(Y, num_initial=1, d=d)


def test_counters_by_hand():
    assert fold([]) == TrustRegionState(0.8)
    assert fold([UP]) == TrustRegionState(0.8, successes=1)
    assert fold([UP, UP]) == TrustRegionState(1.6)
    assert fold([UP, DOWN]) == TrustRegionState(0.8, failures=1)
    assert fold([UP, DOWN, UP]) == TrustRegionState(0.8, successes=1)
    assert fold([DOWN] * 3) == TrustRegionState(0.8, failures=3)
    assert fold([DOWN] * 4) == TrustRegionState(0.4)  # max(4, d) failures in a row
    assert fold([DOWN] * 4, d=6) == TrustRegionState(0.8, failures=4)
    assert fold([DOWN] * 6, d=6) == TrustRegionState(0.4)
    assert fold([DOWN] * 4 + [UP, UP]) == TrustRegionState(0.8)


def test_length_has_a_ceiling_and_starts_again_below_its_floor():
    assert fold([UP] * 40) == TrustRegionState(16.0)
    assert fold([UP] * 6, success_tolerance=3, length_max=1.6) == TrustRegionState(1.6)
    assert fold([DOWN] * 24) == TrustRegionState(0.8 / 64)  # 0.0125 >= 2^-7
    assert fold([DOWN] * 28) == TrustRegionState(0.8)


def test_a_success_is_an_improvement_of_a_thousandth_of_a_standard_deviation():
    region = TrustRegionBox()
    assert region.fold([100.0, 100.0005], 1, 2) == TrustRegionState(0.8, failures=1)
    assert region.fold([100.0, 100.0015], 1, 2) == TrustRegionState(0.8, successes=1)
    # measured from the best so far, also when a small gain did not count
    assert region.fold([100.0, 100.0009, 100.0018], 1, 2) == TrustRegionState(0.8, failures=2)


@pytest.mark.parametrize("maximize", [True, False])
def test_box_is_centred_on_the_incumbent_and_may_leave_the_first_box(maximize):
    X, Y = random_data(7)
    X[6] = torch.tensor([3.0, -1.0])
    Y[6] = Y[:6].max() + 1
    box = build("TuRBO-1", unit_box(), maximize=maximize)
    feed(box, X, Y if maximize else -Y, start=6)
    assert box.bounds.tolist() == [pytest.approx([2.6, -1.4]), pytest.approx([3.4, -0.6])]
    assert box.history[-1].details == {"length": 0.8, "successes": 1, "failures": 0}


def test_sides_follow_the_lengthscales_at_equal_volume():
    X, Y = random_data(6)
    model = rbf_model(X, Y)
    model.covar_module.lengthscale = torch.tensor([[0.5, 2.0]])
    box = build("TuRBO-1", unit_box())
    box.update(model)
    # 0.5 and 2 have product 1, so they are the weights
    assert (box.bounds[1] - box.bounds[0]).tolist() == pytest.approx([0.4, 1.6])


@pytest.mark.parametrize("arguments", [{"length": 0.0}, {"length": 20.0}, {"success_tolerance": 0}])
def test_bad_arguments(arguments):
    with pytest.raises(BotorchError, match="Expected"):
        TrustRegionBox(**arguments)
