"""Plain JSON values: no NaN goes out, nothing is guessed at on the way in."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import InputDataError
from hypothesis import given
from hypothesis import strategies as st

from botorch_ubo.records.json_values import (
    read_choice,
    read_count,
    read_fields,
    read_finite,
    read_float,
    read_text,
    to_json,
)


@given(st.floats())
def test_every_float_comes_back(value: float) -> None:
    text = json.dumps(to_json(value), allow_nan=False)
    back = read_float(json.loads(text))
    assert back == value or (math.isnan(back) and math.isnan(value))


def test_nested_data_become_lists_and_dicts() -> None:
    value = {"a": (1, 2.5), 3: {"b": None}, "t": torch.tensor([[1.0, math.inf]]), "n": np.int64(4)}
    expected = {"a": [1, 2.5], "3": {"b": None}, "t": [[1.0, "inf"]], "n": 4}
    assert to_json(value) == expected


@pytest.mark.parametrize(
    ("read", "value", "words"),
    [
        (read_float, "1.5", "a number; got '1.5'"),
        (read_float, True, "a number; got True"),
        (read_float, None, "a number"),
        pytest.param(read_float, 10**400, "fits a double", id="huge"),
        (read_finite, "nan", "finite number; got 'nan'"),
        (read_finite, math.inf, "finite number"),
        (read_count, -1, "a count; got -1"),
        (read_count, 1.0, "a count"),
        (read_count, True, "a count"),
        (read_text, 3, "a text; got 3"),
        (lambda value: read_choice(value, ("a", "b")), "c", r"one of \('a', 'b'\); got 'c'"),
        (lambda value: read_fields(value, {"a"}, "thing"), {"a": 1, "b": 2}, "well-formed thing"),
        (lambda value: read_fields(value, {"a"}, "thing"), [("a", 1)], "well-formed thing"),
    ],
)
def test_anything_else_is_refused(read: Callable[[Any], Any], value: object, words: str) -> None:
    with pytest.raises(InputDataError, match=f"Expected.* {words}"):
        read(value)


def test_what_is_right_comes_through() -> None:
    assert read_float(3) == 3.0 and isinstance(read_float(3), float)
    assert read_count(0) == 0
    assert read_choice("b", ("a", "b")) == "b"
    assert read_fields({"a": 1}, {"a"}, "thing") == {"a": 1}
