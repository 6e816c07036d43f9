from __future__ import annotations

import pytest
import torch

from benchmarks.problems.problem import make_start
from benchmarks.problems.registry import SUITES, find_problem
from benchmarks.problems.textbook import PROBLEMS


@pytest.mark.parametrize("name", SUITES["plateau"].problems)
@pytest.mark.parametrize("seed", range(5))
def test_plateau_is_flat_at_the_start(name: str, seed: int) -> None:
    problem = find_problem(name, seed)
    values = problem(make_start(problem, seed).X)
    assert float(values.max() - values.min()) <= 1e-6
    assert problem.optimal_value is not None and problem.optimal_value >= 1


def test_useless_dimension_does_not_matter() -> None:
    problem, textbook = find_problem("useless_hartmann3", 0), PROBLEMS["hartmann3"]
    X = torch.rand(10, 4, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    torch.testing.assert_close(problem(X), textbook(X[:, :3]))
    assert problem.dim == 4


def test_near_starts_in_the_whole_domain() -> None:
    problem = find_problem("near_levy3", 0)
    assert torch.equal(make_start(problem, 0).box, PROBLEMS["levy3"].bounds)
