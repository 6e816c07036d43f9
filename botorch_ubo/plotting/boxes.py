r"""Figures of a run: boxes over contours, one dimension over time, regret bound, best so far.

Every function draws into ``ax``, or into a new figure, and returns the Axes. Time is counted in
evaluations and coloured from dark to light; initial points are hollow. The functions need
matplotlib, ``pip install 'botorch-ubo[plot]'``.

Example:
    >>> ax = plot_boxes(box, X, Y, objective=f)
    >>> ax.figure.savefig("boxes.png")
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import InputDataError
from torch import Tensor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

    from botorch_ubo.controller import ExpandingBounds

_TIME = "viridis"
_BEST = "#D55E00"  # Okabe and Ito's vermillion: apart from viridis and grey to every eye
_LINE = "#0072B2"
_GRID = 160
_LABELLED_BOXES = 5  # more labels than this would overlap; the colour bar remains
_LOG_RATIO = 100.0  # contours are logarithmic if positive values span more than this


def plot_boxes(
    box: ExpandingBounds,
    X: Tensor,
    Y: Tensor | None = None,
    objective: Callable[[Tensor], Tensor] | None = None,
    dims: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
) -> Axes:
    r"""Draw all boxes of a run in two dimensions, with the evaluations.

    Args:
        box: The controller after (or during) a run.
        X: ``n x d`` evaluations in their order.
        Y: ``n`` or ``n x 1`` outcomes; marks the best evaluation.
        objective: A function from ``m x d`` points to ``m`` values, or an acquisition function,
            drawn as contours (logarithmic if positive and of wide range), lighter where better.
            Other dimensions are held at the best evaluation, or without ``Y`` at the box's centre.
        dims: The two dimensions to draw.
        ax: Where to draw; a new figure by default.

    Returns:
        The Axes.
    """
    X = _check_points(X, box, dims)
    best = None if Y is None else _best_index(Y, X, box.settings.maximize)
    boxes = _boxes(box)
    points = X[:, list(dims)]
    view = _view([bounds[:, list(dims)] for _, bounds in boxes], points)
    ax = _axes(ax, (5.6, 4.8))
    if objective is not None:
        anchor = box.bounds.to(X).mean(dim=0) if best is None else X[best]
        high_is_good = box.settings.maximize or isinstance(objective, AcquisitionFunction)
        _draw_contours(ax, objective, anchor, dims, view, "Greys_r" if high_is_good else "Greys")
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    norm = Normalize(0, max(len(X), 1))
    time = ScalarMappable(norm, _TIME)
    _draw_boxes(ax, [(n, bounds[:, list(dims)]) for n, bounds in boxes], time)
    _draw_points(ax, points[:, 0], points[:, 1], _num_initial(box, X), time)
    if best is not None:
        ax.plot(*points[best].tolist(), "*", ms=15, mfc=_BEST, mec="white", label="best", zorder=6)
    limits = box.hard_limits.cpu().double()
    ax.set(xlim=view[:, 0].tolist(), ylim=view[:, 1].tolist())
    _draw_limits(ax, limits[:, dims[1]], vertical=True)
    _draw_limits(ax, limits[:, dims[0]], vertical=False)
    _name_axis(ax.xaxis, box, dims[0])
    _name_axis(ax.yaxis, box, dims[1])
    bar = ax.figure.colorbar(time, ax=ax, label="evaluations", pad=0.02, aspect=30)
    _whole_numbers(bar.ax.yaxis)
    _legend(ax)
    return ax


def plot_intervals(box: ExpandingBounds, X: Tensor, dim: int = 0, ax: Axes | None = None) -> Axes:
    r"""Draw the box's interval in one dimension over the evaluations.

    Args:
        box: The controller after (or during) a run.
        X: ``n x d`` evaluations in their order.
        dim: The dimension to draw.
        ax: Where to draw; a new figure by default.

    Returns:
        The Axes.
    """
    X = _check_points(X, box, (dim,))
    ax = _axes(ax, (5.6, 3.2))
    boxes = _boxes(box)
    # The box of a record serves the evaluations after its `num_observations`.
    edges = [0.5, *(n + 0.5 for n, _ in boxes[1:]), len(X) + 0.5]
    lower, upper = torch.stack([bounds[:, dim] for _, bounds in boxes], dim=1).tolist()
    ax.stairs(upper, edges, baseline=lower, fill=True, color=_LINE, alpha=0.15, label="box")
    for side in (lower, upper):
        ax.stairs(side, edges, baseline=None, color=_LINE, lw=1.5)
    count = torch.arange(1, len(X) + 1)
    _draw_points(ax, count, X[:, dim], _num_initial(box, X))
    limit = box.hard_limits[:, dim].cpu().double()
    view = _view([torch.tensor([lower, upper]).double().T.reshape(-1, 1)], X[:, [dim]])
    ax.set(xlim=(0.5, len(X) + 0.5), ylim=view[:, 0].tolist())
    _draw_limits(ax, limit, vertical=True)
    ax.set(xlabel="evaluations")
    _name_axis(ax.yaxis, box, dim)
    _whole_numbers(ax.xaxis)
    _legend(ax)
    return ax


def plot_regret_bound(box: ExpandingBounds, ax: Axes | None = None) -> Axes:
    r"""Draw the regret bound of the current box against epsilon, over the evaluations.

    Gaps are steps at which nothing asked for the bound. The paper's trigger asks unless its slack
    alone exceeds epsilon; the default method never does. Vertical lines are moves of the box.

    Args:
        box: The controller after (or during) a run.
        ax: Where to draw; a new figure by default.

    Returns:
        The Axes.
    """
    ax = _axes(ax, (5.6, 3.2))
    steps = box.trace
    n = [step.num_observations for step in steps]
    bound = [float("nan") if step.regret_bound is None else step.regret_bound for step in steps]
    ax.plot(n, bound, "o-", ms=3, color=_LINE, label="regret bound")
    ax.plot(n, [step.epsilon for step in steps], "--", color=_BEST, label=r"$\varepsilon$")
    for index, record in enumerate(box.history):
        label = None if index else "box moves"
        ax.axvline(record.num_observations, color="0.6", lw=1, ls=":", zorder=1, label=label)
    ax.set_yscale("log")
    ax.set(xlabel="evaluations", ylabel="regret bound")
    _whole_numbers(ax.xaxis)
    _legend(ax)
    return ax


def plot_best(
    Y: Tensor,
    maximize: bool = True,
    num_initial: int = 0,
    ax: Axes | None = None,
    optimum: float | None = None,
) -> Axes:
    r"""Draw the best outcome so far over the evaluations.

    Args:
        Y: ``n`` or ``n x 1`` outcomes in their order.
        maximize: If True, larger outcomes are better.
        num_initial: How many of the first evaluations are the initial design; shaded.
        ax: Where to draw; a new figure by default.
        optimum: The best possible outcome, if known. Then the regret is drawn instead, on a
            logarithmic axis, together with that of every evaluation.

    Returns:
        The Axes.
    """
    Y = _check_outcomes(Y)
    best = Y.cummax(0).values if maximize else Y.cummin(0).values
    ax = _axes(ax, (5.6, 3.2))
    count = range(1, len(Y) + 1)
    if optimum is not None:
        # A regret of zero has no logarithm; it is drawn at the bottom of the axis.
        sign = 1.0 if maximize else -1.0
        best, Y = ((sign * (optimum - values)).clamp_min(1e-12) for values in (best, Y))
        ax.set_yscale("log")
        ax.plot(count, Y.tolist(), "o", ms=3, color="0.6", label="evaluations")
    ax.step(count, best.tolist(), where="post", color=_LINE, lw=2, label="best so far")
    if num_initial:
        ax.axvspan(0.5, num_initial + 0.5, color="0.92", zorder=0, label="initial points")
    ax.set(xlim=(0.5, len(Y) + 1), xlabel="evaluations")
    _whole_numbers(ax.xaxis)
    ax.set_ylabel("outcome" if optimum is None else "regret")
    _legend(ax)
    return ax


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Expected matplotlib, which botorch_ubo's plots need; it is not installed. Use "
            "`pip install 'botorch-ubo[plot]'`."
        ) from error
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _boxes(box: ExpandingBounds) -> list[tuple[int, Tensor]]:
    """The first box and every other that followed, with the evaluations known at the time."""
    boxes = [(0, box.initial_bounds.cpu().double())]
    for record in box.history:
        if record.new_bounds != record.old_bounds:
            boxes.append((record.num_observations, torch.tensor(record.new_bounds).double()))
    return boxes


def _num_initial(box: ExpandingBounds, X: Tensor) -> int:
    return box.trace[0].num_observations if box.trace else len(X)


def _check_points(X: Tensor, box: ExpandingBounds, dims: Sequence[int]) -> Tensor:
    d = box.bounds.shape[-1]
    if X.dim() != 2 or X.shape[-1] != d:
        raise InputDataError(f"Expected `X` of shape n x {d}; got {tuple(X.shape)}.")
    if not all(0 <= dim < d for dim in dims) or len(set(dims)) != len(dims):
        raise InputDataError(f"Expected different dimensions from 0 to {d - 1}; got {dims}.")
    return X.detach().cpu().double()


def _check_outcomes(Y: Tensor) -> Tensor:
    if Y.dim() > 2 or (Y.dim() == 2 and Y.shape[-1] != 1):
        raise InputDataError(
            f"Expected `Y` of shape n or n x 1, one objective; got {tuple(Y.shape)}."
        )
    return Y.detach().cpu().double().reshape(-1)


def _best_index(Y: Tensor, X: Tensor, maximize: bool) -> int:
    Y = _check_outcomes(Y)
    if len(Y) != len(X):
        raise InputDataError(
            f"Expected as many outcomes as evaluations; got {len(Y)} and {len(X)}."
        )
    return int(Y.argmax() if maximize else Y.argmin())


def _view(boxes: Sequence[Tensor], points: Tensor) -> Tensor:
    """The ``2 x k`` window that shows everything, with a margin."""
    everything = torch.cat([*boxes, points])
    lower, upper = everything.amin(dim=0), everything.amax(dim=0)
    return torch.stack([lower, upper]) + 0.08 * (upper - lower) * torch.tensor([[-1.0], [1.0]])


def _draw_contours(
    ax: Axes,
    objective: Callable[[Tensor], Tensor],
    anchor: Tensor,
    dims: tuple[int, int],
    view: Tensor,
    cmap: str,
) -> None:
    steps = torch.linspace(0, 1, _GRID, dtype=torch.double).unsqueeze(-1)
    axis = (view[0] + steps * (view[1] - view[0])).T  # 2 x G
    first, second = torch.meshgrid(*axis, indexing="xy")
    grid = anchor.repeat(_GRID**2, 1)
    grid[:, dims[0]], grid[:, dims[1]] = first.reshape(-1), second.reshape(-1)
    with torch.no_grad():
        if isinstance(objective, AcquisitionFunction):
            parts = [objective(part.unsqueeze(-2)) for part in grid.split(4096)]
        else:
            parts = [objective(part) for part in grid.split(4096)]
    values = torch.cat([part.reshape(-1) for part in parts]).cpu().double().reshape(_GRID, _GRID)
    low, high = float(values.min()), float(values.max())
    style: dict[str, Any] = {"levels": 14}
    if low > 0 and high > _LOG_RATIO * low:
        from matplotlib.colors import LogNorm

        low = max(low, 1e-7 * high)
        style = {
            "levels": torch.logspace(
                math.log10(low), math.log10(high), 15, dtype=torch.double
            ).tolist(),
            "norm": LogNorm(low, high),
            "extend": "min",
        }
    arrays = first.numpy(), second.numpy(), values.numpy()
    ax.contourf(*arrays, cmap=cmap, alpha=0.45, zorder=0, **style)
    ax.contour(
        *arrays, colors="0.45", linewidths=0.4, negative_linestyles="solid", zorder=1, **style
    )


def _draw_boxes(ax: Axes, boxes: Sequence[tuple[int, Tensor]], time: ScalarMappable) -> None:
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    few = len(boxes) <= _LABELLED_BOXES
    width_of_line = 2.0 if few else 1.2
    halo = [withStroke(linewidth=2 * width_of_line, foreground="white", alpha=0.8)]
    for index, (n, bounds) in reversed(list(enumerate(boxes))):  # earlier boxes on top
        color = time.to_rgba(n)  # type: ignore[arg-type]  # a number will do
        (left, bottom), (width, height) = bounds[0].tolist(), (bounds[1] - bounds[0]).tolist()
        patch = Rectangle((left, bottom), width, height, fill=False, ec=color, zorder=3)
        patch.set(gid="box", lw=width_of_line, ls="-" if index else "--", path_effects=halo)
        ax.add_patch(patch)
        if few:
            ax.annotate(
                "first box" if index == 0 else f"after {n}", (left, bottom + height),
                xytext=(1, 4), textcoords="offset points", va="bottom", fontsize="small",
                color="0.15", path_effects=halo, zorder=5,
            )  # fmt: skip


def _draw_points(ax: Axes, x: Tensor, y: Tensor, num_initial: int, time: Any = None) -> None:
    first, later = slice(num_initial), slice(num_initial, None)
    ax.scatter(
        x[first], y[first], s=26, facecolors="white", edgecolors="black", lw=1, zorder=4,
        label="initial points",
    )  # fmt: skip
    if len(x) > num_initial:
        color = "black" if time is None else time.to_rgba(range(num_initial + 1, len(x) + 1))
        ax.scatter(
            x[later], y[later], s=22, c=color, edgecolors="white", lw=0.5, zorder=4,
            label="evaluations",
        )  # fmt: skip


def _draw_limits(ax: Axes, limits: Tensor, vertical: bool) -> None:
    """Hatch what lies beyond hard limits that are in view."""
    view = ax.get_ylim() if vertical else ax.get_xlim()
    span = ax.axhspan if vertical else ax.axvspan
    line = ax.axhline if vertical else ax.axvline
    for limit, edge, beyond in zip(limits.tolist(), view, (-1, 1), strict=True):
        if beyond * (edge - limit) > 0:
            known = "hard limit" in ax.get_legend_handles_labels()[1]
            span(
                limit, edge, fc="white", ec="0.35", hatch="////", lw=0, zorder=2, gid="limit",
                label=None if known else "hard limit",
            )  # fmt: skip
            line(limit, color="0.35", lw=1, zorder=2)


def _name_axis(axis: Any, box: ExpandingBounds, dim: int) -> None:
    """Label an axis with the name of a dimension, and its ticks with the user's units."""
    space = box.settings.space
    if space is None:
        axis.set_label_text(f"$x_{{{dim}}}$")
        return
    name = space.names[dim]
    axis.set_label_text(name)
    axis.set_major_formatter(lambda u, _: space.parameters[name].show(u))


def _whole_numbers(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def _legend(ax: Axes) -> None:
    """One line of text above the axes, clear of the data."""
    ncols = max(1, len(ax.get_legend_handles_labels()[1]))
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=ncols, frameon=False, fontsize="small",
        handletextpad=0.3, columnspacing=1.2, borderaxespad=0.2,
    )  # fmt: skip
