r"""The reference point of a step: what the front of the box that is searched may be worst at.

Beyond the reference point nothing counts. One that follows from the front so far keeps a narrow
front narrow, or lets it creep: a step is worth no more than the slack that the rule leaves. So it
is also below the *pay-off* of the box [Miettinen1999]: with ``x_i`` the place where the model
expects the best of objective ``i``, the worst of objective ``j`` over all ``x_i``, less a tenth of
its range. As the box grows, so does what may be found in it.

References:
    [Miettinen1999] K. Miettinen. Nonlinear Multiobjective Optimization. Kluwer, 1999.
"""

from __future__ import annotations

import torch
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo.acquisition.search.categories import (
    draw_categories,
    open_categories,
    without_categories,
)
from botorch_ubo.boxes import cast_inward, clip
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.goal_view import GoalView

_SAMPLES = 256
_STEPS, _SAMPLES_OF_STEP = 4, 64  # of a random search for the best of an objective
_FIRST_STEP = 0.25  # of a side; then half as long each time
_SLACK = 0.1  # of an objective's range, as BoTorch leaves below a front


def reference_point(context: Context, view: GoalView) -> Tensor:
    r"""The reference point that hypervolume is counted from at this step.

    Args:
        context: The fitted model and the controller's state.
        view: Its view.

    Returns:
        ``k`` values, such that large is good, in double.
    """
    of_front = view.reference_point
    payoff = expected_payoff(context, view)
    if payoff is None:
        return of_front
    best, worst = payoff.amax(dim=0), payoff.amin(dim=0)
    return torch.minimum(of_front, worst - _SLACK * (best - worst))


def expected_payoff(context: Context, view: GoalView) -> Tensor | None:
    r"""The objectives where the best of each is expected in the box, by a random search.

    Args:
        context: The fitted model and the controller's state.
        view: Its view.

    Returns:
        ``k x k`` values, a row for the best place of each objective; ``None`` if no place of the
        box is expected to be feasible.
    """
    box = cast_inward(context.state.bounds, view.like)
    (box,) = open_categories(box.unsqueeze(0), view.categories)
    sides = without_categories(box[1] - box[0], view.categories)
    generator = torch.Generator().manual_seed(context.seed)
    drawn = draw_sobol_samples(box, _SAMPLES, 1, seed=context.seed).squeeze(-2)
    anywhere = torch.zeros(len(drawn), dtype=torch.bool, device=drawn.device)
    drawn = draw_categories(drawn, anywhere, view.categories, context.seed)
    X = torch.cat([drawn, clip(view.X_raw, box)])
    values, feasible = view.expected(X)
    if not feasible.any():
        return None
    rows = []
    for i in range(values.shape[-1]):
        best = _best(values, feasible, i)
        x, row, step = X[best], values[best], _FIRST_STEP
        for _ in range(_STEPS):
            moves = _moves(sides, generator)
            near = torch.cat([x.unsqueeze(0), clip(x + step * moves, box)])
            its_values, its_feasible = view.expected(near)
            best = _best(its_values, its_feasible, i)
            x, row, step = near[best], its_values[best], step / 2
        rows.append(row)
    return torch.stack(rows)


def _best(values: Tensor, feasible: Tensor, objective: int) -> int:
    return int(values[:, objective].where(feasible, -torch.inf).argmax())


def _moves(sides: Tensor, generator: torch.Generator) -> Tensor:
    """Normal moves in sides of the box, each along about half of the dimensions."""
    shape = (_SAMPLES_OF_STEP, len(sides))
    normal = torch.randn(shape, generator=generator, dtype=torch.double).to(sides)
    along = torch.rand(shape, generator=generator) < max(0.5, 1 / len(sides))
    return normal * sides * along.to(sides)
