"""``propose``: what ``UnboundedOptimizer`` would, from a record alone."""

import math

import pytest
import torch
from botorch.exceptions.errors import InputDataError, UnsupportedError

from botorch_ubo import (
    Categorical,
    Float,
    Integer,
    Ordinal,
    Outcome,
    SearchSettings,
    SpaceExhaustedError,
    UnboundedOptimizer,
    available_methods,
    propose,
)

QUICK = SearchSettings(num_restarts=2, raw_samples=32)
BOX = [(-1.0, 1.0), (0.0, 1.0)]
METHODS = {method.name: method for method in available_methods()}
REBUILDABLE = [name for name, method in METHODS.items() if method.rebuildable]
OTHERS = [name for name, method in METHODS.items() if not method.rebuildable]
SPACE = {
    "lr": Float(1e-3, 1e-1, log=True),
    "n": Integer(1, 4, limits=(1, None)),
    "act": Categorical(["relu", "tanh", "gelu"]),
}


def f(x):
    return (x[0] - 7) ** 2 + math.sin(3 * x[0]) + 2 * (x[1] + 3) ** 2


def loss(p):
    return (math.log10(p["lr"]) - 1) ** 2 + abs(p["n"] - 6) / 3 + 2 * (p["act"] != "tanh")


def test_the_methods_are_those_that_are_known_to_be_rebuildable():
    assert {"EI-Roaming", "HuBO-EI", "TuRBO-1", "EI-Vanilla"} <= set(REBUILDABLE)
    assert {"GPUCB-UBO", "EI-UBO", "EI-VarCap", "EI-Volx2"} <= set(OTHERS)


@pytest.mark.slow
@pytest.mark.parametrize("name", REBUILDABLE)
def test_equal_to_the_optimizer_to_the_digit(name):
    optimizer = UnboundedOptimizer(BOX, method=name, seed=3, search=QUICK)
    record = []
    for _ in range(14):
        trial = optimizer.ask()
        assert propose(BOX, record, method=name, seed=3, search=QUICK) == [list(trial.X)]
        value = f(trial.X)
        optimizer.tell(trial, value)
        record.append(Outcome(trial.X, value))


@pytest.mark.slow
def test_equal_with_maximisation_limits_noise_and_a_failure():
    settings = {"direction": "maximize", "hard_limits": {0: (None, 4.0)}, "search": QUICK}
    optimizer = UnboundedOptimizer(BOX, **settings)
    record = []
    for step in range(14):
        trial = optimizer.ask()
        assert propose(BOX, record, **settings) == [list(trial.X)]
        if step == 2:
            optimizer.tell_failed(trial, "broken")
            record.append(Outcome(trial.X, math.nan))
        else:
            optimizer.tell(trial, -f(trial.X), 0.1)
            record.append(Outcome(trial.X, -f(trial.X), 0.1))


def test_equal_with_pending_points_and_several_at_once():
    optimizer = UnboundedOptimizer(BOX, search=QUICK)
    record = []
    for trial in optimizer.ask(6):
        optimizer.tell(trial, f(trial.X))
        record.append(Outcome(trial.X, f(trial.X)))
    first, second = optimizer.ask(2)
    assert propose(BOX, record, 2, search=QUICK) == [list(first.X), list(second.X)]
    record += [Outcome(first.X), Outcome(second.X)]
    assert propose(BOX, record, search=QUICK) == [list(optimizer.ask().X)]


@pytest.mark.parametrize("name", OTHERS)
def test_other_methods_are_refused_by_name(name):
    with pytest.raises(UnsupportedError, match=r"(?s)follows from the data alone.*EI-Roaming"):
        propose(BOX, [], method=name)


def test_names_in_names_out_and_nothing_twice():
    record = []
    for _ in range(24):
        (point,) = propose(SPACE, record, search=QUICK)
        assert list(point) == list(SPACE)
        assert isinstance(point["n"], int) and point["n"] >= 1
        assert point["act"] in ("relu", "tanh", "gelu")
        assert point not in [outcome.point for outcome in record]
        record.append(Outcome(point, loss(point)))
    best = min(record, key=lambda outcome: outcome.value)
    assert best.point["act"] == "tanh"
    assert best.value < 1.0


def fill(space, value, most, **settings):
    """A record of proposals, until there are no more or so many."""
    record = []
    while len(record) < most:
        try:
            points = propose(space, record, search=QUICK, **settings)
        except SpaceExhaustedError:
            break
        for point in points:
            assert point not in [outcome.point for outcome in record]
            record.append(Outcome(point, value(point)))
    return record


@pytest.mark.parametrize(
    ("space", "size"),
    [
        ({"a": Integer(1, 3, limits=(1, 3)), "b": Categorical(["x", "y"])}, 6),
        ({"a": Categorical([True, False]), "b": Categorical([None, 0])}, 4),  # fewer than 3 d
        ({"a": Ordinal([16, 32, 64]), "b": Integer(1, 2, log=True, limits=(1, 5))}, 15),
        ({"a": Float(0.0, 0.3, step=0.1, limits=(0.0, 0.75))}, 8),
        ({"a": Integer(0, 4, limits=(0, 11), step=4)}, 3),
    ],
)
@pytest.mark.parametrize("failing", [False, True])
def test_a_finite_space_is_exhausted_before_anything_comes_twice(space, size, failing):
    def value(p):
        number = p["a"] if isinstance(p["a"], int | float) else 0.0
        return math.nan if failing and number > 1 else float(number)

    assert len(fill(space, value, 99, num_initial=4)) == size


def test_pending_points_count_and_so_does_a_batch():
    space = {"a": Integer(1, 3, limits=(1, 3)), "b": Categorical(["x", "y"])}
    record = fill(space, lambda p: float(p["a"]), 3, num_initial=2)
    record.append(Outcome(propose(space, record, search=QUICK)[0]))
    left = propose(space, record, 2, search=QUICK)
    assert len({tuple(point.items()) for point in (*left, *(o.point for o in record))}) == 6
    with pytest.raises(SpaceExhaustedError, match="variance of their noise"):
        propose(space, record, 3, search=QUICK)
    with pytest.raises(SpaceExhaustedError):
        propose(space, [Outcome(o.point, failed=True) for o in record], 3, search=QUICK)


def test_known_noise_makes_a_repetition_worth_something():
    space = {"a": Categorical(["x", "y", "z"])}
    values = [1.0, 2.0, 3.0, 3.0, 1.0, 2.0]
    record = [Outcome({"a": a}, value, 4.0) for a, value in zip("xyzxyz", values, strict=True)]
    assert propose(space, record, search=QUICK)[0]["a"] in "xyz"


@pytest.mark.parametrize(
    "space",
    [
        {"a": Float(0.0, 1.0, limits=(0.0, None))},
        {"a": Float(0.0, 1.0, limits=(0.0, 1.0)), "b": Float(0.0, 1.0, limits=(0.0, 1.0))},
        {"a": Float(1e-3, 1.0, log=True, limits=(1e-4, None)), "b": Categorical([1, 2])},
    ],
)
@pytest.mark.parametrize("slope", [1.0, 0.0])
def test_at_a_limit_that_all_data_point_to_nothing_comes_twice(space, slope):
    record = fill(space, lambda p: slope * sum(p.values()), 16, num_initial=4)
    assert len(record) == 16


def test_workers_that_do_not_see_each_other_get_different_initial_points():
    points = [propose(SPACE, [], index=i)[0] for i in range(8)]
    assert all(a != b for i, a in enumerate(points) for b in points[:i])
    assert points == propose(SPACE, [], 8, num_initial=8)


def test_without_a_success_the_first_box_is_filled():
    record = [Outcome((0.0, 0.5), failed=True)] * 9
    (point,) = propose(BOX, record, num_initial=3)
    assert -3 <= point[0] <= 3 and -1 <= point[1] <= 2  # at most three times as wide


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"direction": "down"}, "direction"),
        ({"q": 0}, "q >= 1"),
        ({"num_initial": 0}, "num_initial"),
        ({"record": [Outcome((9.0, 0.0), 1.0)], "hard_limits": {0: (None, 2.0)}}, "hard limits"),
        ({"record": [Outcome({"x": 1.0}, 1.0)]}, "numbers|points"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(InputDataError, match=words):
        propose(BOX, **{"record": [], **arguments})


def test_variances_are_given_for_all_or_for_none():
    record = [Outcome((0.1 * i, 0.5), 1.0 * i, 0.1 if i else None) for i in range(6)]
    with pytest.raises(InputDataError, match="with all outcomes or with none"):
        propose(BOX, record)


def test_nothing_is_left_in_the_global_generator():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    propose(SPACE, [Outcome({"lr": 0.01, "n": i, "act": "relu"}, float(i)) for i in range(1, 10)])
    assert torch.equal(torch.get_rng_state(), before)


def test_categories_alone():
    space = {"a": Categorical(["x", "y", "z"]), "b": Categorical([0, 1, 2])}
    record = []
    for _ in range(7):
        (point,) = propose(space, record, num_initial=3, search=QUICK)
        assert point not in [outcome.point for outcome in record]
        record.append(Outcome(point, float((point["a"] != "z") + point["b"])))
    pending = [Outcome(point) for point in propose(space, record, 2, search=QUICK)]
    assert len({tuple(o.point.items()) for o in [*record, *pending]}) == 9
