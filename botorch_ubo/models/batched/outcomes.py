r"""Outcomes of many runs as their models see them: very bad ones brought nearer, standardised.

The formulas of :mod:`botorch_ubo.models.compression`, :mod:`botorch_ubo.models.outcome_units` and
:mod:`botorch_ubo.models.sight` with a batch dimension; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from botorch_ubo.models.compression import LOG_ABSURD, MORE_ABSURD, ONE_PLACE, SAME_DIGITS
from botorch_ubo.models.outcome_units import max_exponent, rounding
from botorch_ubo.models.sight import MAX_GAP


@dataclass(frozen=True)
class BatchedOutcomes:
    """Outcomes of which the larger is the better, in units of their own."""

    y: Tensor
    """``B x n``, zero where there is no datum; outcomes are ``location + scale * y``."""
    location: Tensor
    """``B``."""
    scale: Tensor
    """``B``."""
    flat: Tensor
    """``B``: whether all outcomes are equal up to rounding."""


def standardize_outcomes(X: Tensor, Y: Tensor, present: Tensor) -> BatchedOutcomes:
    r"""Bring very bad outcomes nearer and standardise all.

    Args:
        X: ``B x n x d`` inputs in sides of the first box.
        Y: ``B x n`` outcomes, of which the larger is the better.
        present: ``B x n``: which of the data are there; one of each run at least.

    Returns:
        The outcomes.
    """
    return _standardized(_compressed(X, Y, present), present)


def in_sight(X: Tensor, present: Tensor) -> Tensor:
    r"""Which data are within sight of those nearest to the first box.

    Args:
        X: ``B x n x d`` inputs in sides of the first box, from its centre.
        present: ``B x n``: which of the data are there.

    Returns:
        A ``B x n`` mask, part of ``present``.
    """
    distance = torch.where(present, X.abs().amax(dim=-1).clamp_min(1.0), torch.inf)
    ordered = distance.sort(dim=-1).values
    # A gap, wherever the next one is much further; what is absent comes last and is no gap.
    gap = (ordered[:, 1:] > MAX_GAP * ordered[:, :-1]) & ordered[:, 1:].isfinite()
    before = torch.where(gap, ordered[:, :-1], torch.inf)
    everything = torch.full_like(ordered[:, :1], torch.inf)
    furthest = torch.cat([before, everything], dim=-1).amin(dim=-1, keepdim=True)
    return present & (distance <= furthest)


def _compressed(X: Tensor, Y: Tensor, present: Tensor) -> Tensor:
    chosen = _places(X, Y, present)
    median = torch.where(chosen, Y, torch.nan).nanmedian(dim=-1, keepdim=True).values
    best = torch.where(present, Y, -torch.inf).amax(dim=-1, keepdim=True)
    scale = best - median
    beyond = (median - scale - Y).clamp_min(0.0)
    excess = beyond / scale
    # Of outcomes beyond floating point in units of the scale, too.
    log_excess = torch.where(excess.isinf(), beyond.log() - scale.log(), excess.log1p())
    further = (log_excess - LOG_ABSURD).clamp_min(0.0)
    steps = log_excess.clamp_max(LOG_ABSURD) + further * MORE_ABSURD / (MORE_ABSURD + further)
    differ = scale > SAME_DIGITS * torch.maximum(best.abs(), median.abs())
    return torch.where((excess > 0) & differ, median - scale * (1 + steps), Y)


def _places(X: Tensor, Y: Tensor, present: Tensor) -> Tensor:
    """``B x n``: points such that every other is close to a better one of them.

    A point is chosen once no better one nearby is undecided, and leaves out all that are near it:
    that is what choosing them from the best to the worst comes to, a few rounds for all at once.
    """
    order = torch.where(present, Y, -torch.inf).argsort(dim=-1, descending=True, stable=True)
    undecided = present.gather(-1, order)
    X = X.gather(-2, order.unsqueeze(-1).expand_as(X))
    close = torch.ones_like(undecided).unsqueeze(-1) & undecided.unsqueeze(-2)
    for column in X.unbind(dim=-1):
        close &= (column.unsqueeze(-1) - column.unsqueeze(-2)).abs() <= ONE_PLACE
    close = close.tril(-1)  # row i, column j: j is better
    chosen = torch.zeros_like(undecided)
    while bool(undecided.any()):
        new = undecided & ~(close & undecided.unsqueeze(-2)).any(dim=-1)
        chosen |= new
        undecided &= ~(new | (close & new.unsqueeze(-2)).any(dim=-1))
    return torch.zeros_like(chosen).scatter(-1, order, chosen)


def _standardized(Y: Tensor, present: Tensor) -> BatchedOutcomes:
    n = present.sum(dim=-1, keepdim=True).to(Y)
    size = torch.where(present, Y.abs(), 0.0).amax(dim=-1, keepdim=True)
    # A power of two near it, by which division is exact.
    exponent = torch.frexp(size).exponent.clamp_max(max_exponent(Y))
    power = torch.ldexp(torch.ones_like(size), exponent)
    scaled = torch.where(present, Y / power, 0.0)
    mean = scaled.sum(dim=-1, keepdim=True) / n
    centered = torch.where(present, scaled - mean, 0.0)
    std = (centered.square().sum(dim=-1, keepdim=True) / (n - 1).clamp_min(1.0)).sqrt()
    varies = std > rounding(Y) * size / power
    unit = torch.where(varies, std * power, size)
    unit = torch.where(unit > 0, unit, 1.0)
    location = mean * power
    y = torch.where(present & varies, (Y - location) / unit, 0.0)
    return BatchedOutcomes(y, location.squeeze(-1), unit.squeeze(-1), ~varies.squeeze(-1))
