"""Points and boxes for a person: in names and the user's units where there are any."""

from __future__ import annotations

from collections.abc import Sequence

from botorch_ubo.records.display import format_box, format_point
from botorch_ubo.spaces.space import Space

_MOST = 4  # parameters of a box that a line has room for


def show_point(space: Space | None, point: Sequence[float]) -> str:
    """A point, in brackets."""
    return format_point(point) if space is None else f"({space.show(point)})"


def show_box(space: Space | None, box: Sequence[Sequence[float]]) -> str:
    """A box, the first few of its sides."""
    if space is None:
        return format_box(box)
    return space.show_box(box, _MOST) or "listed values"
