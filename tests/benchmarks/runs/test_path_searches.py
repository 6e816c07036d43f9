"""Searches of many paths at once are those of the package's controller, one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from scipy.stats.qmc import LatinHypercube

from benchmarks.problems.sample_paths import draw_path, known_model
from benchmarks.runs.calibration import Case, make_task
from benchmarks.runs.path_searches import search_together
from botorch_ubo import (
    BetaSchedule,
    CalibratedBeta,
    ExpandingBounds,
    TheoremBeta,
    TheoremBox,
    fit_default_model,
    get_method,
)

SETTINGS = {"epsilon": 0.05, "max_evaluations": 40}


def by_the_controller(case: Case, seed: int, schedule: BetaSchedule) -> tuple[int, float, float]:
    """Evaluations until the first certificate, its regret and its epsilon."""
    path, d = draw_path(case.dim, 1 / case.side, seed, case.kernel), case.dim
    box = torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.double)
    strategy = TheoremBox(refinement=False)
    method = replace(get_method("GPUCB-UBO"), beta=schedule, strategy=strategy)
    controller = ExpandingBounds(box, method=method, hard_limits=box, epsilon=0.05, seed=seed)
    X = torch.from_numpy(LatinHypercube(d, rng=seed).random(3 * d))
    Y = path(X)
    while controller.certificate is None:
        model: Any = fit_default_model(X, Y, box) if case.fitted else known_model(
            X, Y, 1 / case.side, case.kernel
        )  # fmt: skip
        x = controller.suggest(model)
        X, Y = torch.cat([X, x]), torch.cat([Y, path(x)])
    found = controller.certificate
    _, top = path.maximizer_in(box)
    known = path(torch.tensor([found.best_X], dtype=torch.double)).item()
    return found.num_observations, max(0.0, top - known), found.epsilon


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "schedule"),
    [
        (Case(1, 20), CalibratedBeta(scale=1.0)),
        (Case(1, 20), TheoremBeta(scale=0.2)),
        (Case(2, 5, "Matern 5/2"), CalibratedBeta(scale=1.0)),
        (Case(1, 20, fitted=True), CalibratedBeta(scale=1.0)),
    ],
)
def test_the_controllers_certificates(case: Case, schedule: BetaSchedule) -> None:
    """To an evaluation or two: the searches have other starts."""
    seeds = [501, 505]
    together = search_together(make_task(case, seeds), seeds, schedule, SETTINGS)
    for seed, found in zip(seeds, together, strict=True):
        evaluations, regret, epsilon = by_the_controller(case, seed, schedule)
        assert abs(found["evaluations"] - evaluations) <= 2
        assert found["epsilon"] == pytest.approx(epsilon, rel=0.1)
        assert (found["regret"] <= found["epsilon"]) == (regret <= epsilon)


def test_a_path_does_not_depend_on_those_beside_it() -> None:
    case, schedule = Case(1, 20), CalibratedBeta(scale=0.25)
    alone = search_together(make_task(case, [3]), [3], schedule, SETTINGS)
    (_, beside) = search_together(make_task(case, [2, 3]), [2, 3], schedule, SETTINGS)
    assert beside["evaluations"] == alone[0]["evaluations"]
    assert beside["regret"] == pytest.approx(alone[0]["regret"], abs=1e-6)


def test_noise_is_seen_and_regret_is_of_the_path_itself() -> None:
    """Where noise is large, more is evaluated, and a good point is good without its noise."""
    noisy, schedule = Case(1, 5, noise=0.3), CalibratedBeta(scale=0.05)
    settings = {"epsilon": 0.5, "max_evaluations": 40}
    seeds = [4, 5, 6, 7]
    exact = search_together(make_task(Case(1, 5), seeds), seeds, schedule, settings)
    found = search_together(make_task(noisy, seeds), seeds, schedule, settings)
    assert sum(s["evaluations"] for s in found) > sum(s["evaluations"] for s in exact)
    task = make_task(noisy, seeds)
    # No point of a path is above its maximum, so no certified value is, whatever was observed.
    assert all(s["regret"] < 2 * task.tops.max() for s in found if s["regret"] is not None)
    assert any(s["regret"] is not None and s["regret"] > 0 for s in found)
