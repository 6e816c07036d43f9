"""Exact observations have even odds against noise, unless they make the function rougher."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from botorch_ubo.models import default_model
from botorch_ubo.models.quick import EXACT_NOISE, LogDensity, fit_quick_gp, maxima
from botorch_ubo.models.quick.gp import QuickGP

BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)


def points(seed: int) -> Tensor:
    """Six points in the unit square."""
    return torch.rand(
        6, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float
    ).double()


def parabola(X: Tensor) -> Tensor:
    return (X - 0.3).square().sum(dim=-1, keepdim=True) + X.prod(dim=-1, keepdim=True)


def ripples(X: Tensor) -> Tensor:
    return (3 * X + 0.3 * (9 * X).sin()).sum(dim=-1, keepdim=True)


def noise_of(model: QuickGP) -> float:
    return float(model.likelihood.noise.detach())


@pytest.mark.parametrize("seed", range(4))
def test_win_on_a_smooth_function(seed: int) -> None:
    """A density per unit of noise would be in favour of noise."""
    X = points(seed)
    by_density, at_even_odds = (
        fit_quick_gp(default_model(X, parabola(X), BOUNDS), max_roughening=limit)
        for limit in (0.0, 1.2)
    )
    assert noise_of(by_density) > 1e-3
    assert noise_of(at_even_odds) == pytest.approx(1.01 * EXACT_NOISE)


def test_lose_if_they_roughen() -> None:
    """A slope with ripples, of which noise is the smoother description."""
    X = points(3)
    guarded, unguarded = (
        fit_quick_gp(default_model(X, ripples(X), BOUNDS), max_roughening=limit)
        for limit in (1.2, math.inf)
    )
    assert noise_of(guarded) > 1e-3
    assert noise_of(unguarded) == pytest.approx(1.01 * EXACT_NOISE)
    lengths = [model.covar_module.base_kernel.lengthscale.min() for model in (guarded, unguarded)]
    assert lengths[1] < lengths[0]


def test_handicap_by_hand() -> None:
    """Log-noise normal with scale 1.5, its posterior of unit width: log 1.5 - log noise."""
    X = points(0)
    density = LogDensity(default_model(X, parabola(X), BOUNDS), None)
    handicap = maxima._handicap(density, math.log(0.01))
    assert handicap == pytest.approx(math.log(1.5) - math.log(0.01))
