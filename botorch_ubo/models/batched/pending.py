r"""Log expected improvement of many runs beyond pending points.

The formulas of :mod:`botorch_ubo.models.quick.improvement` with a batch dimension: the mean, over
outcomes that the pending points may have, of the improvement that one more point brings.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from gpytorch.settings import min_variance
from torch import Tensor

from botorch_ubo.models.batched.draws import filling, normal, uniform
from botorch_ubo.models.batched.gp import BatchedGP
from botorch_ubo.models.batched.improvement import improvement_terms

_NUM_OUTCOMES = 64  # joint outcomes of the pending points of a run; a power of 2
_JITTER = 1e-6  # of the prior variance: two pending points may be one


@dataclass(frozen=True)
class BatchedPendingLogEI:
    """The formulas; ``N`` counts data and ``m`` pending points, ``S`` the outcomes of these."""

    gp: BatchedGP
    X: Tensor
    """``B x m x d`` pending points, in length-scales."""
    z: Tensor
    """``B x N x S``: the means are the kernel times this."""
    gap: Tensor
    """``B x S``: the prior mean less the value to improve on."""
    root: Tensor
    """``B x m x N``: what the pending points explain is the kernel times its transpose."""

    @classmethod
    def of(cls, gp: BatchedGP, best_f: Tensor, pending: Tensor, e: Tensor) -> BatchedPendingLogEI:
        r"""Beyond some pending points.

        Args:
            gp: The models.
            best_f: ``B`` values to improve on.
            pending: ``B x m x d`` points, in length-scales.
            e: ``B x m x S`` normal numbers, of which the outcomes are made.

        Returns:
            The formula.
        """
        across = gp.prior_covariance(pending)  # m x n
        weights = across @ gp.inverse.mT @ gp.inverse
        among = _kernel(gp, pending, pending) - weights @ across.mT
        # Principal directions first: those of a quasi-random sequence are the most even.
        spread, directions = torch.linalg.eigh(0.5 * (among + among.mT))
        least = _JITTER * gp.variance.unsqueeze(-1)
        spread = torch.maximum(spread, least).sqrt().flip(-1).unsqueeze(-2)
        directions = directions.flip(-1)
        inverse = (directions / spread).mT
        root = torch.cat([-inverse @ weights, inverse], dim=-1)
        gap = (gp.prior_mean - best_f).unsqueeze(-1)
        means = gap.unsqueeze(-1) + across @ gp.z.unsqueeze(-1)
        best = (means + (directions * spread) @ e).amax(dim=-2).clamp_min(0.0)
        z = torch.nn.functional.pad(gp.z, (0, pending.shape[-2])).unsqueeze(-1)
        return cls(gp, pending, z + root.mT @ e, gap - best, root)

    def take(self, groups: Tensor) -> BatchedPendingLogEI:
        """The formula of some runs, by index."""
        parts = (self.X, self.z, self.gap, self.root)
        return BatchedPendingLogEI(self.gp.take(groups), *(part[groups] for part in parts))

    def __call__(self, points: Tensor, gradient: bool = True) -> tuple[Tensor, Tensor]:
        """Values and gradients at ``B x b x d`` points."""
        gp = self.gp
        known = gp.prior_covariance(points)
        k = torch.cat([known, _kernel(gp, points, self.X)], dim=-1)
        half, g = known @ gp.inverse.mT, k @ self.root.mT
        variance = gp.variance.unsqueeze(-1) - half.square().sum(dim=-1) - g.square().sum(dim=-1)
        floor = min_variance.value(k.dtype)
        sigma = variance.clamp_min(floor).sqrt().unsqueeze(-1)
        u = (self.gap.unsqueeze(-2) + k @ self.z) / sigma
        log_h, Phi_h = improvement_terms(u)
        total = log_h.logsumexp(dim=-1)
        values = total - torch.tensor(float(u.shape[-1])).log() + sigma.squeeze(-1).log()
        if not gradient:
            return values, values
        share = (log_h - total.unsqueeze(-1)).exp()
        by_mean = share * Phi_h
        by_variance = (share - u * by_mean).sum(dim=-1) / variance  # phi / h = 1 - u Phi / h
        by_variance = torch.where(variance > floor, by_variance, 0.0).unsqueeze(-1)
        of_data = torch.nn.functional.pad(half @ gp.inverse, (0, self.X.shape[-2]))
        weights = (by_mean / sigma) @ self.z.mT - by_variance * (of_data + g @ self.root)
        weights = weights * k
        X = torch.cat([gp.X, self.X], dim=-2)
        return values, weights @ X - weights.sum(dim=-1, keepdim=True) * points


def pending_outcomes(seeds: Tensor, m: int, like: Tensor) -> Tensor:
    """``B x m x S`` quasi-random normal numbers."""
    shift = uniform(seeds, m, like).unsqueeze(-2)
    least = 1e-6 if like.dtype == torch.float else 1e-9
    points = (filling(_NUM_OUTCOMES, m, like) + shift) % 1.0
    return normal(points.clamp(least, 1 - least)).mT


def _kernel(gp: BatchedGP, first: Tensor, second: Tensor) -> Tensor:
    """``B x a x b`` prior covariances."""
    norms = first.square().sum(dim=-1, keepdim=True)
    others = second.square().sum(dim=-1).unsqueeze(-2)
    exponent = torch.baddbmm(norms + others, first, second.mT, beta=-0.5)
    return exponent.clamp_max_(0.0).exp_() * gp.variance[:, None, None]
