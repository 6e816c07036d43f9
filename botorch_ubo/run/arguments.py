"""A user's arguments, brought to one form."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

Bounds = Tensor | Sequence[Sequence[float]] | Any
Direction = Literal["minimize", "maximize"]
InputType = Literal["floats", "tensor"]


def as_bounds(bounds: Bounds) -> Tensor:
    r"""Bring a rough guess to a ``2 x d`` double tensor.

    Args:
        bounds: ``d`` pairs ``(lower, upper)`` as nested sequences or a ``d x 2`` array, or a
            ``2 x d`` tensor.

    Returns:
        The tensor; :class:`ExpandingBounds` checks its values.
    """
    if isinstance(bounds, Tensor):
        return bounds.detach().to("cpu", torch.double)
    try:
        pairs = [_pair(*pair) for pair in map(_no_text, bounds)]
    except (TypeError, ValueError) as error:
        raise InputDataError(
            "Expected `bounds` as (lower, upper) pairs, one per dimension, or as a 2 x d tensor; "
            f"got {bounds!r}."
        ) from error
    if not pairs:
        raise InputDataError("Expected `bounds` of at least one dimension; got none.")
    return torch.tensor(pairs, dtype=torch.double).T


def as_points(X: Any, d: int) -> Tensor:
    r"""Bring points to an ``n x d`` double tensor.

    Args:
        X: ``n x d`` numbers as a tensor, an array, a data frame or nested sequences.
        d: The number of inputs.

    Returns:
        The tensor.
    """
    points = as_doubles(X, "X")
    if points.dim() != 2 or points.shape[-1] != d:
        raise InputDataError(
            f"Expected points as n x {d} numbers, one row per point; got shape "
            f"{tuple(points.shape)}."
        )
    return points


def as_values(
    values: Any, count: int, name: str, width: int = 1
) -> list[float | tuple[float, ...]]:
    r"""Bring one number per point, or several, to a list.

    Args:
        values: ``n`` or ``n x 1`` numbers in any form; ``n x m`` of several outcomes.
        count: ``n``.
        name: What to call them in an error message.
        width: ``m``.

    Returns:
        The list.
    """
    numbers = as_doubles(values, name)
    if width > 1:
        if tuple(numbers.shape) != (count, width):
            raise InputDataError(
                f"Expected {width} numbers of `{name}`, objectives and then constraints, for each "
                f"of the {count} points; got shape {tuple(numbers.shape)}."
            )
        return [tuple(row) for row in numbers.tolist()]
    if tuple(numbers.shape) not in ((count,), (count, 1)):
        raise InputDataError(
            f"Expected one number of `{name}` for each of the {count} points; got shape "
            f"{tuple(numbers.shape)}."
        )
    return list(numbers.flatten().tolist())


def as_count(value: Any, name: str, least: int = 1) -> int:
    r"""Bring a number of things to an int.

    Args:
        value: A whole number, also of numpy.
        name: What to call it in an error message.
        least: The least that it may be.

    Returns:
        The int.
    """
    try:
        count = operator.index(value)
    except TypeError:
        count = None
    if count is None or isinstance(value, bool) or count < least:
        raise InputDataError(f"Expected a whole number `{name}` >= {least}; got {value!r}.")
    return count


def _no_text(value: Any) -> Any:
    """A text can be unpacked and converted like a pair of numbers, but is none."""
    if isinstance(value, str | bytes):
        raise TypeError(f"{value!r} is a text")
    return value


def _pair(lower: Any, upper: Any) -> tuple[float, float]:
    return float(_no_text(lower)), float(_no_text(upper))


def as_doubles(values: Any, name: str) -> Tensor:
    r"""Bring numbers to a double tensor of their shape.

    Args:
        values: A tensor, an array, a data frame or nested sequences of numbers.
        name: What to call them in an error message.

    Returns:
        The tensor, on the CPU and without a gradient; missing numbers (``None``) are NaN.

    Raises:
        InputDataError: If texts, complex numbers or masked values are among them: these convert,
            but say something else.
    """
    try:
        if isinstance(values, Tensor):
            if values.is_complex():
                raise TypeError("these are complex")
            return values.detach().to("cpu", torch.double)
        if np.ma.is_masked(values):
            raise TypeError("some are masked")
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = np.vectorize(_as_float, otypes=[np.float64])(array)
        elif array.dtype.kind not in "biuf":
            raise TypeError(f"these are {array.dtype}")
        return torch.from_numpy(np.array(array, dtype=np.float64))
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise InputDataError(f"Expected numbers in `{name}`; got {values!r} ({error}).") from error


def check_callable(value: Any, name: str) -> None:
    """Refuse what cannot be called before anything is spent on it."""
    if not callable(value):
        raise InputDataError(
            f"Expected `{name}` to be a function; got {value!r} ({type(value).__name__})."
        )


def _as_float(value: Any) -> float:
    return math.nan if value is None else float(_no_text(value))
