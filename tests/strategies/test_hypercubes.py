import pytest
import torch
from botorch.exceptions.errors import BotorchError

from botorch_ubo.boxes import contains
from botorch_ubo.strategies import HypercubeBoxes
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import feed, random_data, rbf_model, unit_box
from tests.support.controlled import build


@pytest.mark.slow
class TestConformance(StrategyConformance):
    method = "HD-HuBO-EI"


def cubes_of(box, X, Y):
    return box.context(rbf_model(X, Y)).search_boxes


@pytest.mark.parametrize("method", ["HD-HuBO", "HD-HuBO-EI"])
def test_as_many_cubes_as_steps_within_the_hyperharmonic_box(method):
    bounds = torch.tensor([[0.0, -1.0], [1.0, 3.0]], dtype=torch.double)
    box, wide = build(method, bounds), build("HuBO", bounds)
    X, Y = random_data(12)
    for t, n in enumerate(range(6, 13), start=1):
        feed(box, X[:n], Y[:n], start=n)
        feed(wide, X[:n], Y[:n], start=n)
        assert torch.equal(box.bounds, wide.bounds)
        cubes = cubes_of(box, X[:n], Y[:n])
        assert cubes.shape == (t, 2, 2)
        sides = cubes[:, 1] - cubes[:, 0]
        assert (sides <= torch.tensor([0.1, 0.4]) + 1e-12).all()  # cut where X_t ends
        assert (sides > 0).all()
        assert contains(box.bounds, cubes).all()


def test_cubes_are_drawn_anew_and_repeatably():
    X, Y = random_data(7)
    drawn = []
    for seed in (0, 0, 1):
        box = build("HD-HuBO", unit_box(), seed=seed)
        for n in (6, 7):
            feed(box, X[:n], Y[:n], start=n)
            drawn.append(cubes_of(box, X[:n], Y[:n]))
    first, second, same_first, same_second, other_first, _ = drawn
    assert torch.equal(first, same_first) and torch.equal(second, same_second)
    assert not torch.equal(first, second[:1]) and not torch.equal(first, other_first)


def test_number_and_size_are_arguments():
    strategy = HypercubeBoxes(count=3, count_growth=0.5, side=0.25)
    box = build("HD-HuBO", unit_box(), strategy=strategy)
    X, Y = random_data(7)
    feed(box, X, Y, start=6)
    cubes = cubes_of(box, X, Y)
    assert len(cubes) == 5  # ceil(3 sqrt(2))
    assert (cubes[:, 1] - cubes[:, 0]).max() == pytest.approx(0.25)


def test_cubes_do_not_crowd_a_hard_limit():
    box = build(
        "HD-HuBO", unit_box(), hard_limits={0: (0.0, 1.0)}, strategy=HypercubeBoxes(count=200)
    )
    X, Y = random_data(6)
    feed(box, X, Y, start=6)
    centers = cubes_of(box, X, Y).mean(dim=1)
    assert 0.2 < float(centers[:, 0].std()) < 0.35  # uniform on (0, 1): 0.29


@pytest.mark.parametrize("arguments", [{"count": 0}, {"count_growth": -1}, {"side": 0.0}])
def test_bad_arguments(arguments):
    with pytest.raises(BotorchError, match="Expected count >= 1"):
        HypercubeBoxes(**arguments)
