from __future__ import annotations

import re

import pytest
import torch

from benchmarks.problems import families
from benchmarks.problems.highdim import DIMS, FUNCTIONS, HALVES, JUDGE, LOOK, make_function
from benchmarks.problems.problem import Sources, make_start


def _families(names: object) -> set[str]:
    return {re.sub(r"\d+$", "", name) for name in names}


def test_halves_are_alike_and_those_of_the_families() -> None:
    assert len(HALVES[LOOK]) == len(HALVES[JUDGE]) >= 20
    assert not _families(HALVES[LOOK]) & _families(HALVES[JUDGE])
    assert not set(FUNCTIONS) & set(families.FUNCTIONS)
    for suite, own in ((LOOK, families.LOOK), (JUDGE, families.JUDGE)):
        assert _families(HALVES[suite]) < _families(families.HALVES[own])
    for half in (HALVES[LOOK], HALVES[JUDGE]):
        assert {dim for _, _, dim in half.values()} == set(DIMS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_numbers_and_the_optimum_is_the_best(name: str) -> None:
    problem = make_function(name, 0, Sources())
    assert problem.optimizer is not None and problem.bounds is not None
    best = problem.optimal_value
    assert best is not None
    scale = max(1.0, abs(best))
    value = float(problem(problem.optimizer.unsqueeze(0)))
    assert value == pytest.approx(best, abs=1e-9 * scale)
    generator = torch.Generator().manual_seed(0)
    X = 10 * torch.rand(500, problem.dim, generator=generator, dtype=torch.double) - 5
    for wide in (1, 100):
        values = problem(wide * X)
        assert values.isfinite().all() and float(values.max()) <= best + 1e-9 * scale
    assert float(problem(X).std()) > 0


def test_the_start_is_that_of_the_seed() -> None:
    name = next(iter(FUNCTIONS))
    first, again, other = (make_start(make_function(name, s, Sources()), s) for s in (0, 0, 1))
    assert first.X.shape == (30, 50) and first.budget == 150
    assert torch.equal(first.X, again.X) and not torch.allclose(first.X, other.X)
    assert (first.X >= first.box[0]).all() and (first.X <= first.box[1]).all()
