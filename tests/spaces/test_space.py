"""Spaces: names to coordinates and back."""

import math

import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo.spaces import Categorical, Float, Integer, Ordinal, Space, as_space

SPACE = Space(
    {
        "lr": Float(1e-4, 1e-2, log=True, limits=(0, None)),
        "layers": Integer(1, 3, limits=(1, None)),
        "act": Categorical(["relu", "tanh"]),
        "size": Ordinal([16, 32, 64]),
        "x": (-1.0, 1.0),
    }
)
PARAMS = {"lr": 1e-3, "layers": 2, "act": "tanh", "size": 64, "x": 0.5}


def test_box_and_limits_in_coordinates():
    a, b = math.log(1e-4), math.log(1e-2)
    inf = math.inf
    assert SPACE.bounds.tolist() == [[a, 1, 0, 0, -1], [b, 3, 1, 2, 1]]
    assert SPACE.limits.tolist() == [[-inf, 1, 0, 0, -inf], [inf, inf, 1, 2, inf]]
    assert SPACE.bounds.dtype == torch.double
    assert SPACE.categories == ((2, 2),)
    assert SPACE.grid == (1, 2, 3)


def test_there_and_back():
    point = SPACE.encode(PARAMS)
    assert point == (math.log(1e-3), 2.0, 1.0, 2.0, 0.5)
    back = SPACE.decode(SPACE.snap(point))
    assert back == {**PARAMS, "lr": pytest.approx(1e-3, rel=1e-15)}
    assert SPACE.encode(SPACE.decode(SPACE.snap(point))) == SPACE.snap(point)


def test_neighbours_differ_in_one_parameter_of_the_grid():
    point = SPACE.snap(SPACE.encode(PARAMS))
    near = [SPACE.decode(other) for other in SPACE.beside(point)]
    changes = [{k: v for k, v in other.items() if v != SPACE.decode(point)[k]} for other in near]
    assert changes == [{"layers": 1}, {"layers": 3}, {"act": "relu"}, {"size": 32}]


def test_a_mapping_is_a_space_and_a_list_is_not():
    assert as_space({"x": (0.0, 1.0)}) == Space({"x": Float(0.0, 1.0)})
    assert as_space(SPACE) is SPACE
    assert as_space([(0.0, 1.0)]) is None


def test_in_words():
    words = "lr = 0.001, layers = 2, act = tanh, size = 64, x = 0.5"
    assert SPACE.show(SPACE.encode(PARAMS)) == words


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "at least one name"),
        ({1: (0, 1)}, "names of parameters as texts"),
        ({"x": (1, 0)}, "Parameter 'x': Expected low < high"),
        ({"x": 3}, "'x' to be a pair"),
        ({"kernel": {"svm": {"C": (1, 2)}}}, "search each branch"),
    ],
)
def test_refusals_name_the_parameter(parameters, words):
    with pytest.raises(InputDataError, match=words):
        Space(parameters)


def test_values_are_refused_by_name():
    with pytest.raises(InputDataError, match="a value for each of"):
        SPACE.encode({"lr": 1.0})
    with pytest.raises(InputDataError, match="Parameter 'act': Expected one of"):
        SPACE.encode({**PARAMS, "act": "selu"})
    with pytest.raises(InputDataError, match="'layers' within its limits"):
        SPACE.encode({**PARAMS, "layers": 0})
