import pytest
import torch

from benchmarks.problems import PROBLEMS, get_problem, start_box, start_points
from tests.helpers import tensor


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_optimum_is_attained_and_not_exceeded_in_the_domain(name: str) -> None:
    problem = PROBLEMS[name]
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


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_defined_outside_the_domain(name: str) -> None:
    problem = PROBLEMS[name]
    far = problem.bounds[1:] + 10 * (problem.bounds[1:] - problem.bounds[:1])
    value = problem(far)
    assert value.shape == (1, 1) and value.isfinite().all()
    assert problem.unbounded or value < problem.optimal_value


def test_eggholder_exceeds_its_optimum_outside_its_domain() -> None:
    problem = get_problem("eggholder")
    generator = torch.Generator().manual_seed(0)
    X = 1000 * (2 * torch.rand(20_000, 2, generator=generator, dtype=torch.double) - 1)
    assert problem.unbounded and problem(X).max() > 1.5 * problem.optimal_value


def test_authors_variants_differ_from_the_textbook() -> None:
    """Their Levy has an optimum at every x1 = 1 + 4k; their Hartmann6 tends to 2.58 / 1.94."""
    levy, textbook = get_problem("levy3_authors"), get_problem("levy3")
    X = tensor([[-7.0, 1.0, 1.0], [5.0, 1.0, 1.0]])
    torch.testing.assert_close(levy(X), torch.zeros(2, 1, dtype=torch.double), atol=1e-12, rtol=0)
    assert (textbook(X) < -0.1).all()
    hartmann = get_problem("hartmann6_authors")
    assert float(hartmann(torch.full((1, 6), 50.0, dtype=torch.double))) == pytest.approx(1.3298969)
    assert hartmann.optimal_value == pytest.approx(3.04246, abs=1e-5)


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(KeyError, match="beale"):
        get_problem("Beal")


def test_start_box_is_a_share_of_the_domain_and_repeatable() -> None:
    problem = get_problem("eggholder")
    for seed in range(20):
        box = start_box(problem, seed)
        assert (box[0] >= problem.bounds[0]).all() and (box[1] <= problem.bounds[1]).all()
        torch.testing.assert_close(box[1] - box[0], tensor([204.8, 204.8]))
        X = start_points(box, 30, seed)
        assert (X >= box[0]).all() and (X <= box[1]).all()
    assert torch.equal(start_box(problem, 3), start_box(problem, 3))
    assert not torch.equal(start_box(problem, 3), start_box(problem, 4))
