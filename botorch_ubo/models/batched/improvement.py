r"""Acquisition functions of many GPs at once, with their gradients, on any device.

Those of :mod:`botorch_ubo.models.quick.improvement` and of the upper confidence bound, with a batch
dimension: a formula takes ``B x m x d`` points in length-scales and answers with ``B x m`` values
and ``B x m x d`` gradients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import torch
from gpytorch.settings import min_variance
from torch import Tensor

from botorch_ubo.models.batched.gp import BatchedGP

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
# Where Mills' ratio has lost its digits to cancellation, and its asymptote has gained them.
_LOWER_TAIL = {torch.double: -1e3, torch.float: -30.0}
_UPPER_TAIL = 9.0  # above which h(u) is u, to machine precision


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
        gap = (self.gp.prior_mean - self.best_f).unsqueeze(-1)
        k, products, variance, sigma = _posterior(self.gp, points)
        u = (products[..., -1] + gap) / sigma
        log_h, Phi_h = improvement_terms(u)
        values = log_h + sigma.log()
        if not gradient:
            return values, values
        phi_h = torch.addcmul(_one(u), u, Phi_h, value=-1)  # since h = phi + u Phi
        return values, _chain(self.gp, points, k, products, variance, Phi_h / sigma, phi_h)


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
        k, products, variance, sigma = _posterior(self.gp, points)
        root = self.root.unsqueeze(-1).expand_as(sigma)
        mean = products[..., -1] + self.gp.prior_mean.unsqueeze(-1)
        values = torch.addcmul(mean, root, sigma)
        if not gradient:
            return values, values
        by_mean = torch.ones_like(mean)
        return values, _chain(self.gp, points, k, products, variance, by_mean, root * sigma)


def _posterior(gp: BatchedGP, points: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Covariances, their products with ``gp.solutions``, variances and standard deviations."""
    k = gp.prior_covariance(points)
    products = k @ gp.solutions
    variance = gp.variance.unsqueeze(-1) - products[..., :-1].square().sum(dim=-1)
    return k, products, variance, variance.clamp_min(min_variance.value(k.dtype)).sqrt()


def _chain(
    gp: BatchedGP,
    points: Tensor,
    k: Tensor,
    products: Tensor,
    variance: Tensor,
    by_mean: Tensor,
    by_log_sigma: Tensor,
) -> Tensor:
    """Gradients in the points, from derivatives by mean and logarithm of the deviation."""
    # The variance is constant at its floor. dmu = z . dk and dsigma^2 / 2 = -(C^{-1} k) . dk
    floored = torch.threshold(variance, min_variance.value(k.dtype), -torch.inf)
    weights = products * (by_log_sigma / floored).neg_().unsqueeze(-1)
    weights[..., -1] = by_mean
    weights = (weights @ gp.solutions.mT).mul_(k)
    # dk_j / dx = k_j (x_j - x)
    return torch.addcmul(weights @ gp.X, weights.sum(dim=-1, keepdim=True), points, value=-1)


def improvement_terms(u: Tensor) -> tuple[Tensor, Tensor]:
    """``log h`` and ``Phi / h`` of ``h = phi(u) + u Phi(u)``, without cancellation."""
    # With Mills' ratio m(u) = Phi / phi = sqrt(pi / 2) erfcx(-u / sqrt(2)), h = phi (1 + u m); far
    # below, 1 + u m is next to nothing beside u^2 / 2 and stays what it is at the end of the range,
    # and far above, h is u.
    capped = u.clamp_max(_UPPER_TAIL)
    v = capped.clamp_min(_LOWER_TAIL.get(u.dtype, -30.0))
    scaled = torch.special.erfcx(v * -math.sqrt(0.5))
    rest = torch.addcmul(_one(u), v, scaled, value=math.sqrt(math.pi / 2))
    above = torch.add(_one(u), u - capped, alpha=1 / _UPPER_TAIL)
    log_h = torch.addcmul((rest * above).log_() - _LOG_SQRT_2PI, capped, capped, value=-0.5)
    return log_h, torch.addcdiv(v - capped, scaled, rest, value=math.sqrt(math.pi / 2)).div_(above)


def _one(like: Tensor) -> Tensor:
    return _ones(like.dtype, str(like.device))


@cache
def _ones(dtype: torch.dtype, device: str) -> Tensor:
    return torch.ones((), dtype=dtype, device=device)
