"""The box over time, one dimension at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from botorch_ubo.compat.deprecated import renamed_argument
from botorch_ubo.plotting.axes import (
    boxes_of,
    draw_legend,
    draw_limits,
    draw_points,
    is_listed,
    make_axes,
    name_axis,
    whole_numbers,
    window_on,
)
from botorch_ubo.plotting.source import Source, evaluated
from botorch_ubo.records.palette import LINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@renamed_argument("box", "run")
def plot_intervals(
    run: Source, X: Tensor | None = None, dim: int | str = 0, ax: Axes | None = None
) -> Axes:
    r"""Draw the box's interval in one dimension over the evaluations.

    Args:
        run: A run file, an optimizer or a result; or the controller of a loop of one's own.
        X: ``n x d`` evaluations in their order, with a controller.
        dim: The dimension to draw, or its name.
        ax: Where to draw; a new figure by default.

    Returns:
        The Axes.
    """
    given = evaluated(run, X)
    box, X = given.box, given.X
    (column,) = given.columns((dim,))
    ax = make_axes(ax, (5.6, 3.2))
    boxes = boxes_of(box)
    lower, upper = torch.stack([bounds[:, column] for _, bounds in boxes], dim=1).tolist()
    if not is_listed(box, column):
        # The box of a record serves the evaluations after its `num_observations`.
        edges = [0.5, *(n + 0.5 for n, _ in boxes[1:]), len(X) + 0.5]
        ax.stairs(upper, edges, baseline=lower, fill=True, color=LINE, alpha=0.15, label="box")
        for side in (lower, upper):
            ax.stairs(side, edges, baseline=None, color=LINE, lw=1.5)
    count = torch.arange(1, len(X) + 1)
    draw_points(ax, count, X[:, column], given.num_initial)
    sides = torch.tensor([lower, upper]).double().T.reshape(-1, 1)
    view = window_on([sides], X[:, [column]])
    ax.set(xlim=(0.5, len(X) + 0.5), ylim=view[:, 0].tolist())
    draw_limits(ax, box, column, vertical=True)
    ax.set(xlabel="evaluations")
    name_axis(ax.yaxis, box, column)
    whole_numbers(ax.xaxis)
    draw_legend(ax)
    return ax
