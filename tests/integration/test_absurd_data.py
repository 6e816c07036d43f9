"""Outliers beyond all measure, data beyond all distance, and boxes beyond floating point."""

from __future__ import annotations

import math

import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import ExpandingBounds, UnboundedOptimizer, available_methods, minimize
from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.models import default_model
from tests.support.by_hand import unit_box
from tests.support.fits import data
from tests.support.gps import tensor

METHODS = [method.name for method in available_methods()]
CHEAP = SearchSettings(num_restarts=2, raw_samples=64)
BOX = [(-1.0, 1.0), (0.0, 1.0)]


def bowl(x: list[float]) -> float:
    return (x[0] - 1.7) ** 2 + (x[1] - 0.3) ** 2


def best_with(outlier: float | None, budget: int = 22) -> float:
    """The best value where the third evaluation is an outlier."""
    count = 0

    def objective(x: list[float]) -> float:
        nonlocal count
        count += 1
        return outlier if count == 3 and outlier is not None else bowl(x)

    return minimize(objective, BOX, budget=budget, search=CHEAP).best_value


@pytest.mark.slow
def test_an_absurd_outcome_is_no_worse_than_a_bad_one() -> None:
    clean, bad = best_with(None), best_with(1e5)
    for outlier in (1e25, 1e100, 1e149):
        assert best_with(outlier) <= max(10 * clean, 10 * bad, 1e-4)


@pytest.mark.parametrize("outlier", [1e25, 1e100, 1e149])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_model_of_an_absurd_outcome_is_that_of_a_bad_one(outlier: float, sign: float) -> None:
    X, Y = data(20)
    box = ExpandingBounds(unit_box(2), maximize=sign > 0)
    bad, absurd = (
        box.fit(X, torch.cat([sign * Y[:-1], tensor([[-sign * value]])]))
        for value in (1e5, outlier)
    )
    near = [model.posterior(X[:5].unsqueeze(-2)).mean for model in (bad, absurd)]
    torch.testing.assert_close(*near, rtol=0, atol=0.02)  # of values from 1 to 13


@pytest.mark.parametrize("outlier", [-1e25, -1e149])
def test_an_absurdly_good_outcome_does_not_end_the_run(outlier: float) -> None:
    assert best_with(outlier, budget=9) == outlier


@pytest.mark.slow
@pytest.mark.parametrize(("far", "value"), [(1e12, 1e24), (1e200, -1.0)])
@pytest.mark.parametrize("method", METHODS)
def test_a_far_datum_neither_stops_the_run_nor_decides_the_box(
    method: str, far: float, value: float
) -> None:
    boxes = []
    for given in ([], [([far, 0.5], value)]):
        optimizer = UnboundedOptimizer(BOX, method=method, search=CHEAP, num_initial=6)
        if given:
            optimizer.add_data([given[0][0]], [given[0][1]])
        while len(optimizer.completed) - len(given) < 6:
            index = len(optimizer.completed) - len(given)
            point = [-1 + 2 * ((0.37 * index) % 1), (0.61 * index + 0.2) % 1]
            optimizer.add_data([point], [bowl(point)])
        for _ in range(2):
            trial = optimizer.ask()
            optimizer.tell(trial, bowl(list(trial.X)))
        optimizer.result()
        boxes.append(optimizer.box.bounds)
    assert torch.equal(*boxes)


def test_a_far_datum_in_a_model_of_ones_own() -> None:
    """The extent of the data is of those in sight."""
    X, Y = data(10)
    X[4, 0] = 1e7
    Y[4] = 20.0  # the best
    box = ExpandingBounds(unit_box(2))
    model = default_model(X, Y, unit_box(2)).eval()
    context = box.context(model)
    assert context.view.in_sight.tolist() == [i != 4 for i in range(10)]
    assert context.incumbent != 4 and context.best_observed != 4
    assert box.update(model) is not None
    assert (box.bounds[1] - box.bounds[0] <= 8.001).all()


def test_all_data_far_away_is_a_mistake_in_units() -> None:
    X, Y = data(5)
    box = ExpandingBounds(unit_box(2))
    with pytest.raises(InputDataError, match="the same units"):
        box.fit(X + 1e20, Y)


@pytest.mark.parametrize(
    "bounds",
    [
        [(-1e308, 1e308)],
        [(0.0, 1e-310)],
        [(0.0, 1.0), (1.0, 1.0 + 4e-16)],
        [(1e20, 1e20 + 1e5)],
        [(-1e301, 0.0)],
    ],
)
def test_boxes_beyond_floating_point_are_refused_in_words(
    bounds: list[tuple[float, float]],
) -> None:
    with pytest.raises(InputDataError, match="Change the unit, or subtract an offset"):
        UnboundedOptimizer(bounds)


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_ordinary_boxes_are_not(dtype: torch.dtype) -> None:
    for lower, upper in ((0.0, 1e-20), (-1e20, 1e20), (1000.0, 1001.0), (-1e-3, 0.0)):
        ExpandingBounds(torch.tensor([[lower], [upper]], dtype=dtype))


def test_outcomes_beyond_floating_point_are_refused_in_words() -> None:
    X, Y = data(5)
    box = ExpandingBounds(unit_box(2))
    with pytest.raises(InputDataError, match="whose squares are numbers"):
        box.fit(X, 1e160 * Y)


@pytest.mark.parametrize("seed", [2**64 - 1, 2**63])
def test_a_seed_beyond_what_pytorch_takes_is_refused_at_once(seed: int) -> None:
    with pytest.raises(InputDataError, match=r"below 2\^63"):
        UnboundedOptimizer(BOX, seed=seed)


@pytest.mark.parametrize("seed", [2**63 - 1, -5])
def test_large_and_negative_seeds(seed: int) -> None:
    optimizer = UnboundedOptimizer(BOX, seed=seed, search=CHEAP)
    for _ in range(8):
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(list(trial.X)))
    assert len(optimizer.ask(2)) == 2


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e9])
def test_guarantees_have_the_unit_of_the_outcomes(scale: float) -> None:
    plain, scaled = (
        minimize(lambda x, unit=unit: unit * bowl(x), BOX, budget=9, search=CHEAP)
        for unit in (1.0, scale)
    )
    assert scaled.guaranteed_value == pytest.approx(scale * plain.guaranteed_value, rel=1e-3)
    assert scaled.regret_bound == pytest.approx(scale * plain.regret_bound, rel=1e-3)
    assert scaled.recommended_value == pytest.approx(scale * plain.recommended_value, rel=1e-3)
    assert math.isfinite(scaled.regret_bound)
