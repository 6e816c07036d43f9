r"""Which objectives and constraints are affine functions of one outcome each.

Of those the distribution is known, not only samples, and acquisition functions have formulas. A
function is asked, not read: it counts as affine if it is one at the data, and from a hundredth to
ten thousand standard deviations from them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from botorch_ubo.models.quick import Line
from botorch_ubo.models.structure import spread
from botorch_ubo.policies.goal import Goal

_DISTANCES = (1e-2, 1.0, 1e2, 1e4)
_TOLERANCE = 1e-9  # of the largest value


def goal_lines(goal: Goal, Y: Tensor, X: Tensor) -> tuple[list[Line], list[Line]] | None:
    r"""Objectives, such that large is good, and constraints as lines.

    Args:
        goal: What is sought.
        Y: ``n x m`` outcomes.
        X: ``n x d`` points, for objectives that depend on them.

    Returns:
        The objectives and the constraints, or ``None`` if one is no line, or two of them are of
        the same outcome.
    """
    Y = Y.detach()
    scale = Y.new_tensor([spread(column) for column in Y.mT])
    signs = torch.ones_like(Y)
    signs[::2] = -1.0
    at = torch.cat([Y, *(Y + signs * (step * scale) for step in _DISTANCES), 0 * Y[:1]])
    # An objective of the points too is told by other points.
    points, others = (x.repeat(len(_DISTANCES) + 1, 1) for x in (X, X.flip(0)))
    points, others = (torch.cat([x, X[:1]]) for x in (points, others))
    values = goal.evaluate(at, points)
    if not torch.equal(values, goal.evaluate(at, others)):
        return None
    count = values.shape[-1]

    def objective(y: Tensor, index: int) -> Tensor:
        return goal.evaluate(y, points)[..., index]

    objectives = [_line(partial(objective, index=i), at) for i in range(count)]
    constraints = [_line(constraint, at) for constraint in goal.constraints]
    lines = [line for line in (*objectives, *constraints) if line is not None]
    if len({line.outcome for line in lines}) < count + len(constraints):
        return None
    return lines[:count], lines[count:]


def _line(function: Callable[[Tensor], Tensor], at: Tensor) -> Line | None:
    """A function as a line, if it is one; the last row of ``at`` is zero."""
    with torch.enable_grad():
        outcomes = at.clone().requires_grad_()
        values = function(outcomes)
        if values.shape != at.shape[:-1] or not values.requires_grad:
            return None
        (slope,) = torch.autograd.grad(values.sum(), outcomes, allow_unused=True)
    if slope is None or not torch.equal(slope, slope[:1].expand_as(slope)):
        return None
    columns = slope[0].nonzero().flatten().tolist()
    if len(columns) != 1:
        return None
    (outcome,) = columns
    values = values.detach()
    line = Line(outcome, float(slope[0, outcome]), float(values[-1]))
    error = (values - line.weight * at[:, outcome] - line.offset).abs().max()
    return line if bool(error <= _TOLERANCE * values.abs().max()) else None
