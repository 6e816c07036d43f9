"""What the model thinks: slices through the best point, and which parameters matter."""

from __future__ import annotations

import math
from typing import Any

import torch
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo.models.structure import sub_models
from botorch_ubo.records.palette import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION
from botorch_ubo.run.page.points import ShownPoints, axis_of, label, on_axis, show
from botorch_ubo.run.page.style import BAND, SOLID, Figure, Trace, make_layout, markers
from botorch_ubo.run.recorded import RecordedRun
from botorch_ubo.spaces import Integer, Parameter

_GRID = 61
_SMALL_STEP = 0.01  # of a side: correlations are near 1 and their logarithm is a number
_HALF_WIDTHS = 2.0  # standard deviations on either side


def slice_figures(points: ShownPoints) -> list[tuple[str, list[Figure]]]:
    """For each outcome its name and one figure per parameter, through the best point."""
    run = points.run
    center = run.X[run.best if run.best is not None else len(run.completed) - 1]
    grids = [_grid(run, dim, center) for dim in range(len(run.space))]
    slices = [_posterior(run.model, center, dim, grid) for dim, grid in enumerate(grids)]
    found = []
    for outcome, name in enumerate(outcome_names(run)):
        ends = [_ends(mean[:, outcome], sd[:, outcome]) for mean, sd in slices]
        view = _padded(min(low for low, _ in ends), max(high for _, high in ends))
        figures = [
            _slice(points, dim, grids[dim], center, mean[:, outcome], sd[:, outcome], view)
            for dim, (mean, sd) in enumerate(slices)
        ]
        found.append((name, figures))
    return found


def outcome_names(run: RecordedRun) -> list[str]:
    """What to call the numbers of an evaluation."""
    goal = run.goal
    if goal.is_plain:
        return ["outcome"]
    several = goal.num_objectives > 1
    names = [f"objective {i}" for i in range(goal.num_objectives)] if several else ["objective"]
    return names + [f"constraint {i}" for i in range(goal.num_constraints)]


def importance_figure(points: ShownPoints) -> Figure:
    r"""Bars of how far apart the ends of the first box are to the model, per parameter.

    Distances are in length-scales: ``r = sqrt(-2 log corr)`` is ``side / length-scale`` for an RBF
    kernel, and of two categories whatever their correlation amounts to.
    """
    run = points.run
    distances = lengthscales_apart(run)  # m x d
    order = distances.amax(dim=0).argsort()
    names = [label(run.space.names[i]) for i in order.tolist()]
    colors = [BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION]
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": names,
            "x": distances[row, order].tolist(),
            "marker": {"color": colors[row % len(colors)]},
            "hovertemplate": "%{y}: %{x:.3g}<extra></extra>",
        }
        for row, name in enumerate(outcome_names(run))
    ]
    layout = make_layout("length-scales across the first box", "", showlegend=len(traces) > 1)
    height = 110 + (24 + 14 * (len(traces) - 1)) * len(names)
    return Figure("Importance by length-scale", traces, layout, height=height)


def lengthscales_apart(run: RecordedRun) -> Tensor:
    """``m x d``: how many length-scales of each outcome's model the first box measures."""
    x = run.X[:1]
    sides = run.box.initial_bounds[1] - run.box.initial_bounds[0]
    categories = {column for column, _ in run.space.categories}
    rows = []
    for model in sub_models(run.model):
        row = []
        for dim in range(len(run.space)):
            other = x.clone()
            step = 1.0 if dim in categories else _SMALL_STEP * float(sides[dim])
            # To another category, whichever it is: the kernel knows equal and different only.
            other[0, dim] += -step if dim in categories and x[0, dim] >= 1 else step
            factor = 1.0 if dim in categories else 1 / _SMALL_STEP
            row.append(factor * _distance(model, x, other))
        rows.append(row)
    return torch.tensor(rows, dtype=torch.double)


def _distance(model: Model, x: Tensor, other: Tensor) -> float:
    """``sqrt(-2 log corr)`` of two points by a model's prior."""
    with torch.no_grad():
        both = torch.cat([x, other])
        transform = getattr(model, "input_transform", None)
        both = both if transform is None else transform.transform(both)
        kernel: Any = model.covar_module
        K = kernel(both).to_dense()
    correlation = float(K[0, 1] / (K[0, 0] * K[1, 1]).sqrt())
    return math.sqrt(max(0.0, -2 * math.log(max(correlation, 1e-300))))


def _grid(run: RecordedRun, dim: int, center: Tensor) -> Tensor:
    """Coordinates along one parameter: all over the box and to the best point."""
    parameter = run.space.parameters[run.space.names[dim]]
    if dim in run.space.listed:
        return torch.arange(int(parameter.interval[1]) + 1, dtype=torch.double)
    bounds = run.box.bounds[:, dim].double().cpu()
    low, high = min(bounds[0], center[dim]), max(bounds[1], center[dim])
    grid = torch.linspace(float(low), float(high), _GRID, dtype=torch.double)
    grid = torch.cat([grid, center[dim : dim + 1]]).unique()
    if isinstance(parameter, Integer):
        return torch.tensor(sorted({parameter.snap(float(u)) for u in grid}), dtype=torch.double)
    return grid


def _posterior(model: Model, center: Tensor, dim: int, grid: Tensor) -> tuple[Tensor, Tensor]:
    """``g x m`` means and standard deviations along one parameter."""
    X = center.repeat(len(grid), 1)
    X[:, dim] = grid
    with torch.no_grad():
        posterior: Any = model.posterior(X)
        return posterior.mean, posterior.variance.clamp_min(0).sqrt()


def _slice(
    points: ShownPoints,
    dim: int,
    grid: Tensor,
    center: Tensor,
    mean: Tensor,
    sd: Tensor,
    view: tuple[float, float],
) -> Figure:
    run = points.run
    name = run.space.names[dim]
    parameter = run.space.parameters[name]
    x = [on_axis(parameter, u) for u in grid.tolist()]
    traces = _marks(parameter, x, mean, sd) if dim in run.space.listed else _band(x, mean, sd)
    here = int((grid - center[dim]).abs().argmin())
    at = on_axis(parameter, float(center[dim]))
    told = f"best point: {label(name)} = {label(parameter.show(float(center[dim])))}"
    traces.append(
        markers("best point", [at], [float(mean[here])], "best", text=[told], hoverinfo="text")
    )
    layout = make_layout(label(name), "", xaxis=axis_of(parameter), yaxis={"range": list(view)})
    layout |= {"showlegend": False, "margin": {**layout["margin"], "t": 10}}
    return Figure(name, traces, layout, height=240)


def _band(x: list[float], mean: Tensor, sd: Tensor) -> list[Trace]:
    low, high = (mean - _HALF_WIDTHS * sd).tolist(), (mean + _HALF_WIDTHS * sd).tolist()
    edge: Trace = {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "line": {"width": 0},
        "hoverinfo": "skip",
    }
    return [
        {**edge, "y": low, "showlegend": False},
        {**edge, "y": high, "name": "95 % of the model", "fill": "tonexty", "fillcolor": BAND},
        {
            "type": "scatter",
            "mode": "lines",
            "name": "mean",
            "x": x,
            "y": mean.tolist(),
            "line": SOLID,
            "customdata": sd.tolist(),
            "hovertemplate": "%{x:.5g}: %{y:.5g} ± %{customdata:.3g}<extra></extra>",
        },
    ]


def _marks(parameter: Parameter, x: list[float], mean: Tensor, sd: Tensor) -> list[Trace]:
    """Means of listed values, with bars."""
    values = [label(show(parameter.decode(u))) for u in x]
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "mean",
            "x": x,
            "y": mean.tolist(),
            "marker": {"color": BLUE, "size": 9},
            "error_y": {"array": (_HALF_WIDTHS * sd).tolist(), "color": BLUE, "thickness": 1.5},
            "text": values,
            "hovertemplate": "%{text}: %{y:.5g} ± %{error_y.array:.3g}<extra></extra>",
        }
    ]


def _ends(mean: Tensor, sd: Tensor) -> tuple[float, float]:
    return float((mean - _HALF_WIDTHS * sd).min()), float((mean + _HALF_WIDTHS * sd).max())


def _padded(low: float, high: float) -> tuple[float, float]:
    pad = 0.06 * (high - low) or 0.5 * max(abs(low), 1e-12)
    return low - pad, high + pad
