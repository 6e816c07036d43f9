"""What figures have in common: axes, names and units, points, limits, a legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.spaces import Float, Integer, Parameter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_DECADES = 7  # with a tick each


def make_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The given Axes, or those of a new figure."""
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


def boxes_of(box: ExpandingBounds) -> list[tuple[int, Tensor]]:
    """The first box and every other that followed, with the evaluations known at the time."""
    boxes = [(0, box.initial_bounds.cpu().double())]
    for record in box.history:
        if record.new_bounds != record.old_bounds:
            boxes.append((record.num_observations, torch.tensor(record.new_bounds).double()))
    return boxes


def window_on(boxes: Sequence[Tensor], points: Tensor) -> Tensor:
    """The ``2 x k`` window that shows everything, with a margin."""
    everything = torch.cat([*boxes, points])
    lower, upper = everything.amin(dim=0), everything.amax(dim=0)
    return torch.stack([lower, upper]) + 0.08 * (upper - lower) * torch.tensor([[-1.0], [1.0]])


def draw_points(ax: Axes, x: Tensor, y: Tensor, num_initial: int, time: Any = None) -> None:
    """Initial points hollow, later ones filled, coloured if there is a scale of time."""
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


def is_listed(box: ExpandingBounds, dim: int) -> bool:
    """Whether a dimension is a value of a list, which has no box that grows, and nothing beyond."""
    space = box.settings.space
    return space is not None and dim in space.listed


def draw_limits(ax: Axes, box: ExpandingBounds, dim: int, vertical: bool) -> None:
    """Hatch what lies beyond hard limits that are in view."""
    if is_listed(box, dim):
        return
    limits = box.hard_limits[:, dim].cpu().double()
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


def name_axis(axis: Any, box: ExpandingBounds, dim: int) -> None:
    """Label an axis with the name of a dimension, and its ticks with the user's units.

    The limits of the axis must have been set: ticks of logarithmic parameters follow from them.
    """
    space = box.settings.space
    if space is None:
        axis.set_label_text(f"$x_{{{dim}}}$")
        return
    name = space.names[dim]
    parameter = space.parameters[name]
    axis.set_label_text(name)
    listed = is_listed(box, dim)
    _place_ticks(axis, parameter, listed)
    axis.set_major_formatter(lambda u, _: _show(parameter, u, listed))


def whole_numbers(axis: Any) -> None:
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def draw_legend(ax: Axes) -> None:
    """One line of text above the axes, clear of the data."""
    ncols = max(1, len(ax.get_legend_handles_labels()[1]))
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=ncols, frameon=False, fontsize="small",
        handletextpad=0.3, columnspacing=1.2, borderaxespad=0.2,
    )  # fmt: skip


def _place_ticks(axis: Any, parameter: Parameter, listed: bool) -> None:
    from matplotlib.ticker import MultipleLocator

    if listed:
        axis.set_major_locator(MultipleLocator(1.0))
    elif isinstance(parameter, Float | Integer) and parameter.log:
        low, high = axis.get_view_interval()
        decades = (high - low) / math.log(10)
        if decades >= 2:  # powers of ten; between fewer, ticks of any value tell more
            step = math.ceil(decades / _MOST_DECADES)
            axis.set_major_locator(MultipleLocator(step * math.log(10)))
    elif isinstance(parameter, Integer):
        whole_numbers(axis)


def _show(parameter: Parameter, u: float, listed: bool) -> str:
    """A tick's text; none where a list has no value."""
    lower, upper = parameter.walls
    if listed and not lower - 0.5 <= u <= upper + 0.5:
        return ""
    if isinstance(parameter, Float) and parameter.log:
        return f"{parameter.decode(u):.3g}"
    return parameter.show(u)
