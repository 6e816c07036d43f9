"""How far ``beta`` can fall before certificates are wrong: searches of GP sample paths.

A case is a kind of path, box and model. Its paths are searched with the paper's method and a
schedule of ``beta`` times each of some factors, and every certificate on the way is held against
the maximum over its box. Besides, the event that the theorem rests on is looked at: that the upper
confidence bound at the true maximiser, with the slack for a grid, is never below the maximum.

Boxes that stay are searched many paths at once; one that grows is the controller's own work.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from scipy.stats.qmc import LatinHypercube
from torch import Tensor

from benchmarks.problems.sample_paths import (
    NOISE,
    Path,
    draw_path,
    draw_paths,
    find_maxima,
    known_model,
)
from benchmarks.runs.path_searches import INITIAL_PER_DIM, Task, search_together
from botorch_ubo import (
    BetaSchedule,
    CalibratedBeta,
    ExpandingBounds,
    TheoremBeta,
    fit_default_model,
    get_method,
)

CHOICE, JUDGEMENT = "chosen on", "judged on"  # the halves
SCHEDULES = {"theorem": TheoremBeta, "calibrated": CalibratedBeta}
LEVELS = (
    *(("theorem", factor) for factor in (1.0, 0.2, 0.05)),
    *(("calibrated", factor) for factor in (4.0, 2.0, 1.5, 1.0, 0.7, 0.5, 0.25, 0.1)),
)
NUM_CERTIFICATES = 3  # of a box that grows; one that stays has one
_FIRST_SEED = {CHOICE: 0, JUDGEMENT: 100_000}

Key = tuple[str, int]  # case and block of paths


@dataclass(frozen=True)
class Case:
    """What is searched, and what the searcher knows.

    Attributes:
        dim: Of the path.
        side: Of the first box, in length-scales.
        kernel: Of the path, and of the model unless that is fitted.
        noise: Standard deviation of an observation, of a path of variance 1.
        fitted: Whether hyper-parameters are fitted at every step, with the default's model.
        growing: Whether the box moves when it is exhausted.
        num_paths: How many there are.
        max_evaluations: Of a search.
    """

    dim: int
    side: float
    kernel: str = "RBF"
    noise: float = 0.0
    fitted: bool = False
    growing: bool = False
    num_paths: int = 100
    max_evaluations: int = 150

    @property
    def half(self) -> str:
        """A level is chosen on paths of one kernel, and judged on those of others."""
        return CHOICE if self.kernel == "RBF" else JUDGEMENT

    @property
    def block(self) -> int:
        """Paths that are searched together, and whose result is kept together."""
        return 10 if self.growing else 25 if self.dim > 2 else 50

    @property
    def num_blocks(self) -> int:
        """How many such there are."""
        return -(-self.num_paths // self.block)


_OTHERS = ("Matern 5/2", "Matern 3/2", "rational quadratic", "two scales")

_FITTED: dict[str, Any] = {"fitted": True, "max_evaluations": 100}
_GROWING: dict[str, Any] = {"growing": True, "num_paths": 20, "max_evaluations": 60}

CASES: dict[str, Case] = {
    **{f"d = 1, {side}": Case(1, side) for side in (5, 20, 50)},
    **{f"d = 2, {side}": Case(2, side) for side in (5, 10)},
    "d = 2, 20": Case(2, 20, num_paths=50, max_evaluations=200),
    "d = 3, 5": Case(3, 5, num_paths=50),
    "d = 4, 5": Case(4, 5, num_paths=25, max_evaluations=200),
    "d = 1, 20, noise": Case(1, 20, noise=0.05, max_evaluations=100),
    "d = 2, 5, noise": Case(2, 5, noise=0.05, max_evaluations=100),
    **{f"d = 1, {side}, fitted": Case(1, side, **_FITTED) for side in (5, 20)},
    **{f"d = 2, {side}, fitted": Case(2, side, **_FITTED) for side in (5, 10)},
    "d = 3, 5, fitted": Case(3, 5, num_paths=50, **_FITTED),
    "d = 1, 5, growing": Case(1, 5, **_GROWING),
    "d = 1, 5, fitted, growing": Case(1, 5, fitted=True, **_GROWING),
    **{f"d = 1, 20, {name}": Case(1, 20, name) for name in _OTHERS},
    **{f"d = 2, 5, {name}": Case(2, 5, name) for name in _OTHERS},
    "d = 2, 10, Matern 5/2": Case(2, 10, "Matern 5/2", num_paths=50),
    "d = 3, 5, rational quadratic": Case(3, 5, "rational quadratic", num_paths=50),
    **{
        f"d = 1, 20, {name}, fitted": Case(1, 20, name, num_paths=50, **_FITTED) for name in _OTHERS
    },
    **{f"d = 2, 5, {name}, fitted": Case(2, 5, name, num_paths=50, **_FITTED) for name in _OTHERS},
    "d = 1, 5, Matern 5/2, growing": Case(1, 5, "Matern 5/2", **_GROWING),
}


def search_block(key: Key, settings: dict[str, Any]) -> dict[str, Any]:
    """Search some paths of a case at all levels.

    Args:
        key: A name of ``CASES`` and the number of a block of its paths.
        settings: ``delta``, ``epsilon`` in standard deviations of the values seen.

    Returns:
        ``case``, ``block`` and ``cells``, one for each level, with counts: ``paths``,
        ``certificates``, those that are ``right``, paths on which the bound ``held``; and sums over
        paths of ``evaluations`` and ``root``, the last ``sqrt(beta)``.
    """
    name, block = key
    case = CASES[name]
    first = _FIRST_SEED[case.half] + block * case.block
    seeds = [*range(first, first + min(case.block, case.num_paths - block * case.block))]
    task = None if case.growing else make_task(case, seeds)
    cells = []
    for level, factor in LEVELS:
        schedule = SCHEDULES[level](settings["delta"], factor)
        limit = {"epsilon": settings["epsilon"], "max_evaluations": case.max_evaluations}
        if task is None:
            searches = [_search_growing(case, seed, schedule, limit) for seed in seeds]
        else:
            searches = [_as_certificates(s) for s in search_together(task, seeds, schedule, limit)]
        cells.append({"level": level, "factor": factor, **count(searches)})
    return {"case": name, "block": block, "cells": cells}


def count(searches: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and sums over searches."""
    given = [c for search in searches for c in search["certificates"]]
    return {
        "paths": len(searches),
        "certificates": len(given),
        "right": sum(c["regret"] <= c["epsilon"] for c in given),
        "held": None if searches[0]["held"] is None else sum(s["held"] for s in searches),
        "evaluations": sum(s["evaluations"] for s in searches),
        "root": round(sum(s["root"] for s in searches), 3),
    }


def make_task(case: Case, seeds: list[int]) -> Task:
    """The paths of some seeds in the case's box."""
    paths = draw_paths(case.kernel, case.dim, seeds)
    box = case.side * torch.stack([torch.zeros(case.dim), torch.ones(case.dim)]).double()
    places, tops = find_maxima(paths, box.expand(len(seeds), 2, case.dim))
    return Task(paths, places, tops, case.kernel, case.side, case.noise, case.fitted)


def _as_certificates(search: dict[str, Any]) -> dict[str, Any]:
    given = search["regret"] is not None
    one = {"regret": search["regret"], "epsilon": search["epsilon"]}
    return {**search, "certificates": [one] if given else []}


def _search_growing(
    case: Case, seed: int, schedule: BetaSchedule, settings: dict[str, Any]
) -> dict[str, Any]:
    """One path, with the controller, until it has had several certificates."""
    path = draw_path(case.dim, 1 / case.side, seed, case.kernel)
    box = torch.tensor([[0.0] * case.dim, [1.0] * case.dim], dtype=torch.double)
    method = replace(get_method("GPUCB-UBO"), beta=schedule)
    controller = ExpandingBounds(box, method=method, epsilon=settings["epsilon"], seed=seed)
    X = torch.from_numpy(LatinHypercube(case.dim, rng=seed).random(INITIAL_PER_DIM * case.dim))
    Y = path(X)
    certificates: list[dict[str, float]] = []
    while True:
        model = _fit(X, Y, case, box)
        controller.update(model)
        found = controller.certificate
        if found is not None and found.num_observations == len(X):
            certificates.append(_judge(path, found.bounds, found.best_X, found.epsilon))
        if len(certificates) >= NUM_CERTIFICATES or len(X) >= settings["max_evaluations"]:
            break
        x = controller.suggest(model)
        X, Y = torch.cat([X, x]), torch.cat([Y, path(x)])
    return {
        "evaluations": len(X),
        "certificates": certificates,
        "held": None,
        "root": controller.context(model).confidence.beta ** 0.5,
    }


def _judge(path: Path, bounds: Any, best_X: Any, epsilon: float) -> dict[str, float]:
    _, top = path.maximizer_in(torch.tensor(bounds, dtype=torch.double))
    known = float(path(torch.tensor([best_X], dtype=torch.double)))
    # The polished maximum can be a rounding error below an evaluated one.
    return {"regret": max(0.0, top - known), "epsilon": epsilon}


def _fit(X: Tensor, Y: Tensor, case: Case, box: Tensor) -> Any:
    if case.fitted:
        return fit_default_model(X, Y, box)
    return known_model(X, Y, 1 / case.side, case.kernel, max(case.noise**2, NOISE))


def block_key(result: dict[str, Any]) -> Key:
    """Which block it is."""
    return result["case"], result["block"]
