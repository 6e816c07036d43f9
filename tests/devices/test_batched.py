"""Many runs on a device: the same points as on the CPU, and nothing leaves it inside a step."""

import pytest
import torch
from torch import Tensor

from benchmarks.runs.operations import Operations
from botorch_ubo import BatchedRuns
from tests.support.on_devices import DEVICES, assert_on

METHODS = ["EI-Turns", "GPUCB-UBO"]


def _fails_on_the_right(X: Tensor) -> Tensor:
    values = (X - 0.8).square().sum(dim=-1)
    return torch.where(X[:, 0] > 1.2, torch.full_like(values, torch.nan), values)


def _runs(device: str, method: str = "EI-Turns", dtype: torch.dtype = torch.double) -> BatchedRuns:
    options = {"method": method, "dtype": dtype, "device": device}
    return BatchedRuns([(0.0, 1.0)], 3, hard_limits={0: (-2.0, 1.5)}, **options)


def _advance(runs: BatchedRuns, count: int) -> list[Tensor]:
    points = []
    for _ in range(count):
        points.append(runs.ask())
        runs.tell(_fails_on_the_right(points[-1]))
    return points


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("device", DEVICES)
def test_points_are_those_of_the_cpu(device, method):
    found = _advance(_runs(device, method), 5)
    expected = _advance(_runs("cpu", method), 5)
    for there, here in zip(found, expected, strict=True):
        assert_on(device, torch.double, there)
        torch.testing.assert_close(there.cpu(), here, atol=1e-5, rtol=0)


@pytest.mark.parametrize("device", DEVICES)
def test_no_tensor_leaves_the_device_inside_a_step(device):
    runs = _runs(device)
    _advance(runs, 3)
    with Operations() as count:
        points = runs.ask()
        runs.tell(_fails_on_the_right(points))
    assert count.left == 0 and count.launched > 100
    with Operations() as count:
        points.cpu()
    assert count.left == 1  # or the line above could not fail
    assert_on(device, torch.double, points, runs.bounds, runs.results().best_X)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["EI-Turns", "EI-UBO"])
@pytest.mark.parametrize("device", DEVICES)
def test_single_precision_stays_single(device, method):
    points = _advance(_runs(device, method, torch.float), 4)
    assert_on(device, torch.float, *points)
    assert all(X.isfinite().all() for X in points)
