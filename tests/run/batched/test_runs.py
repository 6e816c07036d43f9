"""Many runs at once: ask, tell, failures, limits, own data, and the way back to one run."""

import math
from dataclasses import replace

import pytest
import torch
from botorch.exceptions.errors import InputDataError, UnsupportedError
from torch import Tensor

from botorch_ubo import (
    BatchedRuns,
    ExpandingBounds,
    NoResultError,
    OptimizationResult,
    UnboundedOptimizer,
    available_methods,
    get_method,
    minimize_batch,
)
from botorch_ubo.run.batched.methods import can_be_batched
from tests.support.batches import unit_box

BOX = [(-1.0, 1.0), (0.0, 1.0)]
METHODS = ["EI-Turns", "HuBO-EI", "EI-UBO", "GPUCB-UBO"]


def bowl(X: Tensor) -> Tensor:
    return (X - 1.7).square().sum(dim=-1)


def advance(runs: BatchedRuns, count: int) -> BatchedRuns:
    for _ in range(count):
        runs.tell(bowl(runs.ask()))
    return runs


@pytest.mark.parametrize("method", METHODS)
def test_all_runs_find_an_optimum_outside_of_their_box(method):
    result = minimize_batch(bowl, BOX, budget=16, seeds=5, method=method)
    assert result.X.shape == (5, 16, 2) and result.Y.shape == (5, 16)
    first = bowl(result.X[:, :6]).amin(dim=-1)
    assert (result.best_value < first).all() and float(result.best_value.median()) < 0.1
    torch.testing.assert_close(bowl(result.best_X), result.best_value)
    assert (result.best_values.diff(dim=-1) <= 0).all()


def test_the_initial_points_are_those_of_single_runs():
    runs = BatchedRuns(BOX, seeds=[4, 11])
    points = [runs.ask()]
    for _ in range(5):
        runs.tell(bowl(points[-1]))
        points.append(runs.ask())
    for run, seed in enumerate([4, 11]):
        alone = UnboundedOptimizer(BOX, seed=seed)
        expected = [list(alone.ask().X) for _ in range(6)]
        torch.testing.assert_close(
            torch.stack(points)[:, run], torch.tensor(expected, dtype=torch.double)
        )


def test_asked_twice_it_answers_the_same():
    runs = advance(BatchedRuns(BOX, seeds=3), 7)
    assert torch.equal(runs.ask(), runs.ask())


def test_a_run_does_not_depend_on_the_others():
    many, one = BatchedRuns(BOX, seeds=[0, 1, 2]), BatchedRuns(BOX, seeds=[1])
    many, one = advance(many, 9), advance(one, 9)
    torch.testing.assert_close(many.state.X[1:2], one.state.X, atol=1e-4, rtol=0)


def test_every_run_may_have_its_own_box_and_limits():
    boxes = torch.tensor([[[-1.0, 0.0], [1.0, 1.0]], [[3.0, 5.0], [4.0, 9.0]]])
    limits = torch.tensor(
        [[[-1.5, -math.inf], [1.2, 1.5]], [[2.9, -math.inf], [math.inf, 9.0]]], dtype=torch.double
    )
    runs = advance(BatchedRuns(boxes, seeds=2, hard_limits=limits), 14)
    X = runs.results().X
    assert ((X >= limits[:, :1]) & (X <= limits[:, 1:])).all()
    assert float(X[0, :, 0].max()) == pytest.approx(1.2)  # the optimum is beyond
    assert ((runs.bounds >= limits[:, :1]) & (runs.bounds <= limits[:, 1:])).all()


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_limits_hold_in_every_precision(dtype):
    # 0.1 and 1.1 are no numbers of single precision, nor of double
    runs = BatchedRuns(
        [(0.2, 1.0), (0.2, 1.0)], seeds=3, hard_limits=[(0.1, 1.1), (0.1, 1.1)], dtype=dtype
    )
    for _ in range(11):
        X = runs.ask()
        assert X.dtype == dtype
        assert (X.double() >= 0.1).all() and (X.double() <= 1.1).all()
        runs.tell(bowl(X))
    runs[0]  # which checks it again


@pytest.mark.parametrize("method", ["EI-Turns", "GPUCB-UBO"])
def test_failures_are_nan_and_keep_candidates_away(method):
    def fails_on_the_right(X: Tensor) -> Tensor:
        return torch.where(X[:, 0] > 1.0, torch.nan, bowl(X))

    result = minimize_batch(fails_on_the_right, BOX, budget=18, seeds=4, method=method)
    counts = (~result.Y.isnan()).sum(dim=-1)
    assert (counts < 18).any() and (counts > 6).all()
    alone = result[int(counts.argmin())]
    assert len(alone.failures) == 18 - int(counts.min())
    assert all(trial.X[0] > 1.0 for trial in alone.failures)


def test_runs_without_any_value_go_on_filling_their_box():
    runs = BatchedRuns(BOX, seeds=2)
    for step in range(9):
        X = runs.ask()
        assert X.isfinite().all()
        runs.tell(torch.tensor([math.nan, 1.0 + step]))
    assert runs.state.num_completed.tolist() == [0, 9]
    result = runs.results()
    assert math.isnan(result.best_value[0]) and float(result.best_value[1]) == 1.0
    with pytest.raises(NoResultError, match="all 9 failed"):
        result[0]


def test_runs_may_start_from_their_own_data():
    X = torch.tensor([[0.5, 0.5], [0.9, 0.1], [0.0, 0.2], [0.7, 1.0]], dtype=torch.double)
    data = [None, (X, bowl(X)), (X[:2], [1.0, math.inf])]
    runs = advance(BatchedRuns(BOX, seeds=3, data=data), 8)
    assert runs.num_asked.tolist() == [8, 8, 8]
    assert runs.state.num_completed.tolist() == [8, 12, 9]
    assert runs.state.num_initial.tolist() == [6, 6, 5]
    assert [trial.asked for trial in runs[1].trials] == [False] * 4 + [True] * 8
    assert runs[2].failed[0].id == 1


def test_runs_stop_one_by_one():
    runs = advance(BatchedRuns(BOX, seeds=3), 7)
    runs.stop(1)
    X = runs.ask()
    assert X[1].isnan().all() and X[[0, 2]].isfinite().all()
    runs.tell(torch.tensor([1.0, 99.0, math.nan]))
    assert runs.state.num_completed.tolist() == [8, 7, 7]
    runs.stop(torch.tensor([True, False, False]))
    assert runs.active.tolist() == [False, False, True]
    runs.stop([-1])
    assert runs.ask().isnan().all()
    with pytest.raises(InputDataError, match="nothing is pending"):
        runs.tell(torch.zeros(3))


@pytest.mark.parametrize("method", METHODS)
def test_a_run_taken_out_goes_on_alone(method):
    runs = advance(BatchedRuns(BOX, seeds=3, method=method), 9)
    runs.ask()
    alone = runs[1]
    assert isinstance(alone, UnboundedOptimizer) and len(alone.pending) == 1
    torch.testing.assert_close(alone.box.bounds, runs.bounds[1])
    assert alone.box.state.num_initial == 6 and alone.direction == "minimize"
    assert all(record.moved or record.decision for record in alone.box.history)
    trial = alone.pending[0]
    alone.tell(trial, float(bowl(torch.tensor([trial.X]))))
    for _ in range(2):
        trial = alone.ask()
        alone.tell(trial, float(bowl(torch.tensor([trial.X]))))
    assert len(alone.completed) == 12
    assert runs.state.num_completed.tolist() == [9, 9, 9]  # and the others know nothing of it


def test_results_are_those_of_minimize():
    runs = advance(BatchedRuns(BOX, seeds=2), 10)
    result = runs.results("enough")
    advance(runs, 1)
    assert len(result) == 2 and len(result[0].Y) == 10 and len(runs.results()[0].Y) == 11
    first = result[0]
    assert isinstance(first, OptimizationResult) and first.stopped_because == "enough"
    assert first.best_value == float(result.best_value[0])
    assert [r.best_value for r in result[:2]] == result.best_value.tolist()
    assert "2 runs" in repr(result) and "2 runs of EI-Turns" in repr(runs)
    assert all(len(record.new_bounds[0]) == 2 for record in first.expansions)


def test_it_maximises_too():
    result = minimize_batch(
        lambda X: -bowl(X), BOX, budget=12, seeds=3, direction="maximize", method="HuBO-EI"
    )
    assert (result.best_value == result.Y.amax(dim=-1)).all()
    assert float(result.best_value.median()) > -0.3
    signless = minimize_batch(bowl, BOX, budget=12, seeds=3, method="HuBO-EI")
    torch.testing.assert_close(signless.X, result.X, atol=1e-6, rtol=0)


def test_a_callback_may_end_some_runs_or_all():
    seen = []

    def callback(runs: BatchedRuns) -> bool:
        seen.append(int(runs.active.sum()))
        if len(seen) == 2:
            runs.stop(0)
        return len(seen) == 5

    result = minimize_batch(bowl, BOX, budget=9, seeds=2, callback=callback)
    assert seen == [2, 2, 1, 1, 1]
    assert (~result.Y.isnan()).sum(dim=-1).tolist() == [2, 5]


def test_methods_without_a_batched_form_are_refused_by_name():
    known = [method.name for method in available_methods() if can_be_batched(method)]
    assert set(METHODS) == set(known)
    with pytest.raises(UnsupportedError, match=r"'TuRBO-1' cannot.*EI-Turns.*UnboundedOptimizer"):
        BatchedRuns(BOX, seeds=2, method="TuRBO-1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"seeds": []}, "a seed for each run"),
        ({"seeds": [1.5]}, "whole number `seed`"),
        ({"bounds": torch.zeros(3, 2, 2)}, "for each of the 2 seeds; got 3"),
        ({"bounds": [(1.0, 0.0)]}, "lower < upper"),
        ({"hard_limits": {0: (5.0, 6.0)}}, "within the hard limits"),
        ({"data": [None]}, "for each of the 2 runs"),
        ({"data": [None, ([[0.0, 0.0]], [1.0], [0.1])]}, "variances of the noise"),
        ({"data": [None, ([[9.0, 0.0]], [1.0])], "hard_limits": {0: (-2.0, 2.0)}}, "given points"),
        ({"direction": "up"}, "direction"),
        ({"direction": ["minimize", "maximize"]}, "one `direction`"),
        ({"dtype": torch.half}, "torch.double or torch.float"),
        ({"num_initial": 0}, "num_initial"),
        ({"epsilon": -1.0}, "epsilon"),
    ],
)
def test_bad_arguments_are_refused_in_words(arguments, words):
    with pytest.raises(InputDataError, match=words):
        BatchedRuns(**{"bounds": BOX, "seeds": 2, **arguments})


def test_bad_values_change_nothing():
    runs = BatchedRuns(BOX, seeds=2)
    with pytest.raises(InputDataError, match="before `tell`"):
        runs.tell([1.0, 2.0])
    runs.ask()
    before = runs.state
    for bad in ([1.0], [[1.0, 2.0]], 3.0):
        with pytest.raises(InputDataError, match="one value for each of the 2 runs"):
            runs.tell(bad)
    for bad in ([1.0, None], [1.0, "two"]):
        with pytest.raises(InputDataError, match="numbers in `Y`"):
            runs.tell(bad)
    assert runs.state is before
    with pytest.raises(InputDataError, match="tensor of 2 values"):
        minimize_batch(lambda X: X, BOX, budget=2, seeds=2)


@pytest.mark.parametrize("method", ["EI-Turns", "HuBO-EI", "EI-UBO"])
def test_several_points_of_each_run_keep_apart(method):
    runs = BatchedRuns(BOX, seeds=3, method=method, hard_limits={0: (-2.0, 1.9)})
    for step in range(4):
        X = runs.ask(3)
        assert X.shape == (3, 3, 2) and torch.equal(X, runs.ask(3))
        apart = (X.unsqueeze(1) - X.unsqueeze(2)).norm(dim=-1) + torch.eye(3)
        assert float(apart.min()) > 1e-4
        Y = bowl(X.reshape(-1, 2)).reshape(3, 3)
        Y[1, step % 3] = math.nan  # a failure in the midst of a batch
        with pytest.raises(InputDataError, match="3 values for each of the 3 runs"):
            runs.tell(Y[:, 0])
        runs.tell(Y)
    assert runs.state.num_completed.tolist() == [12, 8, 12]
    torch.testing.assert_close(bowl(runs.results().best_X), runs.results().best_value)
    assert [len(runs[i].completed) for i in range(3)] == [12, 8, 12]


def test_the_upper_confidence_bound_proposes_one_at_a_time():
    runs = BatchedRuns(BOX, seeds=2, method="GPUCB-UBO")
    with pytest.raises(UnsupportedError, match="'GPUCB-UBO' proposes one"):
        runs.ask(2)
    assert runs.ask(1).shape == (2, 1, 2) and runs.ask().shape == (2, 2)


def test_records_have_the_words_of_a_controller():
    generator = torch.Generator().manual_seed(4)
    X = 2 * torch.rand(3, 12, 2, generator=generator, dtype=torch.double) - 1
    bowl = (X - 3).square().sum(dim=-1)
    noise = torch.randn(12, generator=generator, dtype=torch.double)
    values = torch.stack([bowl[0], torch.ones_like(noise), noise])
    X[0, -1] = 9.0  # far out, and the data reach there
    data = list(zip(X, values, strict=True))
    wide = {"num_initial": 1, "max_growth": 100.0}
    runs = BatchedRuns([(-1.0, 1.0)] * 2, 3, data=data, **wide)
    words = set()
    for _ in range(3):
        runs.tell(torch.where(torch.arange(3) == 1, 1.0, (runs.ask() - 3).square().sum(dim=-1)))
    for i, run in enumerate(runs):
        told = [trial for trial in run.trials if trial.value is not None]
        box = ExpandingBounds(unit_box(2), maximize=False, seed=i, max_growth=100.0)
        for n in range(12, 15):
            points = torch.tensor([trial.X for trial in told[:n]], dtype=torch.double)
            outcomes = torch.tensor([[trial.value] for trial in told[:n]], dtype=torch.double)
            box.update(box.fit(points, outcomes))
        expected = [record.details.get("why") for record in box.history]
        assert [record.details.get("why") for record in run.box.history] == expected
        words.update(expected)
    assert len(words) > 1 and any("as far again" in why for why in words)


def test_records_say_what_held_a_box_back():
    X = torch.tensor([[0.0, 0.0], [0.5, 0.5], [-0.5, 0.2], [0.9, -0.9]], dtype=torch.double)
    flat, steep = torch.ones(4, dtype=torch.double), torch.tensor([0.0, 1.0, 2.0, 9.0]).double()
    far = torch.cat([X, 40 * X[1:2]])
    given = [(X, flat), (far, torch.cat([steep, steep[:1] - 50]))]
    method = replace(get_method("EI-Turns"), name="Blind", blind_limit=1.0)
    runs = BatchedRuns(unit_box(2).T.tolist(), 2, method=method, data=given, num_initial=1)
    runs.ask()
    for i, run in enumerate(runs):
        box = ExpandingBounds(unit_box(2), method=method, maximize=False, seed=i)
        box.update(box.fit(given[i][0], given[i][1].unsqueeze(-1)))
        (record,), (expected,) = run.box.history, box.history
        assert record.details["why"] == expected.details["why"]
    assert "all outcomes are equal" in runs[0].box.history[0].details["why"]
