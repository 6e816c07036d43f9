"""The reference point of a step: below what is expected where the best of each objective is."""

import torch
from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
from torch import Tensor

from botorch_ubo import ExpandingBounds
from botorch_ubo.policies.goal_factories import goal_view
from botorch_ubo.policies.goal_reference import expected_payoff, reference_point
from tests.policies.test_goal_view import BOTH
from tests.support.controlled import UNIT
from tests.support.gps import tensor


def bowls(X: Tensor) -> Tensor:
    """Best at (0.2, 0.2) and at (0.8, 0.8), where the other is -0.72."""
    return -torch.stack([(X - a).square().sum(dim=-1) for a in (0.2, 0.8)], dim=-1)


def grid(low: float, high: float) -> Tensor:
    steps = torch.linspace(low, high, 4, dtype=torch.double)
    return torch.cartesian_prod(steps, steps)


def test_the_payoff_is_that_of_the_best_places() -> None:
    X = grid(0.0, 1.0)
    box = ExpandingBounds(UNIT, method="EI-Vanilla", objective=BOTH)
    context = box.context(box.fit(X, bowls(X)))
    payoff = expected_payoff(context, goal_view(context))
    assert payoff is not None
    torch.testing.assert_close(payoff, tensor([[0.0, -0.72], [-0.72, 0.0]]), atol=0.1, rtol=0)
    reference = reference_point(context, goal_view(context))
    assert (reference <= payoff.amin(dim=0) - 0.05).all()
    assert (reference <= goal_view(context).reference_point).all()


def test_a_narrow_front_may_get_wider() -> None:
    """Of data in a corner, the front has one point; the best of the other objective is far."""
    X = grid(0.0, 0.3)
    box = ExpandingBounds(UNIT, method="EI-Vanilla", objective=BOTH)
    context = box.context(box.fit(X, bowls(X)))
    view = goal_view(context)
    reference = reference_point(context, view)
    assert float(reference[0]) < float(view.reference_point[0])
    assert float(reference[0]) < -0.5  # (0.8, 0.8) counts


def test_constraints_bound_the_payoff_and_none_is_expected_where_nothing_is_feasible() -> None:
    X = grid(0.0, 1.0)
    Y = torch.cat([bowls(X), X.sum(dim=-1, keepdim=True) - 1], dim=-1)
    for level, expected in ((0.0, True), (-9.0, False)):
        box = ExpandingBounds(
            UNIT,
            method="EI-Vanilla",
            objective=IdentityMCMultiOutputObjective([0, 1]),
            constraints=[lambda Y, level=level: Y[..., 2] - level],
        )
        context = box.context(box.fit(X, Y))
        payoff = expected_payoff(context, goal_view(context))
        assert (payoff is not None) == expected
        if payoff is not None:  # (0.8, 0.8) is infeasible; (0.5, 0.5) is the best for it
            torch.testing.assert_close(payoff[1, 1], tensor(-0.18), atol=0.05, rtol=0)


def test_units_of_the_objectives_do_not_matter() -> None:
    X, units = grid(0.0, 0.3), tensor([1e12, 1e-12])
    references = []
    for unit in (torch.ones_like(units), units):
        box = ExpandingBounds(UNIT, method="EI-Vanilla", objective=BOTH)
        context = box.context(box.fit(X, unit * bowls(X)))
        references.append(reference_point(context, goal_view(context)) / unit)
    torch.testing.assert_close(*references, atol=1e-3, rtol=1e-3)
