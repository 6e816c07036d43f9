r"""Boxes over contours, in two dimensions, with the evaluations.

Example:
    >>> plot_boxes("run.db").figure.savefig("boxes.png")
    >>> plot_boxes(box, X, Y, objective=f)  # in a loop of one's own
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from torch import Tensor

from botorch_ubo.compat.deprecated import renamed_argument
from botorch_ubo.plotting.axes import (
    boxes_of,
    draw_legend,
    draw_limits,
    draw_points,
    make_axes,
    name_axis,
    whole_numbers,
    window_on,
)
from botorch_ubo.plotting.source import Source, evaluated
from botorch_ubo.records.palette import BEST, TIME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

_GRID = 160
_LABELLED_BOXES = 5  # more labels than this would overlap; the colour bar remains
_LOG_RATIO = 100.0  # contours are logarithmic if positive values span more than this


@renamed_argument("box", "run")
def plot_boxes(
    run: Source,
    X: Tensor | None = None,
    Y: Tensor | None = None,
    objective: Callable[[Tensor], Tensor] | None = None,
    dims: tuple[int | str, int | str] = (0, 1),
    ax: Axes | None = None,
) -> Axes:
    r"""Draw all boxes of a run in two dimensions, with the evaluations.

    Args:
        run: A run file, an optimizer or a result; or the controller of a loop of one's own.
        X: ``n x d`` evaluations in their order, with a controller.
        Y: ``n`` or ``n x 1`` outcomes, likewise; they mark the best evaluation.
        objective: A function from ``m x d`` points to ``m`` values, or an acquisition function,
            drawn as contours (logarithmic if positive and of wide range), lighter where better.
            Other dimensions are held at the best evaluation, or without one at the box's centre.
        dims: The two dimensions to draw, or their names.
        ax: Where to draw; a new figure by default.

    Returns:
        The Axes.
    """
    given = evaluated(run, X, Y)
    box, X, best = given.box, given.X, given.best
    first, second = given.columns(dims)
    pair = [first, second]
    boxes = boxes_of(box)
    points = X[:, pair]
    view = window_on([bounds[:, pair] for _, bounds in boxes], points)
    ax = make_axes(ax, (5.6, 4.8))
    if objective is not None:
        anchor = box.bounds.to(X).mean(dim=0) if best is None else X[best]
        high_is_good = box.settings.maximize or isinstance(objective, AcquisitionFunction)
        cmap = "Greys_r" if high_is_good else "Greys"
        _draw_contours(ax, objective, anchor, (first, second), view, cmap)
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    time = ScalarMappable(Normalize(0, max(len(X), 1)), TIME)
    _draw_boxes(ax, [(n, bounds[:, pair]) for n, bounds in boxes], time)
    draw_points(ax, points[:, 0], points[:, 1], given.num_initial, time)
    if best is not None:
        ax.plot(*points[best].tolist(), "*", ms=15, mfc=BEST, mec="white", label="best", zorder=6)
    ax.set(xlim=view[:, 0].tolist(), ylim=view[:, 1].tolist())
    draw_limits(ax, box, second, vertical=True)
    draw_limits(ax, box, first, vertical=False)
    name_axis(ax.xaxis, box, first)
    name_axis(ax.yaxis, box, second)
    bar = ax.figure.colorbar(time, ax=ax, label="evaluations", pad=0.02, aspect=30)
    whole_numbers(bar.ax.yaxis)
    draw_legend(ax)
    return ax


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
