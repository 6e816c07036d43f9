"""The box over time, one parameter each, in the user's units."""

from __future__ import annotations

import math
from typing import Any

from botorch_ubo.run.page.points import ShownPoints, axis_of, hover_text, label, on_axis
from botorch_ubo.run.page.style import BAND, MUTED, THIN, Figure, Trace, make_layout, markers
from botorch_ubo.spaces import Parameter

_MOST_BOXES = 400  # that a figure draws


def box_figures(points: ShownPoints) -> list[Figure]:
    """One figure per parameter; none before the first trial."""
    run = points.run
    if not run.trials:
        return []
    return [_figure(points, dim) for dim in range(len(run.space))]


def boxes_over_time(points: ShownPoints) -> list[tuple[int, Any]]:
    """The first box and every other that followed, with the evaluations known at the time."""
    box = points.run.box
    boxes = [(0, tuple(map(tuple, box.initial_bounds.tolist())))]
    moves = [record for record in box.history if record.moved]
    step = max(1, math.ceil(len(moves) / _MOST_BOXES))
    kept = moves[::-step][::-1]  # the last one among them
    return boxes + [(record.num_observations, record.new_bounds) for record in kept]


def _figure(points: ShownPoints, dim: int) -> Figure:
    run = points.run
    name = run.space.names[dim]
    parameter = run.space.parameters[name]
    traces = [] if dim in run.space.listed else _interval(points, dim, parameter)
    for told, kind, index in (
        ("initial points", "initial", points.initial),
        ("evaluations", "later", points.later),
    ):
        if index:
            x: list[float] = [i + 1 for i in index]
            y = points.coordinates(dim, run.X[index])
            traces.append(markers(told, x, y, kind, text=points.texts(index), hoverinfo="text"))
    if points.failed:
        x = [points.failed_at(trial) for trial in points.failed]
        y = points.coordinates(dim, [trial.X for trial in points.failed])
        texts = [hover_text(trial) for trial in points.failed]
        traces.append(markers("failed", x, y, "failed", text=texts, hoverinfo="text"))
    if run.best is not None:
        y = points.coordinates(dim, run.X[[run.best]])
        text = [hover_text(run.completed[run.best])]
        traces.append(markers("best", [run.best + 1], y, "best", text=text, hoverinfo="text"))
    last = _last(points)
    layout = make_layout(
        "evaluations",
        label(name),
        xaxis={"range": [0.5 - 0.04 * last, 1.04 * last]},
        yaxis=axis_of(parameter),
        shapes=_limits(points, dim, parameter),
    )
    layout |= {"showlegend": False, "margin": {**layout["margin"], "t": 10}}
    return Figure(name, traces, layout, height=250)


def _last(points: ShownPoints) -> float:
    """The end of the axis of evaluations."""
    return max(len(points.run.completed), 1) + 0.5


def _interval(points: ShownPoints, dim: int, parameter: Parameter) -> list[Trace]:
    """A band from the lower to the upper end, stepping where the box moved."""
    boxes = boxes_over_time(points)
    last = _last(points)
    # The box of a record serves the evaluations after its `num_observations`.
    x = [0.5, *(n + 0.5 for n, _ in boxes[1:]), last]
    sides = [
        [on_axis(parameter, bounds[row][dim]) for _, bounds in [*boxes, boxes[-1]]]
        for row in (0, 1)
    ]
    common = {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "line": {**THIN, "shape": "hv"},
        "legendgroup": "box",
        "hovertemplate": "box: %{y:.5g}<extra></extra>",
    }
    return [
        {**common, "y": sides[0], "name": "box", "showlegend": False},
        {**common, "y": sides[1], "name": "box", "fill": "tonexty", "fillcolor": BAND},
    ]


def _limits(points: ShownPoints, dim: int, parameter: Parameter) -> list[dict[str, Any]]:
    """A dashed line at every hard limit."""
    if dim in points.run.space.listed:
        return []
    lower, upper = points.run.box.hard_limits[:, dim].tolist()
    return [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": on_axis(parameter, end),
            "y1": on_axis(parameter, end),
            "line": {"color": MUTED, "width": 1.5, "dash": "dash"},
            "label": {"text": "hard limit", "font": {"color": MUTED, "size": 11}},
        }
        for end in (lower, upper)
        if math.isfinite(end)
    ]
