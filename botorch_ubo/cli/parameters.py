r"""Parameters from a command line: ``lr=1e-4:1e-2,log``, ``layers=1:3,int,limits=1:``, ``act=a|b``.

A number is ``NAME=LOW:HIGH``, its first box, with options behind commas. A value of a list is
``NAME=A|B|C``. Values are texts, unless all of them are numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from botorch.exceptions.errors import BotorchError, InputDataError

from botorch_ubo.spaces import Categorical, Float, Integer, Ordinal, Parameter, Space

HELP = """\
parameters:
  A parameter is NAME=LOW:HIGH, a first box that grows by itself, or NAME=A|B|C, a value of a list.
    "x=-1:1"                     a number; the box may grow beyond
    "lr=1e-4:1e-2,log"           a positive number on a logarithmic scale
    "layers=1:3,int,limits=1:"   an integer, never below 1
    "rate=0:0.5,limits=0:1"      a number that is never outside of [0, 1]
    "size=0:100,step=25"         0, 25, 50 and so on
    "act=relu|tanh"              one of some values
    "batch=16|32|64,ordinal"     one of some values whose order means something
  Options are log, int, step=S and limits=LOWER:UPPER (either may be left out); ordinal for lists.
"""

_FLAGS = ("log", "int")


def parse_space(texts: Sequence[str]) -> Space:
    r"""Parameters in the form of :data:`HELP`.

    Args:
        texts: One each.

    Returns:
        The space.
    """
    parameters: dict[str, Parameter] = {}
    for text in texts:
        name, parameter = parse_parameter(text)
        if name in parameters:
            raise InputDataError(f"Expected each parameter once; got {name!r} twice.")
        parameters[name] = parameter
    if not parameters:
        raise InputDataError('Expected a parameter, as in --param "x=0:1"; got none.')
    return Space(parameters)


def parse_parameter(text: str) -> tuple[str, Parameter]:
    """One parameter and its name."""
    name, equals, rest = text.partition("=")
    if not equals or not re.fullmatch(r"[^\s=]+", name):
        raise InputDataError(
            f"Expected a parameter as NAME=LOW:HIGH or NAME=A|B, NAME without blanks; got {text!r}."
        )
    try:
        return name, _listed(rest) if "|" in rest else _number(rest)
    except BotorchError as error:
        raise InputDataError(f"Parameter {name!r}: {error}") from error


def _listed(text: str) -> Parameter:
    words, _, option = text.partition(",")
    if option not in ("", "ordinal"):
        raise InputDataError(f"Expected no option of a list but `ordinal`; got {option!r}.")
    values = words.split("|")
    if any(re.search(r"\s", value) or not value for value in values):
        raise InputDataError(
            f"Expected values without blanks, at which a shell would part them; got {values}."
        )
    kind = Ordinal if option else Categorical
    return kind(_as_numbers(values) or values)


def _number(text: str) -> Parameter:
    box, *options = text.split(",")
    low, high = _pair(box)
    flags = [option for option in options if option in _FLAGS]
    chosen: dict[str, Any] = {"log": "log" in flags}
    kind: Any = Integer if "int" in flags else Float
    read = _as_integer if "int" in flags else _as_float
    for option in options:
        key, _, value = option.partition("=")
        if key == "limits":
            ends = [None if end == "" else read(end) for end in _pair(value)]
            chosen["limits"] = ends[0], ends[1]
        elif key == "step":
            chosen["step"] = read(value)
        elif option not in _FLAGS:
            raise InputDataError(
                f"Expected the options log, int, step=S or limits=LOWER:UPPER; got {option!r}."
            )
    parameter: Parameter = kind(read(low), read(high), **chosen)
    return parameter


def _pair(text: str) -> tuple[str, str]:
    ends = text.split(":")
    if len(ends) != 2:
        raise InputDataError(
            f"Expected two numbers with a colon between, LOW:HIGH; got {text!r}. A list of values "
            "is A|B."
        )
    return ends[0], ends[1]


def _as_float(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputDataError(f"Expected a number; got {text!r}.") from error


def _as_integer(text: str) -> int:
    number = _as_float(text)
    if not math.isfinite(number) or number != int(number):
        raise InputDataError(f"Expected an integer; got {text!r}. Leave `int` out for others.")
    return int(number)


def _as_numbers(texts: Sequence[str]) -> list[int | float] | None:
    """The texts as numbers, if all are finite ones."""
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return None
    if not all(map(math.isfinite, numbers)):
        return None
    whole = [re.fullmatch(r"[+-]?\d+", text) is not None for text in texts]
    return [int(x) if is_int else x for x, is_int in zip(numbers, whole, strict=True)]
