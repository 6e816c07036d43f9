"""What was found over time: the best so far, or the hypervolume and the front."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from botorch.utils.multi_objective import infer_reference_point
from torch import Tensor

from botorch_ubo.run.goal_result import over_time
from botorch_ubo.run.page.points import ShownPoints, finite, hover_text
from botorch_ubo.run.page.style import SOLID, Figure, Trace, make_layout, markers

_WIDE = 1000.0  # an axis is logarithmic if positive values span more than this
_OUTLYING = 20.0  # a value so many times the usual range away is left outside of the frame
_MOST_STEPS = 200  # hypervolumes that are computed


def progress_figures(points: ShownPoints) -> list[Figure]:
    """The figures that tell how far the run has come; none before the first result."""
    run = points.run
    if not run.completed:
        return []
    if run.goal.num_objectives > 1:
        return [_hypervolume(points), *_fronts(points)]
    return [_best(points)]


def _best(points: ShownPoints) -> Figure:
    run, goal = points.run, points.run.goal
    Y, feasible = run.Y[:, 0], goal.feasible(run.Y)
    signs = goal.objectives(torch.ones(goal.num_outcomes, dtype=torch.double))
    best = over_time(goal.objectives(run.Y), feasible, None, signs)
    axis, floor, cut = _value_axis(Y, run.goal.directions[0] == "maximize")
    traces = _outcomes(points, feasible, range(1, len(Y) + 1), Y.tolist())
    steps = [i for i in points.index if torch.isfinite(best[i])]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": "best so far" if goal.is_plain else "best feasible so far",
            "x": [i + 1 for i in steps],
            "y": finite(best[steps].tolist()),
            "line": {**SOLID, "shape": "hv"},
            "hoverinfo": "skip",
        }
    )
    if points.failed:
        x = [points.failed_at(trial) for trial in points.failed]
        texts = [hover_text(trial) for trial in points.failed]
        traces.append(
            markers("failed", x, [floor] * len(x), "failed", text=texts, hoverinfo="text")
        )
    if run.best is not None:
        traces.append(
            markers(
                "best",
                [run.best + 1],
                [float(Y[run.best])],
                "best",
                text=[hover_text(run.completed[run.best])],
                hoverinfo="text",
            )
        )
    note = "Worse values lie beyond the frame: a double click shows all." if cut else ""
    layout = make_layout("evaluations", "outcome", yaxis=axis)
    return Figure("Best so far", traces, layout, height=360, note=note)


def _value_axis(Y: Tensor, maximize: bool) -> tuple[dict[str, object], float, bool]:
    """The axis of some outcomes, a place at its worse end, and whether some lie beyond it."""
    low, high = float(Y.min()), float(Y.max())
    if low > 0 and high > _WIDE * low:
        return {"type": "log", "exponentformat": "power"}, (low if maximize else high), False
    usual = float(Y.quantile(0.1 if maximize else 0.9)) if len(Y) < 1e6 else (low + high) / 2
    best, worst = (high, low) if maximize else (low, high)
    reach = abs(usual - best)
    if len(Y) > 4 and abs(worst - best) > _OUTLYING * reach > 0:
        end = best + (-1.3 if maximize else 1.3) * reach
        ends = sorted([best + (0.1 if maximize else -0.1) * reach, end])
        return {"range": ends}, end, True
    return {}, worst, False


def _outcomes(
    points: ShownPoints, feasible: Tensor, x: Sequence[float], y: Sequence[float]
) -> list[Trace]:
    """Evaluations by kind, at the places of all of them."""
    kinds = [
        ("initial points", "initial", [i for i in points.initial if feasible[i]]),
        ("evaluations", "later", [i for i in points.later if feasible[i]]),
        ("infeasible", "infeasible", [i for i in points.index if not feasible[i]]),
    ]
    return [
        markers(
            name,
            [x[i] for i in index],
            [y[i] for i in index],
            kind,
            text=points.texts(index),
            hoverinfo="text",
        )
        for name, kind, index in kinds
        if index
    ]


def _hypervolume(points: ShownPoints) -> Figure:
    run, goal = points.run, points.run.goal
    n = len(run.completed)
    values, feasible = goal.objectives(run.Y), goal.feasible(run.Y)
    reference = infer_reference_point(values[run.front]) if run.front else None
    counts = torch.linspace(1, n, min(n, _MOST_STEPS)).round().long().tolist()
    signs = torch.ones(goal.num_objectives, dtype=torch.double)
    volume = over_time(values, feasible, reference, signs, counts)
    trace = {
        "type": "scatter",
        "mode": "lines",
        "name": "hypervolume",
        "x": counts,
        "y": finite(volume.tolist()),
        "line": {**SOLID, "shape": "hv"},
    }
    layout = make_layout("evaluations", "hypervolume", showlegend=False)
    layout["yaxis"]["rangemode"] = "tozero"
    note = "The volume that the front dominates, beyond a reference point that BoTorch infers."
    return Figure("Hypervolume of the front", [trace], layout, height=320, note=note)


def _fronts(points: ShownPoints) -> list[Figure]:
    """Two objectives at a time."""
    run, goal = points.run, points.run.goal
    Y, feasible = run.Y, goal.feasible(run.Y)
    k = goal.num_objectives
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)][:3]
    figures = []
    for a, b in pairs:
        traces = _outcomes(points, feasible, Y[:, a].tolist(), Y[:, b].tolist())
        front = sorted(run.front, key=Y[:, a].tolist().__getitem__)
        traces.append(
            markers(
                "front",
                Y[front, a].tolist(),
                Y[front, b].tolist(),
                "front",
                text=points.texts(front),
                hoverinfo="text",
            )
        )
        layout = make_layout(
            f"objective {a} ({goal.directions[a]})", f"objective {b} ({goal.directions[b]})"
        )
        figures.append(Figure(f"Objectives {a} and {b}", traces, layout, height=360))
    return figures
