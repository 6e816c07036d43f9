"""The page as one file: text, figures, style and Plotly itself, and nothing from elsewhere."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from typing import Any

from botorch_ubo.run.page.sections import Section, sections_of
from botorch_ubo.run.page.style import Figure
from botorch_ubo.run.recorded import RecordedRun
from botorch_ubo.run.words import advice_of, describe_found

# Nothing is loaded from anywhere; Plotly makes functions of texts where it draws by WebGL.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)


def make_page(run: RecordedRun, refresh: float | None = None) -> str:
    r"""A run as an HTML page.

    Args:
        run: The run.
        refresh: Seconds after which the page loads itself anew; never by default.

    Returns:
        The page.
    """
    figures: list[Figure] = []
    body = "".join(_section(section, figures) for section in sections_of(run))
    live = "" if refresh is None else f' data-refresh="{refresh:g}"'
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(run.title)} – botorch_ubo</title>\n",
            f"<style>{_resource('page.css')}</style>\n</head>\n<body{live}>\n",
            f"<main>{_header(run, refresh)}{body}{_footer(run)}</main>\n",
            f"<script>{_plotly()}</script>\n",
            f'<script type="application/json" id="figures">{_as_json(figures)}</script>\n',
            f"<script>{_resource('page.js')}</script>\n</body>\n</html>\n",
        ]
    )


def _header(run: RecordedRun, refresh: float | None) -> str:
    pending = len(run.ledger.pending)
    moves = sum(record.moved for record in run.box.history)
    tiles = [
        ("evaluations", f"{len(run.completed):,}"),
        ("pending", f"{pending:,}"),
        ("failed", f"{len(run.failed):,}"),
        ("moves of the box", f"{moves:,}"),
    ]
    if run.best is not None and run.goal.num_objectives == 1:
        value = f"{float(run.Y[run.best, 0]):.5g}"
        tiles.insert(0, ("best" if run.goal.is_plain else "best feasible", value))
    elif run.goal.num_objectives > 1:
        tiles.insert(0, ("points in the front", f"{len(run.front):,}"))
    shown = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>'
        for name, value in tiles
    )
    live = (
        ""
        if refresh is None
        else f'<p class="live">live, anew every {refresh:g} s '
        '<button id="pause" type="button">pause</button></p>'
    )
    found, advice = describe_found(run), advice_of(run)
    return (
        f"<header><h1>{escape(run.title)}</h1><p>{escape(_what(run))}</p>{live}</header>"
        f'<div class="tiles">{shown}</div>'
        f"<aside><p><b>Found</b> {escape(found)}</p><p><b>Advice</b> {escape(advice)}</p></aside>"
    )


def _what(run: RecordedRun) -> str:
    goal, d = run.goal, len(run.space)
    text = f"{', '.join(goal.directions)}, {d} parameter{'s' * (d != 1)}"
    if goal.num_constraints:
        text += f", {goal.num_constraints} constraint{'s' * (goal.num_constraints != 1)}"
    return f"{text}, method {run.box.method.name}"


def _footer(run: RecordedRun) -> str:
    from botorch_ubo import __version__

    first = run.space.show_box(run.box.initial_bounds.tolist())
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return (
        f"<footer><p>The first box: {escape(first) or 'only listed values'}.</p>"
        f"<p>botorch_ubo {__version__}, {now}</p></footer>"
    )


def _section(section: Section, figures: list[Figure]) -> str:
    parts = "".join(
        part if isinstance(part, str) else _row(part, figures) for part in section.parts
    )
    return f"<section><h2>{escape(section.title)}</h2>{parts}</section>\n"


def _row(row: Sequence[Figure], figures: list[Figure]) -> str:
    """Places for figures, which are numbered in the order of the page."""
    places = []
    for figure in row:
        wide = f";min-width:{figure.min_width}px" if figure.min_width else ""
        note = f"<figcaption>{escape(figure.note)}</figcaption>" if figure.note else ""
        places.append(
            f'<figure><div class="plot" role="img" aria-label="{escape(figure.title)}" '
            f'data-figure="{len(figures)}" style="height:{figure.height}px{wide}"></div>'
            f"{note}</figure>"
        )
        figures.append(figure)
    kind = "row single" if len(row) == 1 else "row"
    return f'<div class="{kind}">{"".join(places)}</div>'


def _as_json(figures: Iterable[Figure]) -> str:
    values = [{"data": it.data, "layout": it.layout, "webgl": it.needs_webgl} for it in figures]
    text = json.dumps(_clean(values), allow_nan=False, separators=(",", ":"))
    # Within a script nothing is an element, but this would end it.
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--")


def _clean(value: Any) -> Any:
    """JSON has no NaN and no infinities; Plotly takes null for a gap."""
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list | tuple) else value


def _resource(name: str) -> str:
    return files("botorch_ubo.run.page").joinpath(name).read_text(encoding="utf-8")


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            "Expected plotly, which botorch_ubo's pages draw with; it is not installed. Use "
            "`pip install 'botorch-ubo[report]'`."
        ) from error
    return str(get_plotlyjs())
