import math

import pytest
import torch
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, Log10

from botorch_ubo import ExpandingBounds
from botorch_ubo.models import default_model
from botorch_ubo.models.quick.gp import QuickGP
from botorch_ubo.strategies.hyperharmonic import hyperharmonic_factor
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import feed, random_data, rbf_model, unit_box
from tests.support.controlled import build


class TestConformance(StrategyConformance):
    method = "EI-Roaming"


def climb(n, step=1.0, d=2):
    """Points on the diagonal, each better than those before by more than is notable."""
    X = step * torch.arange(n, dtype=torch.double).unsqueeze(-1).expand(n, d)
    return X, torch.arange(n, dtype=torch.double)


def reach(box):
    return box.history[-1].details["reach"]


def test_grows_like_hubo_around_an_incumbent_amid_the_data():
    X, Y = random_data(10)
    Y[4:] = 0.5  # of no use
    X[4], Y[4] = torch.tensor([0.5, 0.5]), 2.0  # the best, and more than is notable
    box = ExpandingBounds(unit_box(), method="EI-Roaming")
    feed(box, X, Y, start=4)
    for t, record in enumerate(box.history[1:], start=2):
        assert record.details["reach"] == pytest.approx([hyperharmonic_factor(t, -1.0) / 2] * 2)
        assert torch.tensor(record.new_bounds).mean(dim=0).tolist() == pytest.approx([0.5, 0.5])


def test_goes_on_as_far_again_as_it_has_come():
    X, Y = climb(7, step=0.5)
    box = build("EI-Roaming", unit_box(), blind_limit=math.inf)  # the model was not fitted
    feed(box, X, Y, start=3)
    assert reach(box) == pytest.approx([3.0, 3.0])
    assert box.bounds.tolist() == [pytest.approx([0.0, 0.0]), pytest.approx([6.0, 6.0])]
    assert "every step; as far again as the data reach in x0, x1; sides" in str(box.history[-1])


def test_doubles_while_nothing_is_found_in_every_direction():
    X, Y = random_data(12)
    Y[:] = 0.5
    Y[0] = 1.0
    box = ExpandingBounds(unit_box(), method="EI-Roaming")
    feed(box, X, Y, start=4)
    factors = [r.details["hyperharmonic_half_widths"][0] for r in box.history]
    expected = [hyperharmonic_factor(t, -1.0) / 2 * 2 ** ((t - 1) / 2) for t in range(1, 10)]
    assert factors == pytest.approx(expected)


def test_doubling_ends_at_sixteen_times():
    X, Y = random_data(60, d=1)
    Y[:] = 0.0
    box = ExpandingBounds(unit_box(1), method="EI-Roaming", max_growth=float("inf"))
    box.update(rbf_model(X[:1], Y[:1]))
    X, Y = X.repeat(20, 1), Y.repeat(20)  # 1199 evaluations in vain
    box.update(rbf_model(X, Y))
    expected = hyperharmonic_factor(1200, -1.0) / 2 * 16
    assert reach(box) == pytest.approx([expected])


def test_minimising_is_maximising_the_negative():
    X, Y = climb(7)
    up, down = (
        ExpandingBounds(unit_box(), method="EI-Roaming", maximize=up) for up in (True, False)
    )
    feed(up, X, Y, start=3)
    feed(down, X, -Y, start=3)
    torch.testing.assert_close(up.bounds, down.bounds)


def test_follows_the_best_mean_not_the_luckiest_observation():
    X = torch.tensor([[0.1, 0.1], [0.101, 0.1], [0.1, 0.101], [0.9, 0.9], [0.901, 0.9]]).double()
    Y = torch.tensor([[3.0], [-3.0], [-3.0], [1.0], [1.0]]).double()
    model = default_model(X, Y, unit_box())
    model.likelihood.noise = 0.5
    box = ExpandingBounds(unit_box(), method="EI-Roaming")
    box.update(model.eval())
    assert box.bounds.mean(dim=0).tolist() == pytest.approx([0.9, 0.9], abs=0.01)


def test_hard_limits_are_kept_on_either_side_of_the_incumbent():
    X, Y = climb(4, step=1.0)
    limits = {0: (None, 3.0), 1: (-1.0, None)}
    box = build("EI-Roaming", unit_box(), hard_limits=limits, blind_limit=math.inf)
    feed(box, X, Y, start=3)  # the incumbent is on the limit
    assert box.bounds.tolist() == [pytest.approx([0.0, 0.0]), pytest.approx([3.0, 6.0])]
    assert box.history[-1].stopped_by_limit == ((0, "upper"),)


def test_decades_of_a_logarithmic_input():
    bounds = torch.tensor([[1e-3, 1.0], [1e-1, 10.0]], dtype=torch.double)
    generator = torch.Generator().manual_seed(0)
    unit = torch.rand(5, 2, generator=generator, dtype=torch.double)
    X = 10 ** (bounds.log10()[0] + unit * bounds.log10().diff(dim=0))
    transform = ChainedInputTransform(
        log=Log10(indices=[0, 1]), unit=Normalize(2, bounds=bounds.log10())
    )
    model = QuickGP(X, unit[:, :1], input_transform=transform).eval()
    box = ExpandingBounds(bounds, method="EI-Roaming")
    x = box.suggest(model)
    center = X[unit[:, 0].argmax()].log10()
    torch.testing.assert_close(box.bounds.log10().mean(dim=0), center)
    assert (box.bounds > 0).all() and (x >= box.bounds[0]).all() and (x <= box.bounds[1]).all()
