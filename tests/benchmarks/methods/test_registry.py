from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from benchmarks.methods.contender import Clock
from benchmarks.methods.log_ei import LogEIContender, wide_box
from benchmarks.methods.outside import CMAContender
from benchmarks.methods.registry import GROUPS, OUTSIDE, make_contender, resolve_methods
from benchmarks.methods.selected import FEW, SELECTIONS
from benchmarks.methods.told import SAME
from benchmarks.problems.problem import Problem, make_start
from benchmarks.problems.registry import find_problem
from botorch_ubo import available_methods

# The other is for parameters with names.
NUMERIC = [name for name in OUTSIDE if name != "Optuna-TPE-told-spread"]


def tensor(values: list) -> Tensor:
    return torch.tensor(values, dtype=torch.double)


def evaluate(problem: Problem, name: str, count: int, seed: int = 0) -> tuple[Tensor, list[Clock]]:
    """The points that a contender proposes."""
    start = make_start(problem, seed)
    contender = make_contender(name, problem, start, seed)
    X, clocks = start.X, []
    for _ in range(count):
        clocks.append(Clock())
        x = contender.suggest(X, problem(X), clocks[-1])
        assert x.shape == (1, problem.dim) and x.dtype == torch.double
        if contender.bounds is not None:
            assert (x >= contender.bounds[0]).all() and (x <= contender.bounds[1]).all()
        X = torch.cat([X, x])
    return X[len(start.X) :], clocks


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NUMERIC, "EI-UBO"])
def test_same_seed_same_proposals_and_seconds_are_counted(name: str) -> None:
    problem = find_problem("beale", 0)
    first, clocks = evaluate(problem, name, 1)
    second, _ = evaluate(problem, name, 1)
    torch.testing.assert_close(first, second, rtol=0, atol=0)
    assert all(sum(clock.seconds.values()) > 0 for clock in clocks)
    assert all(set(clock.seconds) <= {"fit", "geometry", "acquisition"} for clock in clocks)


def test_registry_method_has_its_seconds_split() -> None:
    _, (clock,) = evaluate(find_problem("beale", 0), "HuBO-EI", 1)
    assert set(clock.seconds) == {"fit", "geometry", "acquisition"}


def test_oracle_and_wide_boxes() -> None:
    problem = find_problem("beale", 0)
    start = make_start(problem, 0)
    oracle = make_contender("LogEI-oracle", problem, start, 0)
    assert oracle.bounds is not None and torch.equal(oracle.bounds, problem.bounds)
    units = make_contender("LogEI-oracle-startunits", problem, start, 0)
    assert isinstance(units, LogEIContender) and units.bounds is not None
    assert torch.equal(units.bounds, oracle.bounds) and torch.equal(units.units, start.box)
    for factor, name in ((5, "LogEI-wide5"), (25, "LogEI-wide25"), (5, "Optuna-GP-wide5")):
        bounds = make_contender(name, problem, start, 0).bounds
        assert bounds is not None
        torch.testing.assert_close(bounds[1] - bounds[0], tensor([9.0, 9.0]) * factor)
        torch.testing.assert_close(bounds.mean(dim=0), start.box.mean(dim=0))


def test_without_a_domain_the_start_box_is_the_measure() -> None:
    problem = replace(find_problem("beale", 0), bounds=None, start_box=tensor([[0, 0], [1, 2]]))
    start = make_start(problem, 0)
    assert wide_box(problem, start, 5).tolist() == [[-2.0, -4.0], [3.0, 6.0]]
    with pytest.raises(ValueError, match="nominal domain"):
        make_contender("LogEI-oracle", problem, start, 0)


@pytest.mark.parametrize("name", ["EI-UBO", "LogEI-wide25", "CMA-ES", "Optuna-GP-wide5"])
def test_hard_limits_are_kept(name: str) -> None:
    """Beale rises towards (3, 0.5) from this corner, beyond the limits."""
    box = tensor([[0.0, 0.0], [1.0, 1.0]])
    limits = tensor([[-0.2, -float("inf")], [1.1, float("inf")]])
    problem = replace(find_problem("beale", 0), start_box=box, hard_limits=limits)
    X, _ = evaluate(problem, name, 2)
    assert (X >= limits[0]).all() and (X <= limits[1]).all()


def test_cma_is_told_whole_generations_and_converges() -> None:
    target = tensor([3.0, -2.0])
    problem = replace(
        find_problem("beale", 0),
        function=lambda X: -(X - target).square().sum(dim=-1),
        start_box=tensor([[0.0, 0.0], [1.0, 1.0]]),
    )
    X, _ = evaluate(problem, "CMA-ES", 150)
    assert float(problem(X).max()) > -1e-2
    start = make_start(problem, 0)
    contender = CMAContender(problem, start, 0)
    X = start.X
    for _ in range(13):  # generations of 6
        X = torch.cat([X, contender.suggest(X, problem(X), Clock())])
    assert contender._strategy.countiter == 2 and contender._strategy.countevals == 12


def test_optuna_is_told_the_initial_points() -> None:
    problem = find_problem("beale", 0)
    start = make_start(problem, 0)
    contender = make_contender("Optuna-GP-wide5", problem, start, 0)
    X = start.X
    for _ in range(2):
        X = torch.cat([X, contender.suggest(X, problem(X), Clock())])
    trials = contender._study.get_trials()  # type: ignore[attr-defined]
    assert [trial.params["x0"] for trial in trials] == X[:, 0].tolist()
    told = [trial.value for trial in trials[:-1]]
    torch.testing.assert_close(tensor(told), problem(X[:-1]).flatten())


def test_methods_by_group_and_name() -> None:
    registry = tuple(method.name for method in available_methods())
    assert resolve_methods(["registry"]) == registry
    assert resolve_methods(["ei-ubo", "CMA-es", "EI-UBO"]) == ("EI-UBO", "CMA-ES")
    assert resolve_methods(["all"]) == (*registry, *SAME, *OUTSIDE)
    assert resolve_methods(["authors"]) == ("authors",)
    with pytest.raises(KeyError, match="nearest are EI-UBO"):
        resolve_methods(["EI-UB0"])


@pytest.mark.parametrize("name", GROUPS["ablation"])
def test_every_variant_suggests_in_its_box(name: str) -> None:
    found, _ = evaluate(find_problem("beale", 0), name, 1)
    assert found.isfinite().all()


@pytest.mark.parametrize("name", [name for name in SELECTIONS if f"({FEW} " in name])
def test_a_model_of_few_data_is_of_those_few_and_keeps_all(name: str) -> None:
    X = torch.rand(FEW + 20, 2, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    Y = -(X - 0.3).square().sum(dim=-1, keepdim=True)
    box = tensor([[0.0, 0.0], [0.5, 0.5]])
    problem = find_problem("beale", 0)
    contender = make_contender(name, problem, make_start(problem, 0), 0)
    model = contender.fit(X, Y, box)
    assert len(set(model.selected.tolist())) == FEW and len(model.train_targets) == FEW + 20
    assert int(Y.argmax()) in model.selected.tolist()
    assert len(contender.fit(X[:FEW], Y[:FEW], box).train_targets) == FEW
