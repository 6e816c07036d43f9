"""Problems of several outcomes: their optima are optima, and start boxes are elsewhere."""

import pytest
import torch

from benchmarks.problems import constrained, multi
from benchmarks.problems.outcomes import SHARE, outcome_start

TOLERANCE = 3e-3  # of welded_beam4's first constraint, a stress of 13,600 psi


@pytest.mark.parametrize("name", constrained.PROBLEMS)
def test_the_known_optimum_is_feasible_and_nothing_sampled_beats_it(name: str) -> None:
    problem = constrained.PROBLEMS[name]
    at = problem.outcomes(problem.optimizer.unsqueeze(0))
    assert (at[0, 1:] <= TOLERANCE).all()
    generator = torch.Generator().manual_seed(0)
    unit = torch.rand(20_000, problem.dim, generator=generator, dtype=torch.double)
    sides = problem.bounds[1] - problem.bounds[0]
    wide = problem.bounds[0] - sides + 3 * sides * unit  # the domain and as much on either side
    if problem.hard_limits is not None:
        wide = wide.clamp(problem.hard_limits[0], problem.hard_limits[1])
    for X in (problem.bounds[0] + sides * unit, wide):
        Y = problem.outcomes(X)
        assert Y.shape == (20_000, 1 + problem.num_constraints) and Y.isfinite().all()
        assert problem.regret(Y) >= -1e-3


@pytest.mark.parametrize("name", multi.PROBLEMS)
def test_no_sample_has_more_than_the_whole_hypervolume(name: str) -> None:
    problem = multi.PROBLEMS[name]
    unit = torch.rand(2000, problem.dim, generator=torch.Generator().manual_seed(0)).double()
    Y = problem.outcomes(problem.bounds[0] + (problem.bounds[1] - problem.bounds[0]) * unit)
    volume = problem.hypervolume(Y)
    assert 0.3 * problem.max_hypervolume < volume <= 1.001 * problem.max_hypervolume


@pytest.mark.parametrize("name", [*constrained.PROBLEMS, *multi.PROBLEMS])
def test_a_run_starts_elsewhere_and_the_same_for_all(name: str) -> None:
    problem = (constrained.PROBLEMS | multi.PROBLEMS)[name]
    start, again = outcome_start(problem, 0), outcome_start(problem, 0)
    assert torch.equal(start.X, again.X) and start.X.shape == (3 * problem.dim, problem.dim)
    assert start.budget == 10 * problem.dim
    sides = (start.box[1] - start.box[0]) / (problem.bounds[1] - problem.bounds[0])
    torch.testing.assert_close(sides, torch.full_like(sides, SHARE))
    if problem.optimizer is not None:
        away = (problem.optimizer < start.box[0]) | (problem.optimizer > start.box[1])
        assert away.any()


def test_regret_and_hypervolume_by_hand() -> None:
    problem = constrained.PROBLEMS["rosenbrock_disk2"]
    Y = torch.tensor([[0.5, 1.0], [3.0, -1.0], [2.0, 0.0]], dtype=torch.double)
    assert problem.regret(Y) == 2.0 and problem.regret(Y[:1]) == float("inf")
    bowls = multi.PROBLEMS["two_bowls3"]  # reference point (6, 6)
    assert bowls.hypervolume(torch.tensor([[5.0, 3.0], [3.0, 5.0]]).double()) == 1 * 3 + 2 * 1
