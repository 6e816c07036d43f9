from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from benchmarks.problems.problem import Sources, distance_in_sides, make_start, observe
from benchmarks.problems.tuning import TASKS, make_task, read_known, score_splits

EXPONENTS_OF_NOBODY = (-400.0, -40.0, 40.0, 400.0)


def test_enough_tasks_of_one_to_five_parameters() -> None:
    assert len(TASKS) >= 12 and set(read_known()) == set(TASKS)
    assert {len(task.domain) for task in TASKS.values()} == {1, 2, 3, 4, 5}
    assert sum(task.splits > 1 for task in TASKS.values()) >= 3


@pytest.mark.parametrize("name", TASKS)
class TestTasks:
    def test_best_known_value_is_had_where_it_says(self, name: str) -> None:
        problem, known = make_task(name, 0, Sources()), read_known()[name]
        assert problem.optimizer is not None and problem.bounds is not None
        value = float(problem(problem.optimizer.unsqueeze(0)))
        assert value == pytest.approx(known["best"], rel=1e-3)
        assert all(problem.contains(problem.optimizer.unsqueeze(0)))
        assert known["best"] > known["start"]

    def test_the_start_is_at_the_wrong_place(self, name: str) -> None:
        problem = make_task(name, 0, Sources())
        start = make_start(problem, 0)
        assert all(problem.contains(start.box)) and problem.distance is not None
        assert problem.distance > 0.5 and start.budget >= 20
        values = problem(start.X)
        assert values.isfinite().any()  # or there would be nothing to begin with
        assert problem.start_value is not None and problem.optimal_value is not None
        gained = values[values.isfinite()].max() - problem.start_value
        assert float(gained) < 0.5 * (problem.optimal_value - problem.start_value)

    def test_absurd_places_end(self, name: str) -> None:
        """In a value or in a failure; a hang would be seen here."""
        task = TASKS[name]
        limits = dict(task.limits)
        for exponent in EXPONENTS_OF_NOBODY:
            x = [
                float(np.clip(exponent, *limits.get(i, (-math.inf, math.inf))))
                for i in range(len(task.domain))
            ]
            assert len(score_splits(name, tuple(x))) == task.splits


def test_failures_are_not_values() -> None:
    problem = make_task("tune_ridge", 0, Sources())
    values = problem(torch.tensor([[500.0], [1.0]], dtype=torch.double)).flatten()
    assert values.isnan().tolist() == [True, False] and problem.may_fail


def test_noise_is_that_of_splits() -> None:
    problem = make_task("tune_tree", 0, Sources())
    x = torch.tensor([[8.0, 0.0, -3.0]], dtype=torch.double)
    scores = score_splits("tune_tree", tuple(x[0].tolist()))
    value = float(problem(x))
    assert value == pytest.approx(np.mean(scores)) and len(set(scores)) > 1
    seen = {observe(problem, x, value, 0, index) for index in range(30)}
    assert seen == set(scores)
    assert observe(problem, x, value, 3, 5) == observe(problem, x, value, 3, 5)
    assert not make_task("tune_ridge", 0, Sources()).is_noisy


def test_distance_is_that_of_the_worst_dimension() -> None:
    box = torch.tensor([[0.0, 0.0], [1.0, 2.0]], dtype=torch.double)
    for point, distance in (([0.5, 1.0], 0.0), ([3.0, 1.0], 2.0), ([-1.0, -4.0], 2.0)):
        assert distance_in_sides(torch.tensor(point, dtype=torch.double), box) == distance
