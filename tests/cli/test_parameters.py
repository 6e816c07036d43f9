"""Parameters from a command line: what is written is what is searched, or is refused in words."""

from __future__ import annotations

import pytest
from botorch.exceptions.errors import InputDataError

from botorch_ubo import Categorical, Float, Integer, Ordinal, Space
from botorch_ubo.cli.parameters import parse_parameter, parse_space


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x=-1:1", Float(-1.0, 1.0)),
        ("lr=1e-4:1e-2,log", Float(1e-4, 1e-2, log=True)),
        ("x=0:0.5,limits=0:1", Float(0.0, 0.5, limits=(0.0, 1.0))),
        ("x=0:0.5,limits=:1", Float(0.0, 0.5, limits=(None, 1.0))),
        ("x=0:100,step=25", Float(0.0, 100.0, step=25.0)),
        ("n=1:3,int,limits=1:", Integer(1, 3, limits=(1, None))),
        ("n=1:1e3,int,log", Integer(1, 1000, log=True)),
        ("n=0:10,step=5,int", Integer(0, 10, step=5)),
        ("act=relu|tanh", Categorical(["relu", "tanh"])),
        ("size=16|32|64,ordinal", Ordinal([16, 32, 64])),
        ("p=0.5|2", Categorical([0.5, 2])),
        ("p=2|many", Categorical(["2", "many"])),
        ("p=inf|1", Categorical(["inf", "1"])),
    ],
)
def test_what_is_written_is_what_is_searched(text, expected):
    name, parameter = parse_parameter(text)
    assert name == text.partition("=")[0]
    assert parameter == expected and type(parameter) is type(expected)
    assert parameter.describe() == expected.describe()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", "NAME=LOW:HIGH"),
        ("=0:1", "NAME=LOW:HIGH"),
        ("a b=0:1", "without blanks"),
        ("x=1", "'x': Expected two numbers with a colon"),
        ("x=0:1:2", "two numbers"),
        ("x=zero:1", "'x': Expected a number; got 'zero'"),
        ("x=1:0", "'x': Expected low < high"),
        ("x=0:1,log", "positive numbers"),
        ("x=0:1,logarithmic", "got 'logarithmic'"),
        ("n=0.5:2,int", "Expected an integer; got '0.5'"),
        ("n=0:inf,int", "Expected an integer"),
        ("x=0:1,limits=2:3", "within the limits"),
        ("x=0:1,limits=0", "two numbers"),
        ("a=b|c,log", "but `ordinal`"),
        ("a=b|b", "all different"),
        ("a=b|", "blanks"),
        ("a=b|c d", "blanks"),
    ],
)
def test_refusals_name_the_parameter_and_the_remedy(text, words):
    with pytest.raises(InputDataError, match=words):
        parse_parameter(text)


def test_spaces_keep_the_order_and_know_each_name_once():
    assert parse_space(["b=0:1", "a=x|y"]) == Space({"b": (0, 1), "a": Categorical(["x", "y"])})
    with pytest.raises(InputDataError, match="'x' twice"):
        parse_space(["x=0:1", "x=0:2"])
    with pytest.raises(InputDataError, match="got none"):
        parse_space([])
