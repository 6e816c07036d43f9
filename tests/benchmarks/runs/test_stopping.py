from __future__ import annotations

import pytest
import torch

from benchmarks.runs.stopping import (
    PATHS,
    initial_points,
    key_of,
    make_task,
    run_to_the_end,
    usual_regret,
)

SETTINGS = {"budget": 8, "share": 0.1, "delta": 0.1}


def test_a_run_goes_to_its_budget_whoever_stops() -> None:
    run = run_to_the_end(("path1", "UCB, beta/5", 0), {**SETTINGS, "share": 1e3})
    assert key_of(run) == ("path1", "UCB, beta/5", 0)
    assert len(run["regrets"]) == 8 and run["initial"] == 3
    assert run["regrets"] == sorted(run["regrets"], reverse=True) and run["regrets"][-1] >= 0
    # An epsilon that is larger than anything: who asks for nothing else stops at once.
    assert run["stops"]["Wilson"] == run["stops"]["regret bound, beta"] == 3
    assert run["stops"]["Optuna"] is None and run["stops"]["never"] is None


@pytest.mark.slow
def test_a_run_is_repeatable_but_for_its_seconds() -> None:
    runs = [run_to_the_end(("path1", "LogEI", 1), SETTINGS) for _ in range(2)]
    for run in runs:
        assert set(run.pop("seconds")) == set(run["stops"])
    assert runs[0] == runs[1]


def test_every_seed_has_a_path_and_an_epsilon_of_its_own() -> None:
    X = torch.full((1, 2), 0.3, dtype=torch.double)
    first, second = make_task("path2", 0), make_task("path2", 1)
    assert float(first.function(X)) != float(second.function(X))
    assert usual_regret(first) != usual_regret(second)
    # A function of the textbook is one function.
    assert usual_regret(make_task("beale", 0)) == usual_regret(make_task("beale", 1))


@pytest.mark.parametrize("name", [*PATHS, "hartmann3"])
def test_nothing_in_the_box_is_above_the_optimum(name: str) -> None:
    task = make_task(name, 0)
    X = initial_points(task.box, 1)
    assert X.shape == (3 * task.box.shape[-1], task.box.shape[-1])
    assert (X >= task.box[0]).all() and (X <= task.box[1]).all()
    assert float(task.function(X).max()) <= task.optimum
    assert usual_regret(task) > 0


def test_refuses_a_budget_below_the_initial_points() -> None:
    with pytest.raises(ValueError, match="budget of 18 or more"):
        run_to_the_end(("hartmann6", "LogEI", 0), SETTINGS)
