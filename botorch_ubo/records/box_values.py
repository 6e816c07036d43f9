"""Boxes and sides as plain values that survive JSON."""

from __future__ import annotations

from typing import Any, Literal, cast

from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.records.json_values import read_choice, read_count, read_finite

Box = tuple[tuple[float, ...], tuple[float, ...]]
SideName = Literal["lower", "upper"]
Side = tuple[int, SideName]
SIDE_NAMES: tuple[SideName, SideName] = ("lower", "upper")


def as_box(bounds: Tensor) -> Box:
    """A ``2 x d`` tensor as nested tuples."""
    lower, upper = bounds.tolist()
    return tuple(lower), tuple(upper)


def read_box(values: Any) -> Box:
    """A box from nested lists, checked."""
    lower, upper = (tuple(map(read_finite, corner)) for corner in values)
    if len(lower) != len(upper) or not all(a < b for a, b in zip(lower, upper, strict=True)):
        raise InputDataError(f"Expected a box with lower < upper; got {values!r}.")
    return lower, upper


def read_sides(values: Any) -> tuple[Side, ...]:
    """Sides from pairs, checked."""
    return tuple(
        (read_count(dim), cast(SideName, read_choice(side, SIDE_NAMES))) for dim, side in values
    )
