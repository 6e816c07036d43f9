from __future__ import annotations

import pytest
import torch

from benchmarks.methods.told import spread_start
from benchmarks.problems.mixed import TASKS, make_mixed
from benchmarks.problems.problem import Sources, make_start
from benchmarks.runs.loop import run_one


@pytest.mark.parametrize("name", TASKS)
def test_starts_are_at_the_wrong_place_and_within_the_domain_of_the_space(name: str) -> None:
    problem = make_mixed(name, 0, Sources())
    start = make_start(problem, 0)
    assert start.X.shape == (3 * problem.dim, problem.dim)
    rows = [tuple(row) for row in start.X.tolist()]
    assert [problem.space.snap(row) for row in rows] == rows
    told = spread_start(problem, start, 0).X
    assert [problem.domain.snap(row) for row in told.tolist()] == [*map(tuple, told.tolist())]
    assert (told >= problem.bounds[0]).all() and (told <= problem.bounds[1]).all()


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("mixed_integers", {"a": 37, "b": 22}),
        ("mixed_hills", {"x": 7.0, "y": 6.0, "hill": "c"}),
        ("mixed_all", {"rate": 1.0, "n": 12, "size": 64, "kind": "b", "x": 4.0}),
        ("mixed_flags", {"flag0": True, "flag1": False, "flag2": True, "flag3": False, "x": 3.5}),
    ],
)
def test_known_optima(name: str, params: dict[str, object]) -> None:
    problem = make_mixed(name, 0, Sources())
    X = torch.tensor([problem.space.encode(params)], dtype=torch.double)
    assert float(problem(X)) == pytest.approx(problem.optimal_value)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["EI-Turns", "Optuna-GP-told-spread", "Optuna-TPE-told-spread"])
def test_every_method_of_the_suite_runs(method: str) -> None:
    record = run_one("mixed_hills", method, 0, budget=2)
    assert record.status == "ok", record.error
    assert len(record.Y) == 11
    space = make_mixed("mixed_hills", 0, Sources()).space
    assert [space.snap(row) for row in record.X] == [tuple(row) for row in record.X]
