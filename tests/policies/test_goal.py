"""What is sought, in one form: objectives, sign, constraints, and which outcome is the better."""

from typing import Any

import pytest
import torch
from botorch.acquisition.multi_objective.objective import (
    IdentityMCMultiOutputObjective,
    WeightedMCMultiOutputObjective,
)
from botorch.acquisition.objective import (
    GenericMCObjective,
    LinearMCObjective,
    ScalarizedPosteriorTransform,
)
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.models import SingleTaskGP

from botorch_ubo.policies.goal import Goal, check_goal
from tests.support.gps import tensor

FIRST = GenericMCObjective(lambda Y, X=None: Y[..., 0])
BELOW = [lambda Y: Y[..., 1] - 3.0]
Y = tensor([[1.0, 2.0], [4.0, 5.0], [-1.0, 3.0]])


def test_objectives_are_such_that_large_is_good() -> None:
    assert check_goal(True, None, FIRST, None).evaluate(Y).tolist() == [[1.0], [4.0], [-1.0]]
    assert check_goal(False, None, FIRST, None).evaluate(Y).tolist() == [[-1.0], [-4.0], [1.0]]
    both = check_goal(False, None, IdentityMCMultiOutputObjective(), None)
    assert both.is_multi and both.evaluate(Y).tolist() == (-Y).tolist()
    scaled = both.as_objectives(tensor([1.0, 0.0]), tensor([2.0, 1.0]))
    assert scaled(Y).tolist() == [[-1.0, -2.0], [-2.5, -5.0], [0.0, -3.0]]


def test_constraints_are_columns() -> None:
    goal = check_goal(True, None, FIRST, [*BELOW, lambda Y: -Y[..., 0]])
    assert goal.violations(Y).tolist() == [[-1.0, -1.0], [2.0, -4.0], [0.0, 1.0]]


def test_a_linear_objective_without_constraints_is_a_posterior_transform() -> None:
    goal = check_goal(True, None, LinearMCObjective(tensor([2.0, -1.0])), None)
    assert goal.is_plain and isinstance(goal.posterior_transform, ScalarizedPosteriorTransform)
    assert goal.posterior_transform.evaluate(Y).tolist() == [0.0, 3.0, -5.0]
    assert not check_goal(True, None, LinearMCObjective(tensor([2.0, -1.0])), BELOW).is_plain


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (check_goal(True, None, FIRST, BELOW), (True, None)),
        (check_goal(False, None, FIRST, BELOW), (False, None)),
        (check_goal(True, None, FIRST, [lambda Y: Y[..., 0] + Y[..., 1]]), (None, None)),
        (
            check_goal(True, None, GenericMCObjective(lambda Y, X=None: Y[..., 0] - Y[..., 1]), []),
            (True, False),
        ),
        (
            check_goal(True, None, GenericMCObjective(lambda Y, X=None: Y[..., 0] ** 2), BELOW),
            (None, None),  # falls and rises
        ),
        (check_goal(True, None, IdentityMCMultiOutputObjective(), None), (None, None)),
    ],
)
def test_which_way_an_outcome_is_the_better(
    goal: Goal, expected: tuple[bool | None, bool | None]
) -> None:
    assert goal.directions(Y) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((True, None, lambda Y: Y, None), "MCAcquisitionObjective.*GenericMCObjective"),
        ((True, None, FIRST, BELOW[0]), "list of functions"),
        ((True, None, FIRST, [3.0]), "list of functions"),
        (
            (True, ScalarizedPosteriorTransform(tensor([1.0, 0.0])), None, BELOW),
            "`posterior_transform` alone.*LinearMCObjective",
        ),
    ],
)
def test_what_is_no_goal_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputDataError, match=f"(?s)Expected.*{message}"):
        check_goal(*arguments)


def test_several_outcomes_need_an_objective() -> None:
    model = SingleTaskGP(torch.rand(5, 2).double(), torch.rand(5, 2).double())
    with pytest.raises(UnsupportedError, match=r"`objective` with `constraints`.*2 outputs"):
        check_goal(True, None, None, BELOW).check(model)
    check_goal(True, None, WeightedMCMultiOutputObjective(tensor([1.0, -1.0])), BELOW).check(model)
