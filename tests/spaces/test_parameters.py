"""Parameters: coordinates, grids, limits and refusals."""

import math

import pytest
from botorch.exceptions.errors import InputDataError
from hypothesis import given
from hypothesis import strategies as st

from botorch_ubo.spaces import Categorical, Float, Integer, Ordinal

PARAMETERS = [
    Float(-1.0, 1.0),
    Float(1e-4, 1e-2, log=True),
    Float(1e-4, 1e-2, log=True, limits=(1e-6, 1.0)),
    Float(0.0, 1.0, step=0.25, limits=(-1.0, 2.1)),
    Integer(1, 3),
    Integer(1, 3, limits=(1, 100)),
    Integer(4, 64, log=True),
    Integer(4, 64, log=True, limits=(2, 4096)),
    Integer(3, 9, step=3, limits=(0, 31)),
    Ordinal([16, 32, 64]),
    Categorical(["relu", "tanh", None, 1, True]),
]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)
@given(u=st.floats(-1e4, 1e4))
def test_what_is_evaluated_has_the_coordinate_that_the_model_sees(parameter, u):
    snapped = parameter.snap(u)
    lower, upper = parameter.walls
    assert lower <= snapped <= upper
    assert parameter.encode(parameter.decode(snapped)) == snapped


@pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)
@given(u=st.floats(-20, 20))
def test_neighbours_are_other_values_and_each_others(parameter, u):
    here = parameter.snap(u)
    for other in parameter.beside(here):
        assert other != here
        assert parameter.snap(other) == other
        assert here in parameter.beside(other)


def test_a_logarithmic_box_has_the_lower_limit_zero_at_minus_infinity():
    lr = Float(1e-3, 1e-1, log=True, limits=(0, None))
    assert lr.interval == (math.log(1e-3), math.log(1e-1))
    assert lr.walls == (-math.inf, math.inf)
    assert lr.decode(-1e9) > 0
    assert math.isfinite(lr.decode(1e9))


def test_integers_are_rounded_and_their_limits_are_values():
    layers = Integer(1, 3, limits=(1, 5))
    assert [layers.decode(u) for u in (-3.0, 1.4, 1.6, 5.4, 99.0)] == [1, 1, 2, 5, 5]
    assert layers.beside(1.0) == [2.0]
    assert layers.beside(3.0) == [2.0, 4.0]


def test_logarithmic_integers_are_rounded_in_their_own_units():
    width = Integer(4, 64, log=True)
    assert width.decode(math.log(10.4)) == 10
    assert width.decode(-5.0) == 1
    assert width.beside(math.log(8)) == [math.log(7), math.log(9)]


def test_steps_are_counted_from_the_lower_limit():
    rate = Float(0.3, 0.8, step=0.25, limits=(0.1, 1.0))
    assert rate.decode(0.4) == 0.35
    assert rate.decode(5.0) == 0.85
    batch = Integer(10, 20, step=4, limits=(2, 31))
    assert [batch.decode(u) for u in (11.0, 13.0, 31.0)] == [10, 14, 30]


def test_ordinals_are_indices_and_categories_are_one_step_apart():
    size, act = Ordinal([16, 32, 64]), Categorical(["relu", "tanh", "gelu"])
    assert size.encode(64) == 2.0
    assert size.beside(0.0) == [1.0]
    assert act.beside(1.0) == [0.0, 2.0]


def test_one_and_true_are_different_categories():
    choice = Categorical([1, True, "1"])
    assert [choice.encode(v) for v in (1, True, "1")] == [0.0, 1.0, 2.0]
    assert choice.encode(1.0) == 0.0  # as a file format may return it


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Float(1, 1), "low < high"),
        (lambda: Float(0, math.inf), "finite first box"),
        (lambda: Float(0, 1, log=True), "positive numbers with log=True"),
        (lambda: Float(0, 1, limits=(0.5, None)), "within the limits"),
        (lambda: Float(0, 1, limits=(2, 1)), "lower < upper"),
        (lambda: Float("a", 1), "a number"),
        (lambda: Float(0, 1, step=3.0), "two values"),
        (lambda: Integer(1.5, 3), "an integer"),
        (lambda: Integer(3, 3), "low < high"),
        (lambda: Integer(0, 3, log=True), "low < high|at least 1"),
        (lambda: Ordinal([1]), "at least two values"),
        (lambda: Categorical(["a", "a"]), "all different"),
        (lambda: Categorical("relu"), "list of values"),
        (lambda: Categorical({"svm": {"C": (1, 2)}, "tree": {}}), "search each branch"),
        (lambda: Categorical([{"svm": 1}, {"tree": 2}]), "search each branch"),
    ],
)
def test_refusals_say_what_to_do(make, words):
    with pytest.raises(InputDataError, match=words):
        make()


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (Float(1, 2, log=True), -1.0),
        (Float(0, 1), math.nan),
        (Integer(1, 2), 1.5),
        (Ordinal(["a", "b"]), "c"),
    ],
)
def test_values_of_another_kind_are_refused(parameter, value):
    with pytest.raises(InputDataError, match="Expected"):
        parameter.encode(value)
