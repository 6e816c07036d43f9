r"""Hyper-parameters of many default models at once: the search of ``fit_quick_gp``, in a batch.

From the best of a few starts; then from much noise and, at even odds, with exact observations, both
at once. A GP for which one of these is hopeless does not take part in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from botorch_ubo.models.batched.density import (
    NOT_POSITIVE_DEFINITE,
    BatchedDensity,
    Hyperpriors,
)
from botorch_ubo.models.batched.quasi_newton import Stopping, minimize_rows
from botorch_ubo.models.quick import EXACT_NOISE, MIN_NOISE, START_SHARES

_MUCH_NOISE = 0.3
_HOPELESS = 30.0  # nats that a descent is not expected to make up for
_MAX_ROUGHENING = 1.2
# nats: far less than data can tell apart
_STOPPING = Stopping(evaluations=30, ftol=3e-4, gtol=1e-2, longest=3.0)


@dataclass(frozen=True)
class BatchedFit:
    """Hyper-parameters of ``B`` GPs."""

    p: Tensor
    """``B x (d + 1)``: logarithms of length-scales and output scale."""
    noise: Tensor
    """``B`` variances."""
    value: Tensor
    """``B`` negative log densities."""
    exact: Tensor
    """``B``: whether observations are taken to be exact."""


def fit_batched(X: Tensor, y: Tensor, present: Tensor) -> BatchedFit:
    r"""Fit the default model to many sets of data.

    Args:
        X: ``B x n x d`` inputs in the model's units: three sides of the first box.
        y: ``B x n`` standardised outcomes.
        present: ``B x n``: which of the data are there.

    Returns:
        The hyper-parameters. A GP without any positive definite covariance matrix, which has
        observations at one place that contradict each other, gets the modes of the priors.
    """
    priors = Hyperpriors.of(X.shape[-1], X)
    density = BatchedDensity.of(X, y, present, priors)
    lower, upper = priors.lower.clone(), priors.upper
    lower[-1] = lower[-1].clamp_min(math.log(MIN_NOISE))
    starts = _starts(priors, X.shape[-1])
    x, _ = _best_start(density, starts.clamp(lower, upper).unsqueeze(1).expand(-1, len(X), -1))
    x, f = minimize_rows(density, x, lower, upper, _STOPPING)
    noisy, exact = _others(density, starts, x, f, lower, upper)
    wins = noisy.f < f
    x, f = torch.where(wins.unsqueeze(-1), noisy.x, x), torch.where(wins, noisy.f, f)
    handicap = _handicap(priors, x)
    smooth = _roughness(exact.x) < _MAX_ROUGHENING * _roughness(x)
    chosen = (exact.f < f + handicap) & (smooth | (exact.f < f))
    x = torch.where(chosen.unsqueeze(-1), exact.x, x)
    value = torch.where(chosen, exact.f, f)
    lost = (value >= NOT_POSITIVE_DEFINITE).unsqueeze(-1)
    x = torch.where(lost, priors.modes.clamp(lower, upper), x)
    noise = torch.where(chosen, 1.01 * EXACT_NOISE, x[:, -1].exp())
    return BatchedFit(x[:, :-1], noise, value, chosen)


@dataclass(frozen=True)
class _Found:
    """``B x p`` points, and their ``B`` values."""

    x: Tensor
    f: Tensor


def _handicap(priors: Hyperpriors, x: Tensor) -> Tensor:
    """What a density with noise is behind one with exact observations, in nats.

    A density per unit of noise against one without: by Laplace's approximation, with a posterior of
    unit width in log(noise), all noise together has this much less.
    """
    return priors.scale[-1].log() - x[:, -1]


def _others(
    density: BatchedDensity, starts: Tensor, x: Tensor, f: Tensor, lower: Tensor, upper: Tensor
) -> tuple[_Found, _Found]:
    """From much noise, and with exact observations; both at once, for whom there is hope."""
    B = len(x)
    noisy = starts[-1].clamp(lower, upper).repeat(B, 1)
    noisy[:, -1] = math.log(_MUCH_NOISE)
    known = torch.cat([starts.unsqueeze(1).expand(-1, B, -1), x.unsqueeze(0)])
    known = known.clamp(density.priors.lower, upper)
    known[..., -1] = math.log(EXACT_NOISE)
    exact, exact_f = _best_start(density.exact(), known)
    noisy_f = density.value(noisy)
    # Two rounds of all GPs, of which some take part.
    both = density.repeat(2)
    both.counts[B:, -1] = 0.0
    found_x, found_f = torch.cat([noisy, exact]), torch.cat([noisy_f, exact_f])
    rival = torch.cat([f, f + _handicap(density.priors, x)])
    (hopeful,) = (found_f <= rival + _HOPELESS).nonzero(as_tuple=True)
    bounds = torch.stack([lower, upper]).repeat(2, 1, 1)  # noisy and exact
    bounds[1, 0] = density.priors.lower
    bounds[1, :, -1] = math.log(EXACT_NOISE)
    of = bounds[(hopeful >= B).long()]
    if len(hopeful):
        found_x[hopeful], found_f[hopeful] = minimize_rows(
            both.take(hopeful), found_x[hopeful], of[:, 0], of[:, 1], _STOPPING
        )
    return _Found(found_x[:B], found_f[:B]), _Found(found_x[B:], found_f[B:])


def _starts(priors: Hyperpriors, d: int) -> Tensor:
    """``S x p``: the priors' modes, with length-scales from below them to their medians."""
    share = torch.tensor(START_SHARES, dtype=torch.double).to(priors.loc)
    starts = priors.modes.repeat(len(share), 1)
    starts[:, :d] += share.unsqueeze(-1) * priors.scale[:d].square()
    return starts


def _best_start(density: BatchedDensity, starts: Tensor) -> tuple[Tensor, Tensor]:
    """Of ``S x B x p`` starts the best of each GP, and its value."""
    S, B, p = starts.shape
    values = density.repeat(S).value(starts.reshape(S * B, p)).reshape(S, B)
    value, of = values.min(dim=0)
    return _pick(starts, of), value


def _pick(candidates: Tensor, of: Tensor) -> Tensor:
    """One of ``S x B x p`` candidates for each of ``B``."""
    return candidates[of, torch.arange(len(of), device=of.device)]


def _roughness(p: Tensor) -> Tensor:
    """The root of the summed squares of inverse length-scales."""
    return torch.exp(-p[:, :-2]).norm(dim=-1)
