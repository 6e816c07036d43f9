"""A run to look at is the same run, whoever has it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import UnboundedOptimizer
from botorch_ubo.run.recorded import MOST_MODELLED, as_run
from tests.support.recorded_runs import RUNS, constrained_run, front_run, long_run, plain_result


def test_files_optimizers_and_results_are_one_run(tmp_path: Path) -> None:
    optimizer = UnboundedOptimizer(
        {"x": (0.0, 1.0)}, direction="maximize", checkpoint=tmp_path / "run.db"
    )
    first, second, _ = optimizer.ask(3)
    optimizer.tell(second, 2.0)
    optimizer.tell(first, 1.0)
    runs = [as_run(it) for it in (optimizer, tmp_path / "run.db", str(tmp_path / "run.db"))]
    runs.append(as_run(optimizer.result()))
    for run in runs:
        assert run.trials == optimizer.trials and run.goal == optimizer.goal
        assert [trial.id for trial in run.completed] == [1, 0]
        assert run.best == 0 and run.front == [0] and run.num_initial == 2
        assert run.completed[0].params == second.params
    assert [run.title for run in runs] == ["run.db"] * 3 + ["Run"]
    assert as_run(runs[0]) is runs[0]
    with pytest.raises(InputDataError, match="got list"):
        as_run([1])


def test_parameters_without_names_get_numbered_ones() -> None:
    run = as_run(plain_result())
    assert run.space.names == ("x0", "x1") and run.num_initial == 6
    assert run.space.decode(run.X[0].tolist()) == dict(run.completed[0].params or {})


def test_the_best_is_feasible_and_leads_a_front() -> None:
    run = constrained_run()
    assert run.best is not None and bool(run.goal.feasible(run.Y)[run.best])
    assert RUNS["infeasible"]().best is None and RUNS["infeasible"]().front == []
    several = front_run()
    assert several.best in several.front and len(several.front) > 1


def test_the_model_of_a_long_run_is_fitted_near_the_best() -> None:
    run = long_run(1000)
    assert run.modelled is not None and len(run.modelled) == MOST_MODELLED
    assert run.best in run.modelled.tolist()
    away = (run.X - run.X[run.best]).abs().amax(dim=-1)
    left = torch.ones(1000, dtype=torch.bool)
    left[run.modelled] = False
    assert away[run.modelled].max() <= away[left].min()
    assert as_run(plain_result()).modelled is None
