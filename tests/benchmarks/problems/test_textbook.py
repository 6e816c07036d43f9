from __future__ import annotations

import pytest
import torch

from benchmarks.problems.textbook import AUTHORS_VARIANTS, PROBLEMS

ALL = {**PROBLEMS, **AUTHORS_VARIANTS}


@pytest.mark.parametrize("name", sorted(ALL))
def test_optimum_is_attained_and_not_exceeded_in_the_domain(name: str) -> None:
    problem = ALL[name]
    assert problem.bounds.shape == (2, problem.dim)
    torch.testing.assert_close(
        problem(problem.optimizer.unsqueeze(0)),
        torch.full((1, 1), problem.optimal_value, dtype=torch.double),
        atol=1e-4,
        rtol=0,
    )
    generator = torch.Generator().manual_seed(0)
    unit = torch.rand(20_000, problem.dim, generator=generator, dtype=torch.double)
    X = problem.bounds[0] + unit * (problem.bounds[1] - problem.bounds[0])
    assert problem(X).max() <= problem.optimal_value


@pytest.mark.parametrize("name", sorted(ALL))
def test_defined_outside_the_domain(name: str) -> None:
    problem = ALL[name]
    far = problem.bounds[1:] + 10 * (problem.bounds[1:] - problem.bounds[:1])
    value = problem(far)
    assert value.shape == (1, 1) and value.isfinite().all()
    assert problem.unbounded or value < problem.optimal_value


def test_eggholder_exceeds_its_optimum_outside_its_domain() -> None:
    problem = PROBLEMS["eggholder"]
    generator = torch.Generator().manual_seed(0)
    X = 1000 * (2 * torch.rand(20_000, 2, generator=generator, dtype=torch.double) - 1)
    assert problem.unbounded and problem(X).max() > 1.5 * problem.optimal_value


def test_authors_variants_differ_from_the_textbook() -> None:
    """Their Levy has an optimum at every x1 = 1 + 4k; their Hartmann6 tends to 2.58 / 1.94."""
    levy, textbook = ALL["levy3_authors"], ALL["levy3"]
    X = torch.tensor([[-7.0, 1.0, 1.0], [5.0, 1.0, 1.0]], dtype=torch.double)
    torch.testing.assert_close(levy(X), torch.zeros(2, 1, dtype=torch.double), atol=1e-12, rtol=0)
    assert (textbook(X) < -0.1).all()
    hartmann = ALL["hartmann6_authors"]
    assert float(hartmann(torch.full((1, 6), 50.0, dtype=torch.double))) == pytest.approx(1.3298969)
    assert hartmann.optimal_value == pytest.approx(3.04246, abs=1e-5)
