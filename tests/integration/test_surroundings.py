"""Nothing of the process is touched: generators, error states, dtype, gradients, warnings."""

from __future__ import annotations

import random
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from botorch.acquisition import qLogExpectedImprovement
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo import ExpandingBounds, UnboundedOptimizer, available_methods, minimize
from botorch_ubo.acquisition.search import SearchSettings
from tests.support.by_hand import unit_box
from tests.support.fits import data

CHEAP = SearchSettings(num_restarts=2, raw_samples=32)
METHODS = [method.name for method in available_methods()]


def surroundings() -> list[Any]:
    """What every thread of the process shares, or sees changed."""
    return [
        torch.get_rng_state().tolist(),
        str(np.random.get_state()),
        random.getstate(),
        np.geterr(),
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.get_num_threads(),
        list(warnings.filters),
        warnings.showwarning,
    ]


@cache
def _import_everything() -> None:
    """What is imported at the first call may add filters of its own."""
    all_calls("GPUCB-UBO")


@contextmanager
def left_alone() -> Iterator[None]:
    _import_everything()
    before = surroundings()
    yield
    for was, now in zip(before, surroundings(), strict=True):
        assert was == now


def all_calls(method: str) -> list[Tensor]:
    """Every call of a box, with and without pending and failed points."""
    X, Y = data()
    box = ExpandingBounds(unit_box(2), method=method, search=CHEAP)
    model = box.fit(X, Y)
    box.update(model)
    found = [
        box.suggest(model),
        box.suggest(model, q=2, X_pending=X[:1] + 0.1),
        box.suggest(model, X_failed=X[:1] + 0.2),
    ]
    box.certify(model)
    starts = box.starts(model)
    context = box.context(model)
    acqf = box.method.acquisition(context)
    return [*found, starts(acqf, box.bounds, 1, 2, 32)]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
class TestEveryMethod:
    def test_nothing_is_touched(self, method: str) -> None:
        with left_alone():
            all_calls(method)

    def test_answers_do_not_depend_on_the_surroundings(self, method: str) -> None:
        expected = all_calls(method)
        torch.manual_seed(12345)
        old = np.seterr(all="raise")
        try:
            with torch.no_grad(), left_alone():
                found = all_calls(method)
        finally:
            np.seterr(**old)
        for one, other in zip(expected, found, strict=True):
            assert torch.equal(one, other)

    def test_another_default_dtype(self, method: str) -> None:
        """BoTorch keeps the constants of its priors in it, so not to the last digit."""
        torch.set_default_dtype(torch.double)
        try:
            with left_alone():
                found = all_calls(method)
        finally:
            torch.set_default_dtype(torch.float)
        assert all(points.dtype == torch.double and points.isfinite().all() for points in found)


def objective(x: list[float]) -> float:
    return float((x[0] - 3) ** 2 + x[1] ** 2)


def test_a_run_without_gradients_and_with_errors_raised() -> None:
    box = [(-1.0, 1.0), (-1.0, 1.0)]
    expected = minimize(objective, box, budget=9, search=CHEAP)
    old = np.seterr(all="raise")
    try:
        with torch.no_grad(), left_alone():
            found = minimize(objective, box, budget=9, search=CHEAP)
            optimizer = UnboundedOptimizer(box, search=CHEAP)
            for trial in optimizer.ask(6):
                optimizer.tell(trial, objective(list(trial.X)))
            assert len(optimizer.ask(2)) == 2
    finally:
        np.seterr(**old)
    assert found.best_X == expected.best_X


def test_threads_that_draw_meanwhile_get_their_own_numbers() -> None:
    """Rewinding the generator of the process would hand some numbers out twice."""
    torch.manual_seed(7)
    expected = torch.rand(4000).tolist()
    torch.manual_seed(7)
    drawn: list[float] = []
    done = threading.Event()

    def draw() -> None:
        while not done.is_set() and len(drawn) < len(expected):
            drawn.append(float(torch.rand(1)))

    thread = threading.Thread(target=draw)
    thread.start()
    X, Y = data()
    for method in ("EI-Roaming", "GPUCB-UBO"):
        box = ExpandingBounds(unit_box(2), method=method, search=CHEAP)
        model = box.fit(X, Y)
        box.suggest(model)
        box.suggest(model, q=2)
    done.set()
    thread.join()
    assert len(drawn) > 50
    assert drawn == expected[: len(drawn)]


def test_a_monte_carlo_function_of_the_user_is_repeatable() -> None:
    X, Y = data()
    box = ExpandingBounds(unit_box(2), search=CHEAP)
    model = box.fit(X, Y)

    def build(fitted: Model) -> qLogExpectedImprovement:
        return qLogExpectedImprovement(fitted, best_f=float(Y.max()))

    with left_alone():
        first = box.suggest(model, build, q=2)
    torch.rand(3)
    assert torch.equal(box.suggest(model, build, q=2), first)
