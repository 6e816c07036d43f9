from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from benchmarks.methods.contender import Clock, Placed
from benchmarks.methods.expanding import ExpandingContender
from benchmarks.methods.registry import GROUPS, make_contender, place_start
from benchmarks.methods.told import SAME, same_told
from benchmarks.problems.problem import make_start
from benchmarks.problems.registry import find_problem
from benchmarks.runs.loop import run_one
from botorch_ubo import get_method
from botorch_ubo.controller import method
from botorch_ubo.methods import DEFAULT_METHOD
from botorch_ubo.policies import factories


@pytest.mark.parametrize("name", ["beale", "far_smooth2_d30", "fam_mesa2"])
def test_the_box_is_the_domain_and_stays(name: str) -> None:
    problem = find_problem(name, 0)
    start = make_start(problem, 0)
    contender = same_told(problem, start, 0)
    X = start.X
    for _ in range(3):
        x = contender.suggest(X, problem(X), Clock())
        assert contender.bounds is not None and torch.equal(contender.bounds, problem.bounds)
        X = torch.cat([X, x])
    assert all(problem.contains(X))
    # The model keeps the default's units, those of the start box.
    assert torch.equal(contender.start_box, start.box)


def test_it_is_the_default_whatever_that_is(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = find_problem("beale", 0)
    other = replace(get_method(DEFAULT_METHOD), acquisition=factories.ucb)
    monkeypatch.setitem(method._METHODS, DEFAULT_METHOD.casefold(), other)
    contender = make_contender("same-told", problem, make_start(problem, 0), 0)
    assert isinstance(contender, ExpandingContender)
    assert contender.box.method.acquisition is factories.ucb
    assert (
        contender.box.settings.search
        == make_contender(DEFAULT_METHOD, problem, make_start(problem, 0), 0).box.settings.search
    )  # type: ignore[attr-defined]


def test_spread_points_fill_the_domain_and_others_keep_theirs() -> None:
    problem = find_problem("fam_basins3", 1)
    start = make_start(problem, 1)
    own = place_start("same-told", problem, start, 1)
    default = place_start(DEFAULT_METHOD, problem, start, 1)
    assert torch.equal(own.X, default.X) and torch.equal(own.box, start.box)
    assert place_start("HuBO-EI", problem, start, 1) is start
    spread = place_start("same-told-spread", problem, start, 1)
    assert torch.equal(spread.box, start.box) and len(spread.X) == len(start.X)
    assert problem.bounds is not None
    share = (spread.X - problem.bounds[0]) / (problem.bounds[1] - problem.bounds[0])
    # A Latin hypercube: one point in each ninth of every side.
    assert (share * 9).floor().sort(dim=0).values.tolist() == [[float(i)] * 3 for i in range(9)]


def test_regret_counts_from_the_shared_start() -> None:
    plain, spread = (run_one("beale", name, 0, budget=1) for name in SAME)
    shared = run_one("beale", "HuBO-EI", 0, budget=1)
    assert shared.start_value is None
    assert plain.start_value == spread.start_value == max(shared.Y[:6])
    assert spread.X[:6] != plain.X[:6] and spread.start_box == plain.start_box
    far = [run_one("far_smooth2_d1", name, 0, budget=1).target for name in SAME]
    assert far[0] == pytest.approx(far[1])


def test_contest_has_the_rivals_of_every_suite() -> None:
    assert list(GROUPS["contest"]) == [
        DEFAULT_METHOD, "HuBO-EI", "EI-UBO", "TuRBO-1", "GPUCB-UBO", "same-told",
        "same-told-spread", "LogEI-oracle", "CMA-ES", "Optuna-GP-told",
    ]  # fmt: skip
    assert isinstance(GROUPS["outside"]["Optuna-GP-told-spread"], Placed)


def test_without_a_domain_there_is_nothing_to_tell() -> None:
    problem = replace(find_problem("beale", 0), bounds=None, start_box=torch.eye(2).double())
    with pytest.raises(ValueError, match="nominal domain"):
        same_told(problem, make_start(problem, 0), 0)
