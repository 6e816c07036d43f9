"""How near fit and search of the default come to what many more starts find, on data of runs."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from scipy.optimize import Bounds, minimize
from torch import Tensor
from tqdm import tqdm

from benchmarks.problems.problem import make_start
from benchmarks.problems.registry import find_problem
from botorch_ubo import ExpandingBounds
from botorch_ubo.acquisition.search import maximize_acquisition
from botorch_ubo.acquisition.search.settings import SearchSettings
from botorch_ubo.models.quick import EXACT_NOISE, MIN_NOISE, Array, LogDensity, QuickGP
from botorch_ubo.policies.factories import searching_log_ei

FIT_STARTS = 10
SEARCH_STARTS = 144
_RAW_SAMPLES = 8192
_STRONG = {"maxiter": 400, "ftol": 1e-10, "gtol": 1e-4}


def steps_of_a_run(
    name: str, seed: int, budget: int, every: int
) -> Iterator[tuple[ExpandingBounds, Tensor, Tensor, QuickGP]]:
    """Box, data and fitted model of every so many steps of a run of the default."""
    problem = find_problem(name, seed)
    start = make_start(problem, seed, budget)
    box = ExpandingBounds(start.box, hard_limits=problem.hard_limits, seed=seed)
    X = start.X
    Y = torch.cat([problem(x.unsqueeze(0)).reshape(1, 1) for x in X])
    for step in range(start.budget):
        model = box.fit(X, Y)
        assert isinstance(model, QuickGP)
        x = box.suggest(model)
        if step % every == every - 1:
            yield box, X, Y, model
        X, Y = torch.cat([X, x]), torch.cat([Y, problem(x).reshape(1, 1)])


def fit_loss(model: QuickGP) -> float:
    """Nats by which the density at a fit is below the best of ten other descents."""
    model = model.train()
    noise = float(model.likelihood.noise.detach().mean())
    exact = noise < 1.1 * EXACT_NOISE
    density = LogDensity(model, EXACT_NOISE if exact else None)
    kernel = model.covar_module
    found = [*kernel.base_kernel.lengthscale.detach().flatten().tolist()]
    found += [float(kernel.outputscale.detach())] + ([] if exact else [noise])
    model.eval()
    lower, upper = density.bounds.T.copy()
    if not exact:
        lower[-1] = max(lower[-1], math.log(MIN_NOISE))
    value = density.value(np.clip(np.log(found), lower, upper))
    best = min(_descend(density, start, lower, upper) for start in _starts(density))
    return value - min(best, value)


def _starts(density: LogDensity) -> list[Array]:
    """Modes, medians, and draws from a narrower prior."""
    generator = np.random.default_rng(0)
    d = density.X.shape[-1]
    starts = [density.modes, density.modes.copy(), density.modes.copy()]
    starts[1][:d], starts[2][-1] = density.loc[:d], math.log(0.3)
    center = density.loc - 0.5 * density.scale**2
    while len(starts) < FIT_STARTS:
        starts.append(center + 0.7 * density.scale * generator.standard_normal(len(center)))
    return starts


def _descend(density: LogDensity, start: Array, lower: Array, upper: Array) -> float:
    start, bounds = np.clip(start, lower, upper), Bounds(lower, upper)
    found = minimize(density, start, jac=True, method="L-BFGS-B", bounds=bounds, options=_STRONG)
    return float(found.fun)


def search_loss(box: ExpandingBounds, model: QuickGP) -> float:
    """By how much log EI of the default's search is below that of 144 strong restarts.

    In the box whose turn it is, from the same view of the model.
    """
    context = box.context(model)
    boxes = context.search_boxes
    bounds = boxes[(context.t - 1) % len(boxes)] if boxes.dim() == 3 else boxes
    acqf, near = searching_log_ei(context), context.view.neighborhood
    _, usual = maximize_acquisition(acqf, bounds, near, seed=context.seed)
    strong = SearchSettings(num_restarts=SEARCH_STARTS, raw_samples=_RAW_SAMPLES)
    _, best = maximize_acquisition(acqf, bounds, near, seed=context.seed + 1, settings=strong)
    return max(0.0, float(best) - float(usual))


def measure_quality(
    problems: Sequence[str], seeds: Sequence[int], budget: int, every: int
) -> list[dict[str, Any]]:
    """Losses of fits and searches, a row each."""
    rows: list[dict[str, Any]] = []
    runs = [(name, seed) for name in problems for seed in seeds]
    for name, seed in tqdm(runs, desc="runs"):
        for box, X, _, model in steps_of_a_run(name, seed, budget, every):
            search = search_loss(box, model)
            row = {"problem": name, "seed": seed, "n": len(X), "dim": X.shape[-1]}
            rows.append({**row, "search": search, "fit": fit_loss(model)})
    return rows
