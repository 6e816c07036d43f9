"""Tables in Markdown, with the best cells in bold."""

import math
from collections.abc import Callable, Sequence

import pandas as pd

MISSING = "–"
Format = Callable[[float], str]


def write_table(cells: pd.DataFrame, corner: str = "method") -> str:
    """A table of ready cells; the index is its first column, under the heading ``corner``."""
    rows = cells.astype(object).fillna(MISSING).reset_index().astype(str).to_numpy().tolist()
    heads = [corner, *map(str, cells.columns)]
    lines = [heads, ["---", *["--:"] * len(cells.columns)], *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


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


def met(condition: bool) -> str:
    """Whether a target is met."""
    return "met" if condition else "MISSED"


def method_table(
    frame: pd.DataFrame,
    form: Format = plain,
    bold: bool = True,
    apart: Sequence[str] = (),
    **extra: Sequence[str],
) -> str:
    """A row per method (the frame's index), a column per problem, and further columns.

    Args:
        frame: Numbers.
        form: How to write one.
        bold: Whether to set the lowest of a column in bold.
        apart: Methods that do not compete, such as one that is told the domain.
        extra: Ready cells by heading.
    """
    cells = frame.map(form)
    if bold:
        competing = frame[~frame.index.isin(apart)]
        best = (competing == competing.min()).reindex(frame.index, fill_value=False)
        cells = cells.mask(best, "**" + cells + "**")
    return write_table(cells.assign(**extra))
