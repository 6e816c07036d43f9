"""Kernel launches of a step: few, and no more for many runs than for few."""

import pytest
import torch

from benchmarks.runs.operations import Operations
from botorch_ubo.models.batched import groups
from botorch_ubo.run.batched.step import suggest_batched
from tests.support.batches import data, problem, state

MOST = 5000  # 54 evaluations of 60 to 70 each, and what is beside them


@pytest.fixture(autouse=True)
def _all_runs_together(monkeypatch):
    """As a device is given them, not in groups for the cache of a CPU."""
    monkeypatch.setattr(groups, "NUMBERS_IN_CACHE", 2**62)


def launches(method: str, R: int, n: int, d: int) -> int:
    X, Y, present = data(d, sizes=(n,) * R)
    runs, given = state(X, Y, present, num_initial=n // 2), problem(method, R, d)
    with Operations() as count:
        suggest_batched(given, runs)
    return count.launched


@pytest.mark.parametrize("method", ["EI-Turns", "HuBO-EI", "EI-UBO"])
def test_a_step_has_few(method):
    assert launches(method, 4, 12, 2) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), [(30, 2), (30, 6)])
def test_their_number_has_a_limit_that_does_not_grow_with_the_runs(n, d):
    with torch.no_grad():
        assert max(launches("EI-Turns", R, n, d) for R in (1, 32, 128)) <= MOST
