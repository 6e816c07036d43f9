import math

import pytest
import torch
from botorch.exceptions.errors import BotorchError

from botorch_ubo.policies.beta import HyperharmonicBeta
from botorch_ubo.policies.view import ModelView
from botorch_ubo.strategies import HyperharmonicBox
from botorch_ubo.strategies.hyperharmonic import hyperharmonic_factor
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import feed, random_data, rbf_model, unit_box
from tests.support.controlled import build


@pytest.mark.slow
class TestConformance(StrategyConformance):
    method = "HuBO"


def test_factor_by_hand():
    assert [hyperharmonic_factor(t, -1.0) for t in (1, 2, 3, 4)] == pytest.approx(
        [2, 2.5, 2 + 5 / 6, 3 + 1 / 12]
    )
    assert hyperharmonic_factor(4, -0.5) == pytest.approx(2 + 2**-0.5 + 3**-0.5 + 0.5)


@pytest.mark.parametrize("method", ["HuBO", "HuBO-EI"])
def test_side_is_side_0_times_1_plus_H_t(method):
    bounds = torch.tensor([[0.0, -1.0], [1.0, 3.0]], dtype=torch.double)
    box = build(method, bounds)
    X, Y = random_data(15)
    for t, n in enumerate(range(6, 16), start=1):
        box.update(rbf_model(X[:n], Y[:n]))
        factor = 1 + sum(1 / j for j in range(1, t + 1))
        assert (box.bounds[1] - box.bounds[0]).tolist() == pytest.approx([factor, 4 * factor])
        assert torch.allclose(box.bounds.mean(dim=0), X[Y[:n].argmax()])


def test_centre_is_the_allowed_point_closest_to_the_incumbent():
    X, Y = random_data(6)
    X[3], Y[3] = torch.tensor([9.0, 0.3]), 2.0  # the allowed set is [-4.5, 5.5]^2
    box = build("HuBO", unit_box())
    feed(box, X, Y, start=6)
    assert box.bounds.mean(dim=0).tolist() == pytest.approx([5.5, 0.3])
    narrow = build("HuBO", unit_box(), strategy=HyperharmonicBox(center_span=1.0))
    feed(narrow, X, Y, start=6)
    assert narrow.bounds.mean(dim=0).tolist() == pytest.approx([1.0, 0.3])


def test_beta_by_hand_and_with_the_step_of_the_run():
    X, Y = random_data(6)
    model = rbf_model(X, Y, lengthscale=0.5)
    view = ModelView(model, unit_box())
    sides, t, d = torch.tensor([2.0, 3.0]).double(), 4, 2
    slope = math.sqrt(2) / 0.5 / float(Y.std())  # sqrt(2) theta / l in standard deviations
    root = math.sqrt(math.log(4 * d / 0.1))
    grid = sum(math.log(d * t * slope * w * root) for w in (2.0, 3.0))
    expected = 2 * math.log(4 * math.pi**2 * t**2 / 6 / 0.1) + 4 * grid
    assert HyperharmonicBeta(scale=1.0)(t, sides, view) == pytest.approx(expected)
    assert HyperharmonicBeta()(t, sides, view) == pytest.approx(expected / 5)
    box = build("HuBO", unit_box())
    X, Y = random_data(9)
    feed(box, X, Y, start=6)
    context = box.context(rbf_model(X, Y))
    assert context.t_local == 1 and context.t == 4
    assert box.method.acquisition(context).beta == context.confidence.beta_of_run
    assert context.confidence.beta_of_run == context.confidence.beta_in(context.box, 4)


@pytest.mark.parametrize("arguments", [{"alpha": 0.0}, {"alpha": -1.1}, {"center_span": 0.5}])
def test_bad_arguments(arguments):
    with pytest.raises(BotorchError, match="Expected -1 <= alpha < 0"):
        HyperharmonicBox(**arguments)
