"""From a host's ranges to parameters: its bounds are the limits, the user's guess is the box."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

from botorch.exceptions.errors import InputDataError
from botorch.exceptions.warnings import BotorchWarning

from botorch_ubo.spaces import Float, Integer

Start = Mapping[str, tuple[float, float]]


def check_start(start: Start | None) -> dict[str, tuple[float, float]]:
    """A user's first boxes by name, as pairs of finite numbers."""
    checked = {}
    for name, pair in dict(start or {}).items():
        try:
            low, high = (float(x) for x in pair)
        except (TypeError, ValueError):
            low, high = math.nan, math.nan
        if not low < high or not math.isfinite(low) or not math.isfinite(high):
            raise InputDataError(
                f"Expected `start` to have a finite (low, high) for {name!r}; got {pair!r}."
            )
        checked[name] = (low, high)
    return checked


def number(
    name: str,
    limits: tuple[float, float],
    start: tuple[float, float] | None,
    *,
    log: bool = False,
    integer: bool = False,
    step: float | None = None,
) -> Float | Integer:
    r"""A number within a host's bounds that is searched from a user's guess.

    Args:
        name: Its name, for messages.
        limits: The host's bounds.
        start: The user's guess; the bounds if ``None``.
        log: Whether the scale is logarithmic.
        integer: Whether it is an integer.
        step: How far values are apart, if they are.

    Returns:
        The parameter. A guess that has nothing in common with the bounds, which some hosts allow
        to change, is left aside with a warning.
    """
    if start is not None:
        low, high = max(start[0], limits[0]), min(start[1], limits[1])
        try:
            return _number((low, high), limits, log, integer, step)
        except InputDataError:
            warnings.warn(
                f"The start {start} of {name!r} leaves nothing to search within the bounds "
                f"{limits}: the search starts from all of them.",
                BotorchWarning,
                stacklevel=2,
            )
    if not all(map(math.isfinite, limits)):
        raise InputDataError(
            f"Expected a first box for {name!r}, whose bounds {limits} are infinite: "
            f"start={{{name!r}: (low, high)}}."
        )
    return _number(limits, limits, log, integer, step)


def _number(
    box: tuple[float, float],
    limits: tuple[float, float],
    log: bool,
    integer: bool,
    step: float | None,
) -> Float | Integer:
    ends: list[Any] = [None if math.isinf(x) else x for x in limits]
    if integer:
        low, high = math.ceil(box[0]), math.floor(box[1])
        whole = (
            None if ends[0] is None else math.ceil(ends[0]),
            None if ends[1] is None else math.floor(ends[1]),
        )
        return Integer(low, high, log, whole, 1 if step is None else int(step))
    return Float(box[0], box[1], log, (ends[0], ends[1]), step)
