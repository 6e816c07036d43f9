r"""Figures of a run with several objectives or constraints: the front, and how it came about.

Example:
    >>> result = minimize(f, bounds, budget=40, direction=["minimize", "maximize"])
    >>> plot_front(result).figure.savefig("front.png")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from botorch.exceptions.errors import InputDataError
from botorch.utils.multi_objective import infer_reference_point

from botorch_ubo.plotting.axes import draw_legend, make_axes, whole_numbers
from botorch_ubo.plotting.source import goal_and_outcomes
from botorch_ubo.records.palette import BEST, LINE, TIME
from botorch_ubo.run.goal_result import front_of, over_time
from botorch_ubo.run.recorded import RunSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_front(
    run: RunSource, objectives: tuple[int, int] = (0, 1), ax: Axes | None = None
) -> Axes:
    r"""Draw the outcomes of all evaluations in two objectives, and the front among them.

    Args:
        run: A run file, an optimizer or a result, of several objectives.
        objectives: The two to draw.
        ax: Where to draw; a new figure by default.

    Returns:
        The Axes. Infeasible evaluations are crosses; later ones are lighter.
    """
    goal, Y = goal_and_outcomes(run)
    k = goal.num_objectives
    if k < 2 or not all(0 <= i < k for i in objectives):
        raise InputDataError(
            f"Expected a run of several objectives and two of them; got {k} and {objectives}. "
            "Use `plot_best` for one objective under constraints."
        )
    ax = make_axes(ax, (5.6, 4.4))
    i, j = objectives
    feasible, order = goal.feasible(Y), torch.arange(len(Y))
    for mask, marker, label in ((feasible, "o", None), (~feasible, "x", "infeasible")):
        if mask.any():
            points = ax.scatter(
                Y[mask, i],
                Y[mask, j],
                c=order[mask],
                cmap=TIME,
                vmin=0,
                vmax=max(len(Y), 1),
                marker=marker,
                s=24,
                label=label,
            )
            if marker == "o":
                bar = ax.figure.colorbar(points, ax=ax, label="evaluations", pad=0.02, aspect=30)
                whole_numbers(bar.ax.yaxis)
    front = front_of(goal.objectives(Y), feasible)
    if len(front):
        ends = Y[front][Y[front, i].argsort()]
        ax.plot(ends[:, i], ends[:, j], "o-", mfc="none", color=BEST, label="front")
    if len(front) or not feasible.all():
        draw_legend(ax)
    for axis, index in ((ax.xaxis, i), (ax.yaxis, j)):
        axis.set_label_text(f"objective {index} ({goal.directions[index]})")
    return ax


def plot_hypervolume(run: RunSource, ax: Axes | None = None) -> Axes:
    r"""Draw the hypervolume over evaluations; of one objective, the best feasible value.

    Args:
        run: A run file, an optimizer or a result.
        ax: Where to draw; a new figure by default.

    Returns:
        The Axes.
    """
    goal, Y = goal_and_outcomes(run)
    values, feasible = goal.objectives(Y), goal.feasible(Y)
    front = front_of(values, feasible)
    several = goal.num_objectives > 1
    reference = infer_reference_point(values[front]) if several and len(front) else None
    signs = goal.objectives(torch.ones(goal.num_outcomes, dtype=torch.double))
    ax = make_axes(ax, (5.6, 3.2))
    count = torch.arange(1, len(Y) + 1)
    volume = over_time(values, feasible, reference, signs)
    ax.step(count, volume, where="post", color=LINE, lw=2)
    ax.set_xlabel("evaluations")
    whole_numbers(ax.xaxis)
    ax.set_ylabel("hypervolume" if several else "best feasible value")
    return ax
