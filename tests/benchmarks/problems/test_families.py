from __future__ import annotations

import re
from collections import Counter

import pytest
import torch

from benchmarks.problems.families import FUNCTIONS, HALVES, JUDGE, KINDS, LOOK, make_function
from benchmarks.problems.problem import Sources, make_start


def test_enough_functions_and_halves_alike() -> None:
    families = {re.sub(r"\d+$", "", name) for name in FUNCTIONS}
    assert len(FUNCTIONS) >= 40 and len(families) >= 20
    assert {1, 2, 3, 5, 10, 20} == {dim for _, _, dim in FUNCTIONS.values()}
    look, judge = HALVES[LOOK], HALVES[JUDGE]
    assert not set(look) & set(judge)
    assert not {re.sub(r"\d+$", "", name) for name in look} & {
        re.sub(r"\d+$", "", name) for name in judge
    }
    # As many of every kind and dimension in one half as in the other.
    counts = [Counter((id(kind), dim) for kind, _, dim in half.values()) for half in (look, judge)]
    assert counts[0] == counts[1] and len(counts[0]) == 2 * len(KINDS)
    # Which of two goes where is not the author's choice.
    assert ["fam_cumulative3", "fam_ellipsoid2", "fam_dixon2"] == list(look)[:5:2]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_optimum_is_known_and_in_the_domain(name: str) -> None:
    for seed in range(3):
        problem = make_function(name, seed, Sources())
        assert problem.optimizer is not None and problem.bounds is not None
        assert all(problem.contains(problem.optimizer.unsqueeze(0)))
        best = problem.optimal_value
        assert best is not None
        assert float(problem(problem.optimizer.unsqueeze(0))) == pytest.approx(best, abs=1e-9)
        X = 10 * torch.rand(2000, problem.dim, dtype=torch.double) - 5
        for wide in (1, 100, 1e5):
            values = problem(wide * X)
            assert values.isfinite().all() and float(values.max()) <= best + 1e-9 * abs(best)
        start = make_start(problem, seed)
        assert all(problem.contains(start.box)) and start.budget <= 80
        torch.testing.assert_close(start.box[1] - start.box[0], torch.full_like(start.box[0], 2.0))
        assert float(problem(start.X).max()) < best - 1e-9


def test_a_seed_is_an_instance() -> None:
    first, again, other = (make_function("fam_basins3", seed, Sources()) for seed in (0, 0, 1))
    X = torch.rand(5, 3, dtype=torch.double)
    assert torch.equal(first(X), again(X)) and not torch.allclose(first(X), other(X))
    assert first.start_box is not None and other.start_box is not None
    assert not torch.allclose(first.start_box, other.start_box)


def test_noise_where_it_is_said() -> None:
    noisy = {name for name in FUNCTIONS if make_function(name, 0, Sources()).noise_std > 0}
    assert noisy == {name for name in FUNCTIONS if name.startswith("fam_noisy")}


def test_rotated_forms_are_rotated() -> None:
    """A quadratic has cross terms once it is rotated, and none before."""
    axes = torch.eye(5, dtype=torch.double)
    for name, rotated in (("fam_ellipsoid5", True), ("fam_doublewell5", False)):
        problem = make_function(name, 0, Sources())
        assert problem.optimizer is not None

        def value(step: torch.Tensor, problem=problem) -> float:
            return float(problem((problem.optimizer + step).unsqueeze(0))) - problem.optimal_value

        cross = value(axes[0] + axes[1]) - value(axes[0]) - value(axes[1])
        assert (abs(cross) > 1e-6) == rotated
