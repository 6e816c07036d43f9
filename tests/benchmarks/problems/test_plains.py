from __future__ import annotations

import re
from collections import Counter

import pytest
import torch

from benchmarks.problems.plains import DOMAIN, FLAT, FUNCTIONS, HALVES, JUDGE, LOOK, make_plain
from benchmarks.problems.problem import Sources, make_start


def test_the_halves_are_alike_and_share_no_family() -> None:
    look, judge = HALVES[LOOK], HALVES[JUDGE]
    assert Counter((id(kind), dim) for kind, _, dim in look.values()) == Counter(
        (id(kind), dim) for kind, _, dim in judge.values()
    )
    families = [{re.sub(r"\d+$", "", name) for name in half} for half in (look, judge)]
    assert not families[0] & families[1] and len(FUNCTIONS) == 24


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_is_to_be_seen_from_the_start_and_the_optimum_is_known(name: str) -> None:
    for seed in range(3):
        problem = make_plain(name, seed, Sources())
        assert problem.optimizer is not None and problem.optimal_value is not None
        assert problem.start_value is not None and problem.distance is not None
        best, first = problem.optimal_value, problem.start_value
        assert float(problem(problem.optimizer.unsqueeze(0))) == pytest.approx(best)
        X = 3 * DOMAIN * torch.rand(4000, problem.dim, dtype=torch.double) - DOMAIN
        assert float(problem(X).max()) <= best + 1e-6
        start = make_start(problem, seed)
        assert all(problem.contains(start.box))
        values = problem(start.X)
        assert float(values.max() - values.min()) <= FLAT
        assert best - first > 0.5 and problem.distance > 0
