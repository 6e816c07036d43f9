"""Suggestions: which acquisition function, where it is maximised, and what may be asked for."""

import json
from typing import Any

import pytest
import torch
from botorch.acquisition import (
    AcquisitionFunction,
    LogExpectedImprovement,
    UpperConfidenceBound,
    qLogExpectedImprovement,
    qUpperConfidenceBound,
)
from botorch.exceptions.errors import InputDataError, UnsupportedError
from torch import Tensor

from botorch_ubo import ConstantBeta, Context, ExpandingBounds, Never, TheoremBox, fit_default_model
from botorch_ubo.acquisition.feasibility import LogFeasibilityWeighted
from tests.support.controlled import FAST, UNIT, bell, build, corrected, data, gp, inside
from tests.support.gps import tensor


class TestSuggestions:
    def test_twice_is_the_same_and_changes_nothing(self) -> None:
        X, Y = data()
        box = corrected(UNIT)
        model = gp(X, Y)
        first = box.suggest(model)
        saved = json.dumps(box.state_dict())
        torch.manual_seed(99)  # nor does the global state matter
        assert torch.equal(first, box.suggest(model))
        assert torch.equal(first, box.suggest(gp(X, Y)))  # an equal model, built anew
        assert json.dumps(box.state_dict()) == saved
        record = box.update(model)
        assert record == box.history[-1] and len(box.history) == 1
        assert json.dumps(box.state_dict()) == saved

    def test_a_refit_of_the_same_data_gives_its_own_suggestion(self) -> None:
        """The box stays, since the data are the same; the maximiser is the new model's."""
        X, Y = data()
        box = corrected(UNIT)
        box.suggest(gp(X, Y))
        bounds = box.bounds
        other = gp(X, Y, lengthscale=0.3)
        x = box.suggest(other)
        assert torch.equal(box.bounds, bounds)
        twin = corrected(UNIT)
        twin.load_state_dict(box.state_dict())
        assert torch.equal(x, twin.suggest(other))

    def test_global_random_state_is_untouched(self) -> None:
        X, Y = data()
        torch.manual_seed(5)
        before = torch.get_rng_state()
        corrected(UNIT).suggest(gp(X, Y))
        assert torch.equal(before, torch.get_rng_state())

    def test_users_acquisition_as_instance_and_as_factory(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        acqf = LogExpectedImprovement(model, best_f=Y.max())
        by_instance = corrected(UNIT).suggest(model, acqf)
        by_factory = corrected(UNIT).suggest(
            model, lambda m: LogExpectedImprovement(m, best_f=Y.max())
        )
        by_method = corrected(
            UNIT, acquisition=lambda c: LogExpectedImprovement(c.model, c.observed.max())
        ).suggest(model)
        assert torch.equal(by_instance, by_factory)
        # The same function in the units of the model: the search ends elsewhere by a rounding.
        torch.testing.assert_close(by_instance, by_method, rtol=0, atol=1e-4)
        assert not torch.allclose(by_instance, corrected(UNIT).suggest(model), atol=1e-3)
        grid = UNIT[0] - 2 + 5 * torch.rand(2000, 1, 2, dtype=torch.double)
        with torch.no_grad():
            assert acqf(by_instance.unsqueeze(-2)) >= acqf(grid).max() - 1e-6

    def test_default_is_the_maximiser_of_ucb(self) -> None:
        X, Y = data(12)
        model = gp(X, Y)
        box = corrected(UNIT, trigger=Never(), beta=ConstantBeta(4.0))
        x = box.suggest(model)
        ucb = UpperConfidenceBound(model, beta=tensor(4.0))
        grid = torch.rand(4000, 1, 2, dtype=torch.double)
        with torch.no_grad():
            assert ucb(x.unsqueeze(-2)) >= ucb(grid).max() - 1e-9

    @pytest.mark.slow
    def test_minimising_equals_maximising_the_negated_problem(self) -> None:
        for q in (1, 2):
            boxes = corrected(UNIT, maximize=False), corrected(UNIT)
            X, Y = data()
            for _ in range(2):
                low = boxes[0].suggest(gp(X, -Y), q=q)
                high = boxes[1].suggest(gp(X, Y), q=q)
                torch.testing.assert_close(low, high, atol=1e-6, rtol=1e-6)
                torch.testing.assert_close(boxes[0].bounds, boxes[1].bounds)
                X, Y = torch.cat([X, high]), torch.cat([Y, bell(high)])

    def test_batch_is_distinct_and_inside(self) -> None:
        X, Y = data()
        box = corrected(UNIT, **FAST)
        x = box.suggest(gp(X, Y), q=3)
        assert x.shape == (3, 2) and inside(box.bounds, x) and torch.pdist(x).min() > 1e-2

    def test_pending_points_keep_candidates_away_but_not_the_box(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        alone = corrected(UNIT, beta=ConstantBeta(9.0))
        free = alone.suggest(model, q=2)
        box = corrected(UNIT, beta=ConstantBeta(9.0))
        x = box.suggest(model, X_pending=free[:1])
        assert (x - free[:1]).norm() > 0.1
        torch.testing.assert_close(x, free[1:], atol=0.3, rtol=0)
        assert torch.equal(box.bounds, alone.bounds)
        assert json.dumps(box.state_dict()) == json.dumps(alone.state_dict())

    @pytest.mark.filterwarnings("ignore:A not p.d.")  # single precision
    def test_pending_and_failed_points_come_to_the_dtype_of_the_model(self) -> None:
        X, Y = data()
        model = fit_default_model(X.float(), Y.float(), UNIT.float())
        extra = tensor([[0.5, 0.5]])
        x = ExpandingBounds(UNIT, **FAST).suggest(model, q=2, X_pending=extra, X_failed=extra + 1)
        assert x.dtype == torch.float and x.shape == (2, 2)

    def test_pending_points_of_a_users_acquisition_are_restored(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        acqf = qLogExpectedImprovement(model, best_f=Y.max())
        own = tensor([[0.2, 0.2]])
        acqf.set_X_pending(own)
        corrected(UNIT, **FAST).suggest(model, acqf, q=2, X_pending=tensor([[0.9, 0.9]]))
        assert torch.equal(acqf.X_pending, own)

    def test_batch_acquisition_of_the_method(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        box = corrected(
            UNIT,
            acquisition=lambda c: LogExpectedImprovement(c.model, c.observed.max()),
            batch_acquisition=lambda c: qLogExpectedImprovement(c.model, c.observed.max()),
            **FAST,
        )
        assert box.suggest(model, q=2).shape == (2, 2)
        assert box.suggest(model).shape == (1, 2)

    def test_seed_changes_the_starts_only(self) -> None:
        X, Y = data()
        values = []
        for seed in (0, 1):
            box = corrected(UNIT, seed=seed)
            x = box.suggest(gp(X, Y))
            with torch.no_grad():
                values.append(float(box.context(gp(X, Y)).confidence.ucb(x.unsqueeze(-2))))
        assert values[0] == pytest.approx(values[1], abs=1e-4)


def test_qucb_is_the_default_for_batches() -> None:
    X, Y = data()
    model = gp(X, Y)
    box = corrected(UNIT, beta=ConstantBeta(4.0))
    x = box.suggest(model, q=2)
    acqf = qUpperConfidenceBound(model, beta=4.0)
    other = corrected(UNIT, beta=ConstantBeta(4.0)).suggest(model, acqf, q=2)
    torch.testing.assert_close(x, other, atol=0.05, rtol=0)


class TestBadSuggestCalls:
    def test_no_candidates(self) -> None:
        X, Y = data()
        with pytest.raises(InputDataError, match="q >= 1; got 0"):
            corrected(UNIT).suggest(gp(X, Y), q=0)

    @pytest.mark.parametrize("extra", [{"q": 2}, {"X_pending": tensor([[0.5, 0.5]])}])
    def test_analytic_acquisition_cannot_do_batches(self, extra: dict[str, Any]) -> None:
        X, Y = data()
        model = gp(X, Y)
        acqf = UpperConfidenceBound(model, beta=4.0)
        with pytest.raises(UnsupportedError, match=r"Expected.*UpperConfidenceBound.*Use a q-"):
            corrected(UNIT, **FAST).suggest(model, acqf, **extra)

    def test_acquisition_without_a_batch_version(self) -> None:
        X, Y = data()
        box = corrected(UNIT, batch_acquisition=None, **FAST)
        with pytest.raises(UnsupportedError, match="batch_acquisition"):
            box.suggest(gp(X, Y), q=2)


class Spy(TheoremBox):
    """Notes what it was asked to refine, and moves the points a little."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "seen", [])

    def refine(self, context: Context, X: Tensor, acq_function: AcquisitionFunction) -> Tensor:
        self.seen.append((context, X, acq_function))
        return X + 1e-3


FAILED = tensor([[0.2, 0.9]])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, "UnboundedUpperConfidenceBound"),
        ({"q": 2}, "qUpperConfidenceBound"),
        ({"X_pending": tensor([[0.5, 0.5]])}, "qUpperConfidenceBound"),
        ({"X_failed": FAILED}, "LogFeasibilityWeighted"),
        ({"q": 2, "X_pending": tensor([[0.5, 0.5]]), "X_failed": FAILED}, "LogFeasibilityWeighted"),
    ],
)
def test_every_suggestion_is_refined_with_what_was_maximised(
    asked: dict[str, Any], expected: str
) -> None:
    X, Y = data()
    spy = Spy()
    box = corrected(UNIT, strategy=spy, **FAST)
    x = box.suggest(gp(X, Y), **asked)
    ((context, found, acqf),) = spy.seen
    q = asked.get("q", 1)
    assert type(acqf).__name__ == expected and found.shape == x.shape == (q, 2)
    assert torch.equal(x, found + 1e-3)
    assert context.state.history == box.history and len(box.history) == 1  # after the expansion
    assert inside(box.bounds, found)


def test_refined_suggestions_stay_within_the_limits() -> None:
    X, Y = data()
    limits = torch.stack([X.amin(0), X.amax(0)])
    bounds = torch.stack([X.amin(0) + 0.1, X.amax(0) - 0.1])

    class Jump(Spy):
        def refine(self, context: Context, X: Tensor, acq_function: AcquisitionFunction) -> Tensor:
            return X + 100.0

    x = corrected(bounds, strategy=Jump(), hard_limits=limits, **FAST).suggest(gp(X, Y))
    assert torch.equal(x, limits[1:])


def test_the_users_acquisition_function_is_what_is_refined() -> None:
    X, Y = data()
    model, spy = gp(X, Y), Spy()
    acqf = LogExpectedImprovement(model, best_f=Y.max())
    corrected(UNIT, strategy=spy, **FAST).suggest(model, acqf)
    assert spy.seen[0][2] is acqf


def test_failures_keep_candidates_away() -> None:
    X, Y = data()
    free = build("EI-Vanilla", UNIT, **FAST).suggest(gp(X, Y))
    box = build("EI-Vanilla", UNIT, **FAST)
    kept = box.suggest(gp(X, Y), X_failed=free)
    context = box.context(gp(X, Y))
    weighted = LogFeasibilityWeighted(
        box.method.acquisition(context), context.X, free, context.lengthscales
    )
    assert (kept - free).norm() > 1e-2
    with torch.no_grad():
        assert weighted(kept.unsqueeze(-2)) > weighted(free.unsqueeze(-2))
    # No failures are no failures.
    none = box.suggest(gp(X, Y), X_failed=torch.empty(0, 2, dtype=torch.double))
    assert torch.equal(none, free)


class _Sum(AcquisitionFunction):
    """Of all coordinates: its maximum is a corner, and it has no pending points."""

    def forward(self, X: Tensor) -> Tensor:
        return X.sum(dim=(-2, -1))


def test_boxes_take_turns_with_joint_pairs_too() -> None:
    X, Y = data(6)
    box = ExpandingBounds(UNIT, **FAST)
    chosen = []
    for _ in range(4):
        model = box.fit(X, Y)
        pair = box.suggest(model, _Sum(model), q=2)
        boxes = box.context(model).search_boxes
        corners = (pair[0] - boxes[:, 1]).abs().amax(dim=-1)
        chosen.append(int(corners.argmin()))
        X, Y = torch.cat([X, pair]), torch.cat([Y, bell(pair)])
    assert chosen == [0, 1, 0, 1]
