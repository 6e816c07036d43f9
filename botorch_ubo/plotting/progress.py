"""How far a run has come: the best so far, and the regret bound of its box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.compat.deprecated import renamed_argument
from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.plotting.axes import draw_legend, make_axes, whole_numbers
from botorch_ubo.plotting.source import Source, check_outcomes, goal_and_outcomes
from botorch_ubo.records.palette import BEST, LINE
from botorch_ubo.run.recorded import RunSource, as_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@renamed_argument("Y", "run")
def plot_best(
    run: RunSource | Tensor,
    maximize: bool | None = None,
    num_initial: int | None = None,
    ax: Axes | None = None,
    optimum: float | None = None,
) -> Axes:
    r"""Draw the best outcome so far over the evaluations; with constraints, the best feasible one.

    Args:
        run: A run file, an optimizer or a result; or ``n`` or ``n x 1`` outcomes in their order.
        maximize: With outcomes: if True, which is the default, larger ones are better.
        num_initial: With outcomes: how many of the first evaluations are the initial design, which
            is shaded.
        ax: Where to draw; a new figure by default.
        optimum: The best possible outcome, if known. Then the regret is drawn instead, on a
            logarithmic axis, together with that of every evaluation.

    Returns:
        The Axes.
    """
    if isinstance(run, Tensor):
        Y = check_outcomes(run)
        feasible = torch.ones_like(Y, dtype=torch.bool)
        maximize, num_initial = maximize is not False, num_initial or 0
    else:
        if maximize is not None or num_initial is not None:
            raise InputDataError("Expected neither `maximize` nor `num_initial` beside a run.")
        Y, feasible, maximize, num_initial = _outcomes_of(run)
    sign = 1.0 if maximize else -1.0
    best = sign * (sign * Y).where(feasible, -torch.inf).cummax(0).values
    best = best.where(best.isfinite(), torch.nan)
    ax = make_axes(ax, (5.6, 3.2))
    count = range(1, len(Y) + 1)
    if optimum is not None:
        # A regret of zero has no logarithm; it is drawn at the bottom of the axis.
        best, Y = ((sign * (optimum - values)).clamp_min(1e-12) for values in (best, Y))
        ax.set_yscale("log")
        ax.plot(count, Y.tolist(), "o", ms=3, color="0.6", label="evaluations")
    ax.step(count, best.tolist(), where="post", color=LINE, lw=2, label="best so far")
    if num_initial:
        ax.axvspan(0.5, num_initial + 0.5, color="0.92", zorder=0, label="initial points")
    ax.set(xlim=(0.5, len(Y) + 1), xlabel="evaluations")
    whole_numbers(ax.xaxis)
    ax.set_ylabel("outcome" if optimum is None else "regret")
    draw_legend(ax)
    return ax


@renamed_argument("box", "run")
def plot_regret_bound(run: Source, ax: Axes | None = None) -> Axes:
    r"""Draw the regret bound of the current box against epsilon, over the evaluations.

    Gaps are steps at which nothing asked for the bound. The paper's trigger asks unless its slack
    alone exceeds epsilon; the default method never does. Vertical lines are moves of the box.

    Args:
        run: A run file, an optimizer or a result; or the controller of a loop of one's own.
        ax: Where to draw; a new figure by default.

    Returns:
        The Axes.
    """
    box = run if isinstance(run, ExpandingBounds) else as_run(run).box
    ax = make_axes(ax, (5.6, 3.2))
    steps = box.trace
    n = [step.num_observations for step in steps]
    bound = [float("nan") if step.regret_bound is None else step.regret_bound for step in steps]
    ax.plot(n, bound, "o-", ms=3, color=LINE, label="regret bound")
    ax.plot(n, [step.epsilon for step in steps], "--", color=BEST, label=r"$\varepsilon$")
    for index, record in enumerate(box.history):
        label = None if index else "box moves"
        ax.axvline(record.num_observations, color="0.6", lw=1, ls=":", zorder=1, label=label)
    ax.set_yscale("log")
    ax.set(xlabel="evaluations", ylabel="regret bound")
    whole_numbers(ax.xaxis)
    draw_legend(ax)
    return ax


def _outcomes_of(run: RunSource) -> tuple[Tensor, Tensor, bool, int]:
    """``n`` outcomes of one objective, which are feasible, the sign and the initial points."""
    recorded = as_run(run)
    goal, Y = goal_and_outcomes(recorded)
    if goal.num_objectives > 1:
        raise InputDataError(
            f"Expected a run of one objective; this one has {goal.num_objectives}. Use "
            "`plot_hypervolume` or `plot_front`."
        )
    return Y[:, 0], goal.feasible(Y), goal.directions[0] == "maximize", recorded.num_initial
