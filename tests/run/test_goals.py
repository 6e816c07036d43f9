"""Runs with constraints and several objectives: asked, told, kept and summarised."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import GoalResult, UnboundedOptimizer, minimize
from botorch_ubo.run.evaluation import EvaluationError
from botorch_ubo.run.goals import RunGoal, SeveralOutcomes, parse_goal
from botorch_ubo.run.storage import CheckpointError
from tests.support.controlled import FAST
from tests.support.gps import tensor

BOX = [(0.0, 1.0), (0.0, 1.0)]


def bowls(x: list[float]) -> tuple[float, float]:
    """Down to (1.5, 1.5), and up to (2.5, 2.5)."""
    return sum((v - 1.5) ** 2 for v in x), -sum((v - 2.5) ** 2 for v in x)


def limited(x: list[float]) -> list[float]:
    """The less the better, where x0 + x1 >= 0.4; the second constraint is always met."""
    return [x[0] + x[1], 0.4 - x[0] - x[1], -1.0]


class TestGoal:
    def test_objectives_are_turned_and_constraints_follow(self) -> None:
        goal = parse_goal(["minimize", "maximize"], 1)
        Y = tensor([[1.0, 2.0, -3.0], [4.0, 5.0, 0.1]])
        assert goal.objectives(Y).tolist() == [[-1.0, 2.0], [-4.0, 5.0]]
        assert goal.feasible(Y).tolist() == [True, False]
        assert goal.num_outcomes == 3 and not goal.is_plain
        assert parse_goal("minimize").is_plain and parse_goal(["maximize"]).is_plain

    def test_numbers_in_any_form(self) -> None:
        goal = RunGoal(("minimize", "maximize"))
        for value in ((1, 2), [1.0, 2.0], tensor([1.0, 2.0]), tensor([[1.0, 2.0]]).numpy()):
            assert goal.read(value, "the value") == (1.0, 2.0)
        for value in (3.0, [1.0, 2.0, 3.0], "12", None, {"a": 1}):
            with pytest.raises(InputDataError, match=r"2 numbers \(2 objectives\)"):
                goal.read(value, "the value")

    def test_an_objective_crosses_processes(self) -> None:
        f = pickle.loads(pickle.dumps(SeveralOutcomes(bowls, parse_goal(["minimize"] * 2))))
        assert f([1.5, 1.5]).values == (0.0, -2.0)

    @pytest.mark.parametrize("direction", ["up", [], ["minimize", "up"], None, 3])
    def test_what_is_no_direction(self, direction: object) -> None:
        with pytest.raises(InputDataError, match="Expected direction"):
            UnboundedOptimizer(BOX, direction=direction)  # type: ignore[arg-type]

    def test_what_is_no_number_of_constraints(self) -> None:
        with pytest.raises(InputDataError, match=r"`constraints` to be the number.*Return them"):
            UnboundedOptimizer(BOX, constraints=[lambda Y: Y])  # type: ignore[arg-type]
        with pytest.raises(InputDataError, match="whole number `constraints`"):
            UnboundedOptimizer(BOX, constraints=1.5)  # type: ignore[arg-type]


class TestSeveralObjectives:
    def test_the_result_has_the_front_and_the_hypervolume(self) -> None:
        result = minimize(bowls, BOX, budget=9, direction=["minimize", "maximize"], **FAST)
        assert isinstance(result, GoalResult)
        assert result.Y.shape == (9, 2) and result.feasible.all()
        assert (result.hypervolume.diff() >= -1e-12).all() and result.hypervolume[-1] > 0
        front = result.front_Y * tensor([-1.0, 1.0])
        better = (front.unsqueeze(0) >= front.unsqueeze(1)).all(-1) & (
            front.unsqueeze(0) > front.unsqueeze(1)
        ).any(-1)
        assert not better.any()
        assert "front of" in str(result) and result.reference_point is not None
        assert "hypervolume" in result._repr_html_() and "\n" not in repr(result)

    def test_hypervolume_by_hand(self) -> None:
        optimizer = UnboundedOptimizer(BOX, direction=["maximize", "minimize"], **FAST)
        optimizer.add_data([[0.1, 0.1], [0.2, 0.2], [0.3, 0.9]], [[1.0, -2.0], [2.0, -1.0], [0, 0]])
        result = optimizer.result()
        # The front is (1, 2), (2, 1) upwards; 0.1 of its range below it is (0.9, 0.9).
        assert result.reference_point.tolist() == pytest.approx([0.9, -0.9])
        first, both = 0.1 * 1.1, 0.1 * 1.1 + 1.0 * 0.1
        assert result.hypervolume.tolist() == pytest.approx([first, both, both])
        assert result.front_X.tolist() == [[0.1, 0.1], [0.2, 0.2]]

    def test_on_an_executor_and_resumed_from_a_file(self, tmp_path: Path) -> None:
        arguments = {"direction": ["minimize", "maximize"], "checkpoint": tmp_path / "run", **FAST}
        with ThreadPoolExecutor(2) as executor:
            minimize(bowls, BOX, budget=7, executor=executor, **arguments)
        again = minimize(bowls, BOX, budget=8, **arguments)
        assert len(again.Y) == 8 and again.trials[0].value == tuple(again.Y[0].tolist())
        opened = UnboundedOptimizer.open(tmp_path / "run")
        assert opened.direction == ("minimize", "maximize")
        assert opened.trials == again.trials
        with pytest.raises(CheckpointError, match="direction was"):
            UnboundedOptimizer(BOX, checkpoint=tmp_path / "run", **FAST)


class TestConstraints:
    def test_the_best_feasible_value(self) -> None:
        result = minimize(limited, BOX, budget=10, constraints=2, **FAST)
        assert isinstance(result, GoalResult) and result.Y.shape == (10, 3)
        assert torch.equal(result.feasible, result.Y[:, 1] <= 0)
        best = result.Y[result.feasible, 0].min()
        assert result.front_Y[0, 0] == best and result.hypervolume[-1] == best
        assert "best feasible value" in str(result)

    def test_nothing_feasible(self) -> None:
        optimizer = UnboundedOptimizer(BOX, constraints=1, **FAST)
        X = [[0.1, 0.1], [0.9, 0.2], [0.4, 0.7]]
        optimizer.add_data(X, [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]])
        result = optimizer.result()
        assert not len(result.front_X) and result.hypervolume.isnan().all()
        assert result.recommended_X.tolist() == [[0.9, 0.2]]
        assert "no feasible point" in str(result)

    def test_the_file_tells_how_many(self, tmp_path: Path) -> None:
        minimize(limited, BOX, budget=2, constraints=2, checkpoint=tmp_path / "run", **FAST)
        assert UnboundedOptimizer.open(tmp_path / "run").goal == RunGoal(("minimize",), 2)

    def test_no_box_is_certified(self) -> None:
        with pytest.raises(InputDataError, match="Expected no `epsilon` with constraints"):
            minimize(limited, BOX, budget=2, constraints=2, epsilon=0.1)


def test_failures_and_wrong_numbers_of_outcomes() -> None:
    optimizer = UnboundedOptimizer(BOX, direction=["minimize", "minimize"], **FAST)
    trial = optimizer.ask()
    with pytest.raises(InputDataError, match="2 numbers"):
        optimizer.tell(trial, 1.0)
    assert optimizer.tell(trial, [1.0, float("nan")]).status == "failed"
    other = optimizer.ask()
    assert optimizer.tell(other, [1.0, 2.0]).value == (1.0, 2.0)
    assert optimizer.tell(other, (1.0, 2.0)).status == "completed"  # the same twice is taken once
    with pytest.raises(InputDataError, match="one result for trial"):
        optimizer.tell(other, [1.0, 3.0])


def test_several_values_without_directions_are_refused_with_the_remedy() -> None:
    with pytest.raises(
        EvaluationError, match=r"(?s)one number.*direction=\['minimize', 'maximize'\]"
    ):
        minimize(lambda x: [x[0], x[1]], [(0.0, 1.0)] * 2, budget=7, direction=["minimize"])
