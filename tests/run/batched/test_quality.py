"""Fits and searches of many runs are as good as those of one after the other."""

import math

import pytest
import torch
from torch import Tensor

from botorch_ubo import ExpandingBounds, SearchSettings
from botorch_ubo.acquisition.batched import maximize_batched
from botorch_ubo.acquisition.search import maximize_acquisition
from botorch_ubo.models.batched import (
    BatchedFit,
    BatchedGP,
    BatchedLogEI,
    fit_batched,
)
from botorch_ubo.models.batched.density import BatchedDensity, Hyperpriors
from botorch_ubo.models.quick import EXACT_NOISE
from botorch_ubo.policies.factories import log_ei
from tests.support.batches import unit_box

R, N = 24, 30


def _rosenbrock(X: Tensor) -> Tensor:
    along, after = X[..., :-1], X[..., 1:]
    return -(100 * (after - along.square()).square() + (1 - along).square()).sum(dim=-1)


@pytest.fixture(scope="module", params=[2, 6])
def contexts(request):
    """Contexts of single runs with converging data."""
    found = []
    for seed in range(R):
        generator = torch.Generator().manual_seed(seed)
        X = 4 * torch.rand(N, request.param, generator=generator, dtype=torch.double) - 2
        steps = torch.randn(N // 2, request.param, generator=generator, dtype=torch.double)
        X[N // 2 :] = X[_rosenbrock(X).argmax()] + 0.1 * steps
        box = ExpandingBounds(unit_box(request.param), seed=seed)
        model = box.fit(X, _rosenbrock(X).unsqueeze(-1))
        box.update(model)
        found.append(box.context(model))
    return found


def _batch(contexts) -> tuple[Tensor, Tensor, Tensor, BatchedFit]:
    models = [context.model for context in contexts]
    X = torch.stack([model.train_inputs[0].detach() for model in models])
    y = torch.stack([model.train_targets for model in models])
    kernels = [model.covar_module for model in models]
    p = [torch.cat([it.base_kernel.lengthscale[0], it.outputscale[None]]) for it in kernels]
    noise = torch.cat([model.likelihood.noise for model in models]).detach()
    fit = BatchedFit(torch.stack(p).detach().log(), noise, noise, noise < 2 * EXACT_NOISE)
    return X, y, torch.ones_like(y, dtype=torch.bool), fit


@pytest.mark.slow
def test_densities_are_within_a_twentieth_of_a_nat(contexts):
    X, y, present, single = _batch(contexts)
    found = fit_batched(X, y, present)
    priors = Hyperpriors.of(X.shape[-1], X)
    kinds = torch.tensor([False, True])
    density = BatchedDensity.of(X, y, present, priors, kinds)
    parameters = torch.cat([single.p, single.noise.log().unsqueeze(-1)], dim=-1)
    parameters[single.exact, -1] = math.log(EXACT_NOISE)
    values = density.value(parameters.repeat_interleave(2, dim=0)).reshape(-1, 2)
    of_single = values.gather(-1, single.exact.long().unsqueeze(-1)).squeeze(-1)
    # What a density with noise is behind one without is part of the choice between them.
    ours = found.value + torch.where(found.exact, 0.0, math.log(1.5) - found.noise.log())
    theirs = of_single + torch.where(single.exact, 0.0, math.log(1.5) - single.noise.log())
    assert float((ours - theirs <= 0.05).double().mean()) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0, 1])
def test_log_improvements_are_within_a_hundredth(contexts, turn):
    X, y, present, single = _batch(contexts)
    expected = []
    for context in contexts:
        acqf, box = log_ei(context), context.search_boxes[turn]
        found = maximize_acquisition(acqf, box, context.view.neighborhood, seed=context.seed)
        expected.append(float(found[1]))
    gp = BatchedGP.of(X, y, present, single)
    boxes = torch.stack([context.to_model(context.search_boxes[turn]) for context in contexts])
    formula = BatchedLogEI(gp, y.amax(dim=-1))
    seeds = torch.arange(R)
    ours = maximize_batched(formula, gp, gp.to_points(boxes), seeds, SearchSettings()).values
    loss = torch.tensor(expected, dtype=torch.double) - ours
    assert float((loss <= 0.01).double().mean()) >= 0.95 and float(loss.max()) <= 0.5
