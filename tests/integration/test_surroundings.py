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
from botorch.acquisition import qKnowledgeGradient, qLogExpectedImprovement, qMaxValueEntropy
from botorch.acquisition.thompson_sampling import PathwiseThompsonSampling
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


LIMIT = [(torch.tensor([0, 1]), torch.tensor([-1.0, -1.0], dtype=torch.double), -1.8)]
LINE = [(torch.tensor([0, 1]), torch.tensor([1.0, 1.0], dtype=torch.double), 1.2)]


def log_ei(model: Model) -> qLogExpectedImprovement:
    return qLogExpectedImprovement(model, best_f=0.5)


def knowledge_gradient(model: Model) -> qKnowledgeGradient:
    return qKnowledgeGradient(model, num_fantasies=2)


def max_value_entropy(model: Model) -> qMaxValueEntropy:
    with np.errstate(all="ignore"):  # to build it is the caller's part
        return qMaxValueEntropy(model, torch.rand(20, 2, dtype=torch.double), num_fantasies=2)


ASKED: dict[str, dict[str, Any]] = {
    "limit": {"inequality_constraints": LIMIT},
    "line": {"equality_constraints": LINE, "q": 2},
    "disc": {"nonlinear_inequality_constraints": [(lambda x: 1 - x.square().sum(), True)]},
    "discrete": {"discrete_dims": {0: [0.0, 0.5, 1.0]}},
    "discrete within a limit": {
        "discrete_dims": {0: [0.0, 0.5, 1.0]},
        "inequality_constraints": LIMIT,
    },
    "binary": {"discrete_dims": {0: [0.0, 1.0], 1: [0.0, 1.0]}},
    "categories": {"cat_dims": {1: [0.0, 1.0, 5.0]}, "inequality_constraints": LIMIT},
    "samples": {"acq_function": log_ei, "q": 2},
    "samples within a limit": {"acq_function": log_ei, "q": 2, "inequality_constraints": LIMIT},
    "Thompson": {"acq_function": PathwiseThompsonSampling, "q": 2},
    "one-shot": {"acq_function": knowledge_gradient},
    "one-shot, several": {"acq_function": knowledge_gradient, "q": 2},
    "one-shot within a limit": {
        "acq_function": knowledge_gradient,
        "q": 2,
        "inequality_constraints": LIMIT,
    },
    "entropy": {"acq_function": max_value_entropy},
}


@pytest.fixture
def no_rewinding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sets the generator of the process fails."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the generator of the process was set")

    for name in ("manual_seed", "set_rng_state", "fork_rng", "seed"):
        monkeypatch.setattr(torch.random, name, refuse)
    for name in ("manual_seed", "set_rng_state", "seed"):
        monkeypatch.setattr(torch, name, refuse)


@pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.BotorchWarning")
@pytest.mark.usefixtures("no_rewinding")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name.startswith(("one-shot", "ent")) else name
        for name in ASKED
    ],
)
def test_no_search_seeds_or_draws_from_the_generator_of_the_process(name: str) -> None:
    X, Y = data()
    model = ExpandingBounds(unit_box(2), search=CHEAP).fit(X, Y)
    box = ExpandingBounds(unit_box(2), search=CHEAP)
    with left_alone():
        first = box.suggest(model, **ASKED[name])
    torch.rand(3)
    with torch.no_grad():
        old = np.seterr(all="raise")
        try:
            assert torch.equal(box.suggest(model, **ASKED[name]), first)
        finally:
            np.seterr(**old)


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
        for name in ("limit", "discrete within a limit", "samples", "Thompson"):
            box.suggest(model, **ASKED[name])
    done.set()
    thread.join()
    assert len(drawn) > 50
    assert drawn == expected[: len(drawn)]
