"""Parallel coordinates: every evaluation a line through its parameters and outcomes."""

from __future__ import annotations

import math
from html import unescape
from typing import Any

import torch
from torch import Tensor

from botorch_ubo.run.page.model_figures import outcome_names
from botorch_ubo.run.page.points import ShownPoints, axis_of, is_log, label
from botorch_ubo.run.page.style import Figure, common_layout
from botorch_ubo.spaces import Parameter

_WIDTH = 105  # pixels per axis: labels and ticks side by side
_LN10 = math.log(10.0)


def coordinates_figure(points: ShownPoints) -> Figure:
    """All drawn evaluations; dark lines are good ones. An axis is brushed with the mouse."""
    run = points.run
    rank = goodness(points)
    # Later lines are drawn above earlier ones.
    index = [i for _, i in sorted(zip(rank.tolist(), points.index, strict=True), reverse=True)]
    colors = sorted(rank.tolist(), reverse=True)
    X, Y = run.X[index], run.Y[index]
    axes = [
        _parameter_axis(name, parameter, X[:, dim])
        for dim, (name, parameter) in enumerate(run.space.parameters.items())
    ]
    axes += [_outcome_axis(name, Y[:, row]) for row, name in enumerate(outcome_names(run))]
    trace = {
        "type": "parcoords",
        "dimensions": axes,
        "labelfont": {"size": 13},
        "line": {
            "color": colors,
            "colorscale": "Viridis",
            "cmin": 0,
            "cmax": 1,
            "showscale": True,
            "colorbar": {
                "tickvals": [0, 1],
                "ticktext": ["best", "worst"],
                "thickness": 12,
                "len": 0.9,
            },
        },
    }
    layout = common_layout() | {"margin": {"l": 50, "r": 30, "t": 50, "b": 24}}
    return Figure(
        "Parallel coordinates",
        [trace],
        layout,
        height=380,
        min_width=_WIDTH * len(axes) + 110,
        needs_webgl=True,
    )


def goodness(points: ShownPoints) -> Tensor:
    """From 0, the best, to 1 by rank; infeasible evaluations come last."""
    run, goal = points.run, points.run.goal
    values = goal.objectives(run.Y)[points.index]
    feasible = goal.feasible(run.Y)[points.index]
    # Of several objectives the mean of the ranks, which needs no common unit.
    ranks = values.argsort(dim=0, descending=True).argsort(dim=0).double().mean(dim=-1)
    score = torch.where(feasible, ranks, ranks + len(ranks))
    place = score.argsort().argsort().double()
    return place / max(len(place) - 1, 1)


def _parameter_axis(name: str, parameter: Parameter, u: Tensor) -> dict[str, Any]:
    axis = axis_of(parameter)
    if not is_log(parameter):
        if "ticktext" in axis:  # which is read as text here, and as markup on other axes
            axis["ticktext"] = [unescape(text) for text in axis["ticktext"]]
        return {"label": label(name), "values": u.tolist(), **axis}
    return {"label": label(name), **_decades(u / _LN10)}


def _outcome_axis(name: str, y: Tensor) -> dict[str, Any]:
    if float(y.min()) > 0 and float(y.max()) > 1000 * float(y.min()):
        return {"label": label(name), **_decades(y.log10())}
    return {"label": label(name), "values": y.tolist()}


def _decades(exponents: Tensor) -> dict[str, Any]:
    """An axis of logarithms to base ten, with powers as ticks."""
    low, high = math.floor(float(exponents.min())), math.ceil(float(exponents.max()))
    high = max(high, low + 1)
    step = max(1, math.ceil((high - low) / 8))
    ticks = list(range(low, high + 1, step))
    return {
        "values": exponents.tolist(),
        "range": [low, high],
        "tickvals": ticks,
        "ticktext": [f"{10.0**tick:g}" if abs(tick) <= 4 else f"1e{tick}" for tick in ticks],
    }
