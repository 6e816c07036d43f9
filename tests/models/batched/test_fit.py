"""Fits of many models: as good as those of one after the other."""

import math
from dataclasses import replace

import pytest
import torch

import botorch_ubo.models.batched.fit as fitting
from botorch_ubo.models import fit_default_model
from botorch_ubo.models.batched import fit_batched, groups, standardize_outcomes
from botorch_ubo.models.batched.density import BatchedDensity, Hyperpriors
from botorch_ubo.models.quick import EXACT_NOISE
from tests.support.batches import data, unit_box

SIZES = (16, 9, 13, 20, 18, 11)


def test_densities_are_those_of_single_fits():
    X, Y, present = data(sizes=SIZES)
    noise = torch.randn(Y.shape, generator=torch.Generator().manual_seed(3), dtype=torch.double)
    Y[3:] += 4 * torch.where(present, noise, 0.0)[3:]  # half of the runs are noisy
    y = standardize_outcomes(X / 2, Y, present).y
    fit = fit_batched(0.5 + X / 6, y, present)
    priors = Hyperpriors.of(2, X)
    kinds = torch.tensor([False, True])
    density = BatchedDensity.of(0.5 + X / 6, y, present, priors, kinds)
    single, exact = torch.zeros(len(SIZES), 4, dtype=torch.double), []
    for i, row in enumerate(present):
        model = fit_default_model(X[i, row], Y[i, row].unsqueeze(-1), unit_box(2))
        kernel = model.covar_module
        lengths, noise = kernel.base_kernel.lengthscale[0], model.likelihood.noise
        single[i] = torch.cat([lengths, kernel.outputscale[None], noise]).detach().log()
        exact.append(float(model.likelihood.noise.detach()) < 2 * EXACT_NOISE)
    assert fit.exact.tolist() == exact and any(exact) and not all(exact)
    single[fit.exact, -1] = math.log(EXACT_NOISE)
    values = density.value(single.repeat_interleave(2, dim=0)).reshape(-1, 2)
    of_single = values.gather(-1, fit.exact.long().unsqueeze(-1)).squeeze(-1)
    assert float((fit.value - of_single).max()) < 0.05


@pytest.mark.parametrize(
    ("sizes", "run"), [(SIZES, 1), ((20, 70, 25), 0), ((20, 70, 25), 1), ((65, 70), 0)]
)
@pytest.mark.parametrize("evaluations", [2, 28])
def test_a_run_is_fitted_as_if_it_were_alone(sizes, run, evaluations, monkeypatch):
    # Few and many data have other starts, and of short descents the ends are other ones.
    monkeypatch.setattr(fitting, "_TOGETHER", min(evaluations, fitting._TOGETHER))
    short = replace(fitting._STOPPING, evaluations=evaluations)
    monkeypatch.setattr(fitting, "_STOPPING", short)
    X, Y, present = data(sizes=sizes)
    y = standardize_outcomes(X / 2, Y, present).y
    X[..., ::2] *= 10.0  # so that a start that is long in these dimensions is a good one
    together = fit_batched(X, y, present)
    one, n = slice(run, run + 1), sizes[run]
    alone = fit_batched(X[one, :n], y[one, :n], present[one, :n])
    torch.testing.assert_close(together.p[one], alone.p, atol=1e-6, rtol=0)
    torch.testing.assert_close(together.noise[one], alone.noise, atol=1e-9, rtol=1e-6)


def test_groups_that_fit_a_cache_come_to_the_same(monkeypatch):
    X, Y, present = data(sizes=SIZES)
    y = standardize_outcomes(X / 2, Y, present).y
    together = fit_batched(0.5 + X / 6, y, present)
    monkeypatch.setattr(groups, "NUMBERS_IN_CACHE", 0)
    monkeypatch.setattr(groups, "FEWEST", 2)
    apart = fit_batched(0.5 + X / 6, y, present)
    torch.testing.assert_close(apart.p, together.p, atol=1e-6, rtol=0)
    assert apart.exact.tolist() == together.exact.tolist()
    assert len(apart.value) == len(SIZES)
