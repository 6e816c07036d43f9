"""Problems and the start that all methods of a seed share."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from benchmarks.problems.problem import Problem, make_start, observe, start_box
from benchmarks.problems.registry import NAMES, find_problem, kind_of

PLAIN = [name for name in NAMES if kind_of(name) not in ("reference", "mnist", "tuning", "mixed")]


@pytest.mark.parametrize("name", PLAIN)
def test_optimum_and_start(name: str) -> None:
    problem = find_problem(name, seed=3)
    assert problem.name == name
    assert problem.bounds is not None and problem.optimizer is not None
    assert problem.optimal_value is not None
    optimum = problem(problem.optimizer.unsqueeze(0))
    assert float(optimum) == pytest.approx(problem.optimal_value, abs=1e-4)
    assert (problem.optimizer >= problem.bounds[0]).all()
    assert (problem.optimizer <= problem.bounds[1]).all()
    start = make_start(problem, seed=3)
    count = 30 if kind_of(name).startswith("highdim") else 3 * problem.dim
    assert start.X.shape == (count, problem.dim)
    assert (start.X >= start.box[0]).all() and (start.X <= start.box[1]).all()
    # Latin: one point in each of the equal parts of each coordinate.
    unit = (start.X - start.box[0]) / (start.box[1] - start.box[0])
    strata = (unit * len(unit)).floor().sort(dim=0).values
    expected = torch.arange(len(unit), dtype=torch.double).unsqueeze(-1).expand_as(strata)
    torch.testing.assert_close(strata, expected)
    assert torch.equal(start.X, make_start(find_problem(name, seed=3), seed=3).X)
    assert not torch.equal(start.X, make_start(find_problem(name, seed=4), seed=4).X)


def test_start_box_is_a_share_of_the_domain_and_repeatable() -> None:
    problem = find_problem("eggholder", 0)
    sides = torch.full((2,), 204.8, dtype=torch.double)
    for seed in range(20):
        box = start_box(problem, seed)
        assert (box[0] >= problem.bounds[0]).all() and (box[1] <= problem.bounds[1]).all()
        torch.testing.assert_close(box[1] - box[0], sides)
    assert torch.equal(start_box(problem, 3), start_box(problem, 3))
    assert not torch.equal(start_box(problem, 3), start_box(problem, 4))


def test_points_inside_the_domain_and_problems_without_one() -> None:
    problem = find_problem("beale", 0)
    X = torch.tensor([[0.0, 0.0], [4.5, -4.5], [4.6, 0.0]], dtype=torch.double)
    assert problem.contains(X) == [True, True, False]
    box = torch.tensor([[0.0, 0.0], [1.0, 2.0]], dtype=torch.double)
    assert replace(problem, bounds=None, start_box=box).contains(X) == [True] * 3
    with pytest.raises(ValueError, match="has neither"):
        replace(problem, bounds=None)


def test_budget_is_the_papers() -> None:
    assert make_start(find_problem("hartmann6", 0), 0).budget == 60
    assert make_start(find_problem("far_smooth2_d3", 0), 0).budget == 40
    assert make_start(find_problem("hartmann6", 0), 0, budget=2).budget == 2


def draw(problem: Problem, seed: int, index: int) -> float:
    return observe(problem, torch.zeros(1, 3), 0.0, seed, index)


def test_noise_is_a_tenth_of_the_range_and_the_same_for_all() -> None:
    problem = find_problem("levy3_noisy", 0)
    assert problem.notes["range"] == pytest.approx(160, rel=0.1)
    draws = torch.tensor([draw(problem, 0, index) for index in range(2000)])
    assert float(draws.std()) == pytest.approx(0.1 * problem.notes["range"], rel=0.05)
    assert abs(float(draws.mean())) < 4 * problem.noise_std / math.sqrt(len(draws))
    assert draw(problem, 0, 7) == draw(problem, 0, 7) != draw(problem, 1, 7)
    assert draw(find_problem("levy3", 0), 0, 7) == 0
