"""Plain JSON values: what goes out has no NaN, what comes in is checked and never guessed at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from botorch.exceptions.errors import InputDataError

_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def to_json(value: Any) -> Any:
    r"""Bring nested data to JSON values; JSON has no infinities and no NaN, so they become text.

    Args:
        value: Mappings, sequences, strings, numbers, booleans, ``None``, arrays and tensors.

    Returns:
        The same with dicts, lists and text keys; :func:`read_float` reads the numbers back.
    """
    tolist = getattr(value, "tolist", None)
    if callable(tolist):
        return to_json(tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value


def read_float(value: Any) -> float:
    """A number, or one of the texts that :func:`to_json` writes for infinities and NaN."""
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputDataError(f"Expected a number; got {value!r}.")
    try:
        return float(value)
    except OverflowError as error:
        raise InputDataError(f"Expected a number that fits a double; got {value!r}.") from error


def read_finite(value: Any) -> float:
    """A finite number."""
    number = read_float(value)
    if not math.isfinite(number):
        raise InputDataError(f"Expected a finite number; got {value!r}.")
    return number


def read_count(value: Any) -> int:
    """A whole number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputDataError(f"Expected a count; got {value!r}.")
    return value


def read_text(value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise InputDataError(f"Expected a text; got {value!r}.")
    return value


def read_choice(value: Any, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    text = read_text(value)
    if text not in choices:
        raise InputDataError(f"Expected one of {choices}; got {value!r}.")
    return text


def read_fields(values: Any, names: set[str], what: str) -> Mapping[str, Any]:
    """A mapping with exactly these keys."""
    if not isinstance(values, Mapping) or set(values) != names:
        got = sorted(map(str, values)) if isinstance(values, Mapping) else repr(values)
        raise InputDataError(
            f"Expected a well-formed {what} with the fields {sorted(names)}; got {got}."
        )
    return values
