import pytest
import torch

from botorch_ubo.testing import StrategyConformance, make_data, run
from tests.support.by_hand import feed, random_data, unit_box
from tests.support.controlled import FAST, build


@pytest.mark.slow
class TestConformance(StrategyConformance):
    method = "EI-Vanilla"


def test_the_box_stays():
    box = build("EI-Vanilla", unit_box())
    records = feed(box, *random_data(10), start=6)
    assert records == [None] * 5
    assert torch.equal(box.bounds, unit_box())


def test_ucb_counts_steps_of_the_run():
    bounds, X, Y = make_data(2)
    box = build("GPUCB-Vanilla", bounds, **FAST)
    assert [box.context(step.model).t_local for step in run(box, X, Y, 3)] == [1, 2, 3]
