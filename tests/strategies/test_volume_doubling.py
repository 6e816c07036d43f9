import math

import pytest
import torch
from botorch.exceptions.errors import BotorchError

from botorch_ubo.boxes import log_volume
from botorch_ubo.strategies import VolumeDoublingBox
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import feed, random_data, unit_box
from tests.support.controlled import build


@pytest.mark.slow
class TestConformance(StrategyConformance):
    method = "EI-Volx2"


@pytest.mark.parametrize("method", ["EI-Volx2", "GPUCB-Volx2"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_volume_doubles_exactly_every_3d_evaluations(method, d):
    box = build(method, unit_box(d))
    start = 3 * d
    records = feed(box, *random_data(start + 9 * d, d), start=start)
    moved = [i for i, record in enumerate(records) if record is not None]
    assert moved == [3 * d, 6 * d, 9 * d]  # evaluations after the initial ones
    assert log_volume(box.bounds) == pytest.approx(3 * math.log(2), abs=1e-12)
    # three doublings multiply each side by 2^(3/d), about the centre
    half = 2 ** (3 / d) / 2
    expected = torch.tensor([[0.5 - half] * d, [0.5 + half] * d], dtype=torch.double)
    assert torch.allclose(box.bounds, expected, rtol=0, atol=1e-12)


def test_sides_keep_their_proportions():
    bounds = torch.tensor([[0.0, -2.0], [1.0, 2.0]], dtype=torch.double)
    box = build("EI-Volx2", bounds)
    X, Y = random_data(12)
    feed(box, X, Y, start=6)
    root = math.sqrt(2)
    assert (box.bounds[1] - box.bounds[0]).tolist() == pytest.approx([root, 4 * root])


def test_another_factor_and_a_bad_one():
    box = build("EI-Volx2", unit_box(), strategy=VolumeDoublingBox(factor=9.0))
    feed(box, *random_data(12), start=6)
    assert (box.bounds[1] - box.bounds[0]).tolist() == pytest.approx([3.0, 3.0])
    with pytest.raises(BotorchError, match="Expected a finite factor above 1; got 1"):
        VolumeDoublingBox(factor=1)
