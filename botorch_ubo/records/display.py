"""How things look in a terminal and in a notebook: a few lines, a small table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_MOST = 4  # dimensions that are shown; the others are counted


def format_box(box: Sequence[Sequence[float]], digits: int = 4, most: int = _MOST) -> str:
    """A box as intervals, the first few of them."""
    pairs = list(zip(*box, strict=True))
    shown = " x ".join(f"[{a:.{digits}g}, {b:.{digits}g}]" for a, b in pairs[:most])
    return shown + (f" x ... ({len(pairs)} dimensions)" if len(pairs) > most else "")


def format_point(point: Sequence[float], digits: int = 6, most: int = 2 * _MOST) -> str:
    """A point, the first few of its coordinates."""
    shown = ", ".join(f"{x:.{digits}g}" for x in point[:most])
    return f"({shown}, ... {len(point)} in all)" if len(point) > most else f"({shown})"


def as_table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A small HTML table for a notebook."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"
