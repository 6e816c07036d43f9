from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from benchmarks.methods.path_regret import PathRegret
from benchmarks.methods.stopping import Look, RegretBoundRule, WilsonRule, is_any_below, make_rules
from benchmarks.problems.sample_paths import known_model
from botorch_ubo import ExpandingBounds

BOX = torch.tensor([[0.0], [1.0]], dtype=torch.double)
RULES = make_rules(0.1)


def look_at(lengthscale: float, epsilon: float, count: int = 40) -> Look:
    """A parabola on a grid of ``count`` points, of which 3 were there when the run began."""
    X = torch.linspace(0, 1, count, dtype=torch.double).unsqueeze(-1)
    Y = -(X - 0.5).square()
    controller = ExpandingBounds(
        BOX, method="GPUCB-Vanilla", hard_limits=BOX, epsilon=(epsilon, "raw")
    )
    controller.update(known_model(X[:3], Y[:3], lengthscale))
    model = known_model(X, Y, lengthscale)
    controller.update(model)
    return Look(controller.context(model), X, Y, BOX, epsilon, num_steps=38, seed=0)


@pytest.mark.parametrize("name", ["regret bound, beta", "regret bound, beta/5", "Wilson", "Optuna"])
def test_a_model_that_is_certain_stops(name: str) -> None:
    assert RULES[name](look_at(lengthscale=0.5, epsilon=0.1))


@pytest.mark.parametrize("name", ["regret bound, beta", "regret bound, beta/5", "Wilson"])
def test_a_model_that_knows_nothing_between_the_data_does_not(name: str) -> None:
    # Length-scales are far below the spacing: anywhere between is a draw of the prior.
    assert not RULES[name](look_at(lengthscale=0.001, epsilon=0.1))


def test_optuna_asks_for_20_trials_and_for_regret_below_epsilon() -> None:
    assert not RULES["Optuna"](look_at(0.5, epsilon=1e6, count=19))
    assert RULES["Optuna"](look_at(0.5, epsilon=1e6, count=20))
    assert not RULES["Optuna"](look_at(0.5, epsilon=1e-9))


def test_never_does_not_stop() -> None:
    assert not RULES["never"](look_at(0.5, epsilon=1e6))


def test_the_regret_bound_is_held_against_epsilon_with_the_betas_asked_for() -> None:
    look = look_at(lengthscale=0.5, epsilon=0.1)
    slack = look.context.view.to_raw_difference(look.context.confidence.slack)
    # 38 steps since the first three points, and the spread of the values for a unit.
    assert slack == pytest.approx(float(look.Y.std()) / 38**2, rel=1e-6)
    # Noise of 1e-6 leaves every point a standard deviation, by which only a larger beta is held up.
    with torch.no_grad():
        sigma = float(look.context.model.posterior(look.X).variance.max().sqrt())
    wide, narrow = RegretBoundRule(0.1, 1.0), RegretBoundRule(0.1, 1e-6)
    settings = replace(look.context.settings, epsilon=slack + sigma)
    look.context.settings = settings
    assert not wide(look) and narrow(look)


def drawn_from(share: float) -> tuple[Callable[[int, int], Tensor], list[int]]:
    """A point that fails in a share of the draws, evenly, and how many draws were asked for."""
    sizes: list[int] = []

    def fails(start: int, count: int) -> Tensor:
        sizes.append(start + count)
        numbers = torch.arange(start, start + count)
        failed = ((numbers + 1) * share).floor() > (numbers * share).floor()
        return failed.unsqueeze(-1)

    return fails, sizes


def test_draws_grow_until_the_interval_leaves_the_level() -> None:
    # Never a failure in n draws: the upper end is 1 - (alpha / 2)^(1 / n), with alpha of test j
    # 0.001 * 0.1 / 1.1 * j^-1.1. It is 0.0599 for n = 162 and j = 5, and 0.0414 for n = 243.
    fails, sizes = drawn_from(0.0)
    assert is_any_below(fails, 0.05, 0.001)
    assert sizes == [32, 48, 72, 108, 162, 243]
    fails, sizes = drawn_from(1.0)
    assert not is_any_below(fails, 0.05, 0.001)
    assert sizes == [32]


@pytest.mark.parametrize(("share", "answer"), [(0.048, True), (0.052, False)])
def test_the_share_of_all_draws_decides_where_intervals_do_not(share: float, answer: bool) -> None:
    fails, sizes = drawn_from(share)
    assert is_any_below(fails, 0.05, 0.001) is answer
    assert sizes[-1] == 1000


def test_one_good_point_among_bad_ones_is_enough() -> None:
    good, bad = drawn_from(0.0)[0], drawn_from(1.0)[0]
    assert is_any_below(lambda a, n: torch.cat([bad(a, n), good(a, n)], dim=-1), 0.05, 0.001)


def test_the_probability_of_regret_is_that_of_the_normal_distribution() -> None:
    # One datum, the value 0 at x = 0, and a box that is as good as one far point, of value N(0, 1).
    # The datum is worse than that by more than 0.5 with probability 1 - Phi(0.5) = 0.309.
    zero = torch.zeros(1, 1, dtype=torch.double)
    model = known_model(zero, zero, lengthscale=1.0)
    far = torch.tensor([[100.0], [100.0 + 1e-9]], dtype=torch.double)
    failed = PathRegret(model, far, zero, epsilon=0.5, seed=0).fails(0, 512)
    # Four standard errors of 512 draws.
    assert float(failed.double().mean()) == pytest.approx(0.309, abs=0.08)


def test_draws_are_those_of_the_seed() -> None:
    context = look_at(0.05, 0.1, count=8).context
    draws = PathRegret(context.model, BOX, context.view.X_raw[3:5], 0.5, seed=3)
    first = draws.fails(0, 40)
    assert first.shape == (40, 2) and first.any() and not first.all()
    assert torch.equal(first, draws.fails(0, 40))
    assert not torch.equal(first, draws.fails(40, 40))


def test_the_allowed_probability_is_half_of_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, float]] = []

    def note(fails: object, level: float, risk: float) -> bool:
        seen.append((level, risk))
        return False

    monkeypatch.setattr("benchmarks.methods.stopping.is_any_below", note)
    WilsonRule(0.2)(look_at(0.5, 0.1))
    # The other half, over 38 steps and 5 points.
    assert seen == [(0.1, pytest.approx(0.1 / 38 / 5))]
