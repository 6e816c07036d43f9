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
from botorch_ubo.acquisition.batched import maximize_batched
from botorch_ubo.acquisition.search import maximize_acquisition
from botorch_ubo.acquisition.search.settings import SearchSettings
from botorch_ubo.models.batched import BatchedFit, BatchedGP, BatchedLogEI, fit_batched
from botorch_ubo.models.quick import EXACT_NOISE, MIN_NOISE, Array, LogDensity, QuickGP
from botorch_ubo.policies.factories import log_ei

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


def fit_losses(model: QuickGP, batched: bool = False) -> dict[str, float]:
    """Nats by which the density at a fit is below the best of ten long descents.

    The fit is the model's own, or that of many runs at once of the same data. Beside it, the same
    of the best of ten further descents, from other draws: what chance there is in the ten.
    """
    fit = _many_at_once(model) if batched else _fit_of(model)
    noise = float(fit.noise)
    exact = noise < 1.1 * EXACT_NOISE
    density = LogDensity(model.train(), EXACT_NOISE if exact else None)
    model.eval()
    found = [*fit.p.flatten().exp().tolist(), *([] if exact else [noise])]
    lower, upper = density.bounds.T.copy()
    if not exact:
        lower[-1] = max(lower[-1], math.log(MIN_NOISE))
    value = density.value(np.clip(np.log(found), lower, upper))
    best, others = (
        min(_descend(density, start, lower, upper) for start in starts)
        for starts in (_starts(density), _draws(density, FIT_STARTS, seed=1))
    )
    return {"fit": value - min(best, value), "ten_others": others - min(best, others)}


def _fit_of(model: QuickGP) -> BatchedFit:
    """The hyper-parameters of a model, as those of a batch of one."""
    kernel, noise = model.covar_module, model.likelihood.noise.detach().mean().reshape(1)
    sizes = [kernel.base_kernel.lengthscale.detach().flatten(), kernel.outputscale.detach()[None]]
    return BatchedFit(torch.cat(sizes).log().unsqueeze(0), noise, noise, noise < 1.1 * EXACT_NOISE)


def _many_at_once(model: QuickGP) -> BatchedFit:
    return fit_batched(*_data_of(model))


def _data_of(model: QuickGP) -> tuple[Tensor, Tensor, Tensor]:
    y = model.train_targets.unsqueeze(0)
    X = model.transform_inputs(model.train_inputs[0]) if model.training else model.train_inputs[0]
    return X.detach().unsqueeze(0), y, torch.ones_like(y, dtype=torch.bool)


def _starts(density: LogDensity) -> list[Array]:
    """Modes, medians, and draws from a narrower prior."""
    d = density.X.shape[-1]
    starts = [density.modes, density.modes.copy(), density.modes.copy()]
    starts[1][:d], starts[2][-1] = density.loc[:d], math.log(0.3)
    return starts + _draws(density, FIT_STARTS - len(starts), seed=0)


def _draws(density: LogDensity, count: int, seed: int) -> list[Array]:
    generator = np.random.default_rng(seed)
    center = density.loc - 0.5 * density.scale**2
    drawn = generator.standard_normal((count, len(center)))
    return [center + 0.7 * density.scale * row for row in drawn]


def _descend(density: LogDensity, start: Array, lower: Array, upper: Array) -> float:
    start, bounds = np.clip(start, lower, upper), Bounds(lower, upper)
    found = minimize(density, start, jac=True, method="L-BFGS-B", bounds=bounds, options=_STRONG)
    return float(found.fun)


def search_loss(box: ExpandingBounds, model: QuickGP, batched: bool = False) -> float:
    """By how much log EI of a search is below that of 144 strong restarts.

    In the box whose turn it is, from the same view of the model; the search is the default's, or
    that of many runs at once.
    """
    context = box.context(model)
    boxes = context.search_boxes
    bounds = boxes[(context.t - 1) % len(boxes)] if boxes.dim() == 3 else boxes
    acqf, near = log_ei(context), context.view.neighborhood
    if batched:
        X, y, present = _data_of(model)
        gp = BatchedGP.of(X, y, present, _fit_of(model))
        points = gp.to_points(context.to_model(bounds).unsqueeze(0))
        seeds = torch.tensor([context.seed])
        formula = BatchedLogEI(gp, y.amax(dim=-1))
        found = maximize_batched(formula, gp, points, seeds, SearchSettings()).points
        x = context.to_raw(gp.from_points(found.unsqueeze(0))[0])
        with torch.no_grad():
            usual = acqf(torch.clamp(x, bounds[0], bounds[1]).unsqueeze(0))
    else:
        _, usual = maximize_acquisition(acqf, bounds, near, seed=context.seed)
    strong = SearchSettings(num_restarts=SEARCH_STARTS, raw_samples=_RAW_SAMPLES)
    _, best = maximize_acquisition(acqf, bounds, near, seed=context.seed + 1, settings=strong)
    return max(0.0, float(best) - float(usual))


def measure_quality(
    problems: Sequence[str], seeds: Sequence[int], budget: int, every: int, batched: bool = False
) -> list[dict[str, Any]]:
    """Losses of fits and searches, a row each; of those of many runs at once, if batched."""
    rows: list[dict[str, Any]] = []
    runs = [(name, seed) for name in problems for seed in seeds]
    for name, seed in tqdm(runs, desc="runs"):
        for box, X, _, model in steps_of_a_run(name, seed, budget, every):
            search = search_loss(box, model, batched)
            row = {"problem": name, "seed": seed, "n": len(X), "dim": X.shape[-1]}
            rows.append({**row, "search": search, **fit_losses(model, batched)})
    return rows
