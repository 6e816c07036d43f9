r"""Acquisition functions of many GPs at once, with their gradients, on any device.

Those of :mod:`botorch_ubo.models.quick.improvement` and of the upper confidence bound, with a batch
dimension: a formula takes ``B x m x d`` points in length-scales and answers with ``B x m`` values
and ``B x m x d`` gradients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from gpytorch.settings import min_variance
from torch import Tensor

from botorch_ubo.models.batched.gp import BatchedGP

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
# Where Mills' ratio has lost its digits to cancellation, and its asymptote has gained them.
_FAR_TAIL = {torch.double: 1e3, torch.float: 30.0}


class BatchedFormula(Protocol):
    """Values and gradients at points of many runs."""

    def __call__(self, points: Tensor, /, gradient: bool = True) -> tuple[Tensor, Tensor]:
        """``B x m`` values at ``B x m x d`` points, and gradients (else nothing)."""

    def take(self, groups: Tensor) -> BatchedFormula:
        """The formula of some runs, by index."""


@dataclass(frozen=True)
class BatchedLogEI:
    """Log expected improvement over a value, in the unit of the standardised outcomes."""

    gp: BatchedGP
    best_f: Tensor
    """``B``."""

    def take(self, groups: Tensor) -> BatchedLogEI:
        """The formula of some runs, by index."""
        return BatchedLogEI(self.gp.take(groups), self.best_f[groups])

    def __call__(self, points: Tensor, gradient: bool = True) -> tuple[Tensor, Tensor]:
        """Values and gradients at ``B x m x d`` points."""
        k, half, mean, variance, sigma = _posterior(self.gp, points)
        log_h, Phi_h, phi_h = improvement_terms((mean - self.best_f.unsqueeze(-1)) / sigma)
        values = log_h + sigma.log()
        if not gradient:
            return values, values.new_empty(0)
        return values, _chain(
            self.gp, points, k, half, variance, sigma, Phi_h / sigma, phi_h / sigma
        )


@dataclass(frozen=True)
class BatchedConfidenceBound:
    """``mu + sqrt(beta) sigma``, or the lower bound for a negative root."""

    gp: BatchedGP
    root: Tensor
    """``B``: ``sqrt(beta)``."""

    def take(self, groups: Tensor) -> BatchedConfidenceBound:
        """The formula of some runs, by index."""
        return BatchedConfidenceBound(self.gp.take(groups), self.root[groups])

    def __call__(self, points: Tensor, gradient: bool = True) -> tuple[Tensor, Tensor]:
        """Values and gradients at ``B x m x d`` points."""
        k, half, mean, variance, sigma = _posterior(self.gp, points)
        root = self.root.unsqueeze(-1).expand_as(mean)
        values = mean + root * sigma
        if not gradient:
            return values, values.new_empty(0)
        ones = torch.ones_like(mean)
        return values, _chain(self.gp, points, k, half, variance, sigma, ones, root)


def _posterior(gp: BatchedGP, points: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Covariances, their half solutions, means, variances and standard deviations."""
    k = gp.prior_covariance(points)
    half = k @ gp.inverse.mT
    mean = gp.prior_mean.unsqueeze(-1) + (k @ gp.z.unsqueeze(-1)).squeeze(-1)
    variance = gp.variance.unsqueeze(-1) - half.square().sum(dim=-1)
    return k, half, mean, variance, variance.clamp_min(min_variance.value(k.dtype)).sqrt()


def _chain(
    gp: BatchedGP,
    points: Tensor,
    k: Tensor,
    half: Tensor,
    variance: Tensor,
    sigma: Tensor,
    by_mean: Tensor,
    by_sigma: Tensor,
) -> Tensor:
    """Gradients in the points from the derivatives by mean and standard deviation."""
    # sigma is constant at the floor of the variance
    by_sigma = torch.where(variance > min_variance.value(k.dtype), by_sigma / sigma, 0.0)
    # dmu = z . dk and dsigma = -(C^{-1} k) . dk / sigma
    weights = by_mean.unsqueeze(-1) * gp.z.unsqueeze(-2)
    weights = (weights - by_sigma.unsqueeze(-1) * (half @ gp.inverse)).mul_(k)
    # dk_j / dx = k_j (x_j - x)
    return weights @ gp.X - weights.sum(dim=-1, keepdim=True) * points


def improvement_terms(u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """``log h``, ``Phi / h`` and ``phi / h`` of ``h = phi(u) + u Phi(u)``, without cancellation."""
    # h(-w) = phi(w) (1 - w m(w)) with Mills' ratio m(w) = sqrt(pi / 2) erfcx(w / sqrt(2)); far out
    # 1 - w m(w) ~ 1 / (w^2 + 3)
    w = (-u).clamp_min(1.0)  # the lower tail, of which the upper one is not to make infinities
    mills = math.sqrt(math.pi / 2) * torch.special.erfcx(w * math.sqrt(0.5))
    near = w < _FAR_TAIL.get(u.dtype, 30.0)
    rest = torch.where(near, 1 - w * mills, 1 / (w.square() + 3))
    v = u.clamp_min(-1.0)
    phi, Phi = torch.exp(-0.5 * v.square() - _LOG_SQRT_2PI), torch.special.ndtr(v)
    h = phi + v * Phi
    lower = u < -1.0
    return (
        torch.where(lower, -0.5 * u.square() - _LOG_SQRT_2PI + rest.log(), h.log()),
        torch.where(lower, mills / rest, Phi / h),
        torch.where(lower, 1 / rest, phi / h),
    )
