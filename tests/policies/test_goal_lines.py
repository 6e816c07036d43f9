"""What counts as an affine function of one outcome."""

import pytest
import torch
from botorch.acquisition.multi_objective.objective import GenericMCMultiOutputObjective
from torch import Tensor

from botorch_ubo.policies.goal import check_goal
from botorch_ubo.policies.goal_lines import goal_lines
from tests.support.gps import tensor

X = tensor([[0.1, 0.2], [0.5, 0.9], [0.7, 0.3], [0.2, 0.8]])
Y = tensor([[1.0, 20.0, 3.0], [2.0, 10.0, 5.0], [4.0, 50.0, 4.0], [3.0, 30.0, 9.0]])


def lines(objectives: object, constraints: object = None, maximize: bool = True) -> object:
    objective = GenericMCMultiOutputObjective(objectives)  # type: ignore[arg-type]
    return goal_lines(check_goal(maximize, None, objective, constraints), Y, X)  # type: ignore


def test_weights_and_offsets_are_found() -> None:
    found = lines(
        lambda Y, X=None: torch.stack([2 * Y[..., 1] - 1, -Y[..., 0]], dim=-1),
        [lambda Y: 3 - Y[..., 2]],
        maximize=False,
    )
    assert found == ([(1, -2.0, 1.0), (0, 1.0, 0.0)], [(2, -1.0, 3.0)])


@pytest.mark.parametrize(
    "constraint",
    [
        lambda Y: Y[..., 2].abs() - 4,  # a line at all data
        lambda Y: Y[..., 2].clamp_max(1000.0) - 4,
        lambda Y: Y[..., 2].square() - 4,
        lambda Y: Y[..., 2] - Y[..., 1],
        lambda Y: Y[..., 0] - 4,  # of the outcome of an objective
        lambda Y: Y[..., 2].detach() - 4,
        lambda Y: (Y[..., 2]).log() - 4,  # not defined everywhere
    ],
)
def test_what_is_no_line_of_its_own(constraint: object) -> None:
    assert lines(lambda Y, X=None: Y[..., :2], [constraint]) is None


def test_an_objective_of_the_points_is_no_line() -> None:
    def objectives(Y: Tensor, X: Tensor | None = None) -> Tensor:
        assert X is not None
        return Y[..., :2] + X

    assert lines(objectives) is None
