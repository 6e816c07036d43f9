"""One look for all figures of a page, as Plotly takes it, and the form of one figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botorch_ubo.records.palette import BEST, BLUE, FAILED, ORANGE

INK = "#1f2937"
MUTED = "#6b7280"
GRID = "#e5e7eb"
BAND = "rgba(0, 114, 178, 0.15)"
"""Blue of the palette, seen through."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

Trace = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """What Plotly draws, and what is written beside it."""

    title: str
    data: list[Trace]
    layout: dict[str, Any]
    height: int = 320
    min_width: int = 0
    """Pixels; on a narrower screen the figure is scrolled sideways."""
    needs_webgl: bool = False
    note: str = ""


def make_layout(x: str, y: str, **changes: Any) -> dict[str, Any]:
    r"""The layout of a figure with two axes.

    Args:
        x: Title of the horizontal axis.
        y: Title of the vertical one.
        changes: Further entries; ``xaxis`` and ``yaxis`` are merged with the usual ones.

    Returns:
        The layout.
    """
    axis = {
        "gridcolor": GRID,
        "zeroline": False,
        "linecolor": GRID,
        "automargin": True,
        "tickfont": {"size": 12},
    }
    base = common_layout()
    base |= {
        "xaxis": {**axis, "title": {"text": x}, **changes.pop("xaxis", {})},
        "yaxis": {**axis, "title": {"text": y}, **changes.pop("yaxis", {})},
        "hovermode": "closest",
    }
    return base | changes


def common_layout() -> dict[str, Any]:
    """What figures with and without axes share."""
    return {
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "#ffffff",
        "margin": {"l": 12, "r": 12, "t": 30, "b": 40},
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "font": {"size": 12},
        },
        "hoverlabel": {"align": "left", "font": {"family": FONT}},
    }


def markers(name: str, x: list[Any], y: list[Any], kind: str, **changes: Any) -> Trace:
    """Points of one kind: initial, later, infeasible, failed or the best."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": x,
        "y": y,
        "marker": dict(MARKERS[kind]),
        **changes,
    }


MARKERS: Mapping[str, Mapping[str, Any]] = {
    "initial": {"color": "#ffffff", "size": 7, "line": {"color": INK, "width": 1.2}},
    "later": {"color": INK, "size": 6, "opacity": 0.75},
    "infeasible": {
        "color": ORANGE,
        "size": 8,
        "symbol": "triangle-up-open",
        "line": {"width": 1.5},
    },
    "failed": {"color": FAILED, "size": 8, "symbol": "x-thin-open", "line": {"width": 2}},
    "best": {
        "color": BEST,
        "size": 15,
        "symbol": "star",
        "line": {"color": "#ffffff", "width": 1},
    },
    "front": {"color": BEST, "size": 9, "symbol": "circle-open", "line": {"width": 2}},
}
SOLID = {"color": BLUE, "width": 2.5}
THIN = {"color": BLUE, "width": 1.5}

_SIGNS = {
    "box": f'<i style="background:{BAND};border:1.5px solid {BLUE}"></i>',
    "mean": f'<i style="height:0;border-top:2.5px solid {BLUE}"></i>',
    "95 % of the model": f'<i style="background:{BAND}"></i>',
    "initial points": "<b>○</b>",
    "evaluations": "<b>●</b>",
    "failed": f'<b style="color:{FAILED}">✕</b>',
    "best": f'<b style="color:{BEST}">★</b>',
    "hard limit": f'<i style="height:0;border-top:2px dashed {MUTED}"></i>',
}


def legend(*names: str) -> str:
    """What signs mean, once for all figures of a section."""
    shown = "".join(f"<span>{_SIGNS[name]} {name}</span>" for name in names)
    return f'<p class="legend">{shown}</p>'
