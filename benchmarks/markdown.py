"""Tables in Markdown, with the best cells in bold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pandas as pd

MISSING = "–"
Format = Callable[[float], str]


def write_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    lines = [headers, ["---", *["--:"] * (len(headers) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
                     for line in lines)  # fmt: skip


def signed(value: float) -> str:
    """Two decimals and always a sign, as for a logarithm."""
    return MISSING if math.isnan(value) else f"{value:+.2f}"


def plain(value: float) -> str:
    """Two decimals, or three significant digits if it is large or small."""
    if math.isnan(value):
        return MISSING
    return f"{value:.2f}" if 0.1 <= abs(value) < 100 else f"{value:.3g}"


def percent(value: float) -> str:
    """A share."""
    return MISSING if math.isnan(value) else f"{value:.0%}"


def interval(low: float, high: float, form: Format = plain) -> str:
    """Two ends in brackets, or nothing if there is no interval."""
    return "" if math.isnan(low) or math.isnan(high) else f" [{form(low)}, {form(high)}]"


def p_value(p: float) -> str:
    """Two digits, or that it is small."""
    return MISSING if math.isnan(p) else ("< 0.001" if p < 0.001 else f"{p:.2g}")


def p_text(p: float) -> str:
    """The same in a sentence."""
    return f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}"


def bold_best(values: pd.Series, form: Format, lowest: bool, apart: Sequence[str]) -> list[str]:
    """Cells of a column, the best in bold; methods ``apart`` do not compete."""
    competing = values.drop(labels=[name for name in apart if name in values.index]).dropna()
    best = (competing.min() if lowest else competing.max()) if len(competing) else math.nan
    return [
        f"**{form(value)}**" if value == best and name not in apart else form(value)
        for name, value in values.items()
    ]


def method_table(
    frame: pd.DataFrame,
    form: Format = plain,
    lowest: bool | None = True,
    apart: Sequence[str] = (),
    extra: dict[str, Sequence[str]] | None = None,
) -> str:
    """A row per method (the frame's index), a column per problem, and further columns.

    Args:
        frame: Numbers.
        form: How to write one.
        lowest: Whether the lowest or the highest of a column is the best; ``None`` for no bold.
        apart: Methods that do not compete, such as one that is told the domain.
        extra: Ready cells by heading.
    """
    columns = [
        [form(v) for v in frame[c]] if lowest is None else bold_best(frame[c], form, lowest, apart)
        for c in frame.columns
    ]
    columns += [list(cells) for cells in (extra or {}).values()]
    headers = ["method", *(str(c) for c in frame.columns), *(extra or {})]
    rows = [[str(name), *cells] for name, *cells in zip(frame.index, *columns, strict=True)]
    return write_table(headers, rows)
