"""Posteriors of many GPs whose kernel is known, and their confidence bounds with gradients.

As :class:`botorch_ubo.models.batched.BatchedGP` and its confidence bound, which have the squared
exponential kernel of the default's fits alone, for any isotropic kernel. Mean 0, variance 1 and
length-scale 1; every GP has as many data as the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from benchmarks.problems.stationary import Correlation

_LEAST_SQUARE = 1e-20  # of a distance: a root there has a finite derivative
_LEAST_VARIANCE = 1e-10


@dataclass(frozen=True)
class KnownGP:
    """``B`` posteriors; points are in length-scales."""

    correlation: Correlation
    X: Tensor
    """``B x n x d``."""
    inverse: Tensor
    """``B x n x n``: the inverse of the Cholesky factor."""
    z: Tensor
    """``B x n``."""

    @classmethod
    def of(cls, correlation: Correlation, X: Tensor, Y: Tensor, noise: float) -> KnownGP:
        r"""Condition on data.

        Args:
            correlation: The kernel.
            X: ``B x n x d`` points.
            Y: ``B x n`` observations.
            noise: Their variance.

        Returns:
            The posteriors.
        """
        eye = torch.eye(X.shape[-2], dtype=X.dtype)
        squares = torch.cdist(X, X, compute_mode="donot_use_mm_for_euclid_dist").square()
        covariance = correlation(squares.clamp_min(_LEAST_SQUARE))[0] + noise * eye
        factor = torch.linalg.cholesky(covariance)
        inverse = torch.linalg.solve_triangular(factor, eye.expand_as(factor), upper=False)
        z = (inverse.mT @ (inverse @ Y.unsqueeze(-1))).squeeze(-1)
        return cls(correlation, X, inverse, z)

    @property
    def present(self) -> Tensor:
        """``B x n``: all data are there."""
        return torch.ones(self.X.shape[:2], dtype=torch.bool)

    def take(self, groups: Tensor) -> KnownGP:
        """Those of some runs, by index."""
        return replace(self, X=self.X[groups], inverse=self.inverse[groups], z=self.z[groups])

    def to_points(self, X: Tensor) -> Tensor:
        """Points in length-scales: as they are."""
        return X

    def from_points(self, points: Tensor) -> Tensor:
        """The inverse of :meth:`to_points`."""
        return points

    def bound(self, root: Tensor) -> KnownBound:
        """``mu + root sigma`` with ``B`` roots."""
        return KnownBound(self, root)


@dataclass(frozen=True)
class KnownBound:
    """``mu + sqrt(beta) sigma``, or the lower bound for a negative root."""

    gp: KnownGP
    root: Tensor

    def take(self, groups: Tensor) -> KnownBound:
        """The formula of some runs, by index."""
        return KnownBound(self.gp.take(groups), self.root[groups])

    def __call__(self, points: Tensor, gradient: bool = True) -> tuple[Tensor, Tensor]:
        """``B x m`` values at ``B x m x d`` points, and gradients (else nothing)."""
        gp, root = self.gp, self.root.unsqueeze(-1)
        norms = points.square().sum(dim=-1, keepdim=True)
        squares = norms + gp.X.square().sum(dim=-1).unsqueeze(-2) - 2 * points @ gp.X.mT
        k, by_square = gp.correlation(squares.clamp_min(_LEAST_SQUARE))
        halves = k @ gp.inverse.mT
        sigma = (1 - halves.square().sum(dim=-1)).clamp_min(_LEAST_VARIANCE).sqrt()
        values = (k @ gp.z.unsqueeze(-1)).squeeze(-1) + root * sigma
        if not gradient:
            return values, values
        # dmu = z . dk, and dsigma = -(C^{-1} k) . dk / sigma
        by_k = gp.z.unsqueeze(-2) - (root / sigma).unsqueeze(-1) * (halves @ gp.inverse)
        weights = 2 * by_k * by_square
        return values, weights.sum(dim=-1, keepdim=True) * points - weights @ gp.X
