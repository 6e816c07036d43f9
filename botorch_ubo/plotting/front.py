r"""Figures of a run with several objectives or constraints: the front, and how it came about.

As in :mod:`botorch_ubo.plotting`, every function draws into ``ax``, or into a new figure, and
returns the Axes; time is coloured from dark to light.

Example:
    >>> result = minimize(f, bounds, budget=40, direction=["minimize", "maximize"])
    >>> plot_front(result).figure.savefig("front.png")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo.run.goal_result import GoalResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TIME = "viridis"
_FRONT = "#D55E00"  # Okabe and Ito's vermillion: apart from viridis and grey to every eye
_LINE = "#0072B2"


def plot_front(
    result: GoalResult, objectives: tuple[int, int] = (0, 1), ax: Axes | None = None
) -> Axes:
    r"""Draw the outcomes of all evaluations in two objectives, and the front among them.

    Args:
        result: The result of a run with several objectives.
        objectives: The two to draw.
        ax: Where to draw; a new figure by default.

    Returns:
        The Axes. Infeasible evaluations are crosses; later ones are lighter.
    """
    k = result.goal.num_objectives
    if k < 2 or not all(0 <= i < k for i in objectives):
        raise InputDataError(
            f"Expected a result of several objectives and two of them; got {k} and {objectives}. "
            "Use `plot_hypervolume` for one objective under constraints."
        )
    ax = _axes(ax)
    i, j = objectives
    Y, order = result.Y, torch.arange(len(result.Y))
    for mask, marker in ((result.feasible, "o"), (~result.feasible, "x")):
        if mask.any():
            points = ax.scatter(
                Y[mask, i],
                Y[mask, j],
                c=order[mask],
                cmap=_TIME,
                vmin=0,
                vmax=max(len(Y), 1),
                marker=marker,
                s=24,
            )
            if marker == "o":
                ax.figure.colorbar(points, ax=ax, label="evaluation")
    if len(result.front_Y):
        front = result.front_Y[result.front_Y[:, i].argsort()]
        ax.plot(front[:, i], front[:, j], "o-", mfc="none", color=_FRONT, label="front")
        ax.legend()
    for axis, index in ((ax.xaxis, i), (ax.yaxis, j)):
        axis.set_label_text(f"objective {index} ({result.goal.directions[index]})")
    return ax


def plot_hypervolume(result: GoalResult, ax: Axes | None = None) -> Axes:
    r"""Draw the hypervolume over evaluations; of one objective, the best feasible value.

    Args:
        result: The result of a run.
        ax: Where to draw; a new figure by default.

    Returns:
        The Axes.
    """
    ax = _axes(ax)
    count = torch.arange(1, len(result.hypervolume) + 1)
    ax.step(count, result.hypervolume, where="post", color=_LINE)
    ax.set_xlabel("evaluations")
    several = result.goal.num_objectives > 1
    ax.set_ylabel("hypervolume" if several else "best feasible value")
    return ax


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(5.6, 4.4), layout="constrained")[1]
