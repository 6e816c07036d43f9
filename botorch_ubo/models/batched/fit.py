r"""Hyper-parameters of many default models at once: what ``fit_quick_gp`` looks for, in a batch.

The densities have several maxima, with noise and with exact observations. Eight descents of each GP
share its data at first: from short and, with much noise, from long length-scales; with exact
observations from short and from middling ones; and of either kind from two that are long in every
other dimension and short in those between. Those that are far behind another then leave the batch,
the others go on to their ends. Where a descent starts matters more than how good its start is, so
that no starts are compared beforehand. Many data leave fewer maxima, and the last four starts out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from botorch_ubo.models.batched.density import (
    NOT_POSITIVE_DEFINITE,
    BatchedDensity,
    Hyperpriors,
)
from botorch_ubo.models.batched.groups import rows_at_once
from botorch_ubo.models.batched.quasi_newton import (
    Descent,
    Stopping,
    begin_descent,
    descend,
    follow,
)
from botorch_ubo.models.quick import EXACT_NOISE, MIN_NOISE

_MUCH_NOISE = 0.3
# Of the way from the modes of the length-scales' priors to their medians; the last of those with
# noise has much of it.
_WITH_NOISE = (0.0, 0.0, -0.25, 0.5)
_EXACT = (0.0, 0.0, -0.5, 0.0)
# Of the same, added in even dimensions and subtracted in odd ones.
_TILTS = (0.5, -0.5, 0.0, 0.0)
_FEW = 60  # data; with more, the tilted starts find nothing that the others do not
_MAX_ROUGHENING = 1.2
_TOGETHER = 8  # evaluations before some leave
_BEHIND = 2.0  # nats that a descent is not expected to make up for, to another of its kind
_FAR_BEHIND = 2.0  # the same, to one of the other kind, beside the handicap
_STOPPING = Stopping(evaluations=28, ftol=3e-3, longest=1.0)  # nats; less than data can tell apart
_CURVATURE = 0.2  # of the density in the logarithm of a parameter, for each datum


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
    if X.shape[1] <= _FEW:
        return _fit_in_parts(X, y, present, tilted=True)
    # By its own number of data, so that no run's fit depends on what the others have.
    few = present.sum(dim=-1) <= _FEW
    groups = [few.nonzero().squeeze(-1), (~few).nonzero().squeeze(-1)]
    fits = [
        _fit_in_parts(X[rows], y[rows], present[rows], tilted)
        for rows, tilted in zip(groups, (True, False), strict=True)
        if len(rows)
    ]
    back = torch.cat(groups).argsort()
    return BatchedFit(**{name: part[back] for name, part in vars(_join(fits)).items()})


def _fit_in_parts(X: Tensor, y: Tensor, present: Tensor, tilted: bool) -> BatchedFit:
    B, n, _ = X.shape
    descents = 2 * (len(_TILTS) if tilted else _TILTS.count(0.0))
    rows = rows_at_once(B, descents * n**2, X.device)
    parts = zip(X.split(rows), y.split(rows), present.split(rows), strict=True)
    return _join([_fit_together(*part, tilted=tilted) for part in parts])


def _join(fits: list[BatchedFit]) -> BatchedFit:
    if len(fits) == 1:
        return fits[0]
    names = [item.name for item in fields(BatchedFit)]
    return BatchedFit(**{name: torch.cat([getattr(fit, name) for fit in fits]) for name in names})


def _fit_together(X: Tensor, y: Tensor, present: Tensor, tilted: bool) -> BatchedFit:
    B, _, d = X.shape
    priors = Hyperpriors.of(d, X)
    starts, exact, lower, upper = _starts(priors, d, tilted)
    S = len(exact)
    density = BatchedDensity.of(X, y, present, priors, exact)
    known = priors.scale.square().reciprocal() + _CURVATURE * present.sum(-1, keepdim=True)
    descent = begin_descent(
        density,
        starts.repeat(B, 1),
        lower.repeat(B, 1),
        upper.repeat(B, 1),
        _STOPPING,
        known.reciprocal().repeat_interleave(S, dim=0),
    )
    descent = follow(density, descent, range(2, _TOGETHER + 1), _STOPPING)
    found, values = descent.x, descent.value
    (rows,) = (descent.active & _hopeful(descent, priors, S)).nonzero(as_tuple=True)
    if len(rows):
        ends = descend(density.rows(rows), descent.take(rows), _TOGETHER, _STOPPING)
        found, values = (
            part.index_copy(0, rows, end) for part, end in zip((found, values), ends, strict=True)
        )
    return _choose(priors, found.reshape(B, S, d + 2), values.reshape(B, S), lower)


def _starts(priors: Hyperpriors, d: int, tilted: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """``S x p`` starts, which of them are of exact observations, and the bounds of each.

    The first half of them are with noise.
    """
    first = 0 if tilted else len(_TILTS) - _TILTS.count(0.0)
    kinds = (_WITH_NOISE[first:], _EXACT[first:])
    half = len(kinds[0])
    share = torch.tensor([*kinds[0], *kinds[1]], dtype=torch.double).to(priors.loc)
    tilt = torch.tensor([*_TILTS[first:], *_TILTS[first:]], dtype=torch.double).to(priors.loc)
    exact = torch.arange(len(share), device=share.device) >= half
    signs = 1.0 - 2.0 * (torch.arange(d, device=share.device) % 2)
    offsets = share.unsqueeze(-1) + tilt.unsqueeze(-1) * signs
    starts = priors.modes.repeat(len(share), 1)
    starts[:, :d] += offsets * priors.scale[:d].square()
    starts[half - 1, -1] = math.log(_MUCH_NOISE)
    lower, upper = (bound.repeat(len(share), 1) for bound in (priors.lower, priors.upper))
    lower[:, -1] = lower[:, -1].clamp_min(math.log(MIN_NOISE))
    for bound in (lower, upper):
        bound[half:, -1] = math.log(EXACT_NOISE)
    return torch.clamp(starts, lower, upper), exact, lower, upper


def _hopeful(descent: Descent, priors: Hyperpriors, S: int) -> Tensor:
    """``B S``: which descents are not so far behind another that they might as well stop."""
    values = descent.value.reshape(-1, S)
    noisy, exact = values.chunk(2, dim=-1)
    best_noisy, best_exact = noisy.amin(-1, keepdim=True), exact.amin(-1, keepdim=True)
    most = priors.scale[-1].log() - math.log(MIN_NOISE)
    to_noisy = torch.minimum(best_noisy + _BEHIND, best_exact + _FAR_BEHIND)
    to_exact = torch.minimum(best_exact + _BEHIND, best_noisy + most + _FAR_BEHIND)
    return torch.cat([noisy <= to_noisy, exact <= to_exact], dim=-1).flatten()


def _choose(priors: Hyperpriors, x: Tensor, f: Tensor, lower: Tensor) -> BatchedFit:
    """Noise or exact observations, of ``B x S x p`` points and ``B x S`` values."""
    (noisy, noisy_f), (exact, exact_f) = (
        _best(points, values)
        for points, values in zip(x.chunk(2, dim=1), f.chunk(2, dim=1), strict=True)
    )
    # A density per unit of noise against one without: by Laplace's approximation, with a posterior
    # of unit width in log(noise), all noise together has this much less.
    handicap = priors.scale[-1].log() - noisy[:, -1]
    smooth = _roughness(exact) < _MAX_ROUGHENING * _roughness(noisy)
    chosen = (exact_f < noisy_f + handicap) & (smooth | (exact_f < noisy_f))
    found = torch.where(chosen.unsqueeze(-1), exact, noisy)
    value = torch.where(chosen, exact_f, noisy_f)
    lost = ~(value < NOT_POSITIVE_DEFINITE).unsqueeze(-1)
    found = torch.where(lost, torch.maximum(priors.modes, lower[0]), found)
    noise = torch.where(chosen, 1.01 * EXACT_NOISE, found[:, -1].exp())
    return BatchedFit(found[:, :-1], noise, value, chosen)


def _best(points: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Of ``B x S x p`` points those with the least of ``B x S`` values."""
    value, of = values.min(dim=-1)
    index = of[:, None, None].expand(-1, 1, points.shape[-1])
    return points.gather(1, index).squeeze(1), value


def _roughness(p: Tensor) -> Tensor:
    """The root of the summed squares of inverse length-scales."""
    return torch.exp(-p[:, :-2]).norm(dim=-1)
