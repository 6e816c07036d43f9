import torch

from botorch_ubo.methods import get_method
from botorch_ubo.testing import StrategyConformance, make_data, run
from tests.strategies.helpers import feed, random_data, unit_box


class TestConformance(StrategyConformance):
    def make(self, bounds, **kwargs):
        return get_method("EI-Vanilla").build(bounds, **kwargs)


def test_the_box_stays():
    box = get_method("EI-Vanilla").build(unit_box())
    records = feed(box, *random_data(10), start=6)
    assert records == [None] * 5
    assert torch.equal(box.bounds, unit_box())


def test_ucb_counts_steps_of_the_run():
    bounds, X, Y = make_data(2)
    box = get_method("GPUCB-Vanilla").build(bounds, num_restarts=2, raw_samples=32)
    assert [box.context(step.model).t_local for step in run(box, X, Y, 3)] == [1, 2, 3]
