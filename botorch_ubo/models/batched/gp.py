r"""Many fitted squared exponential GPs, reduced to what their posteriors are computed from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from botorch_ubo.models.batched.fit import BatchedFit

_JITTER = 1e-8  # of unit outcomes, tenfold until a factor is found, as in linear_operator
_FAR = {torch.float: 1e15, torch.double: 1e100}  # length-scales, whose squares are still numbers


@dataclass(frozen=True)
class BatchedGP:
    """``B`` posteriors in standardised units; points are in length-scales from ``origin``."""

    origin: Tensor
    """``B x 1 x d``: the centre of the data, in the model's units."""
    lengthscales: Tensor
    """``B x 1 x d``, likewise."""
    variance: Tensor
    """``B``: of the prior."""
    noise: Tensor
    """``B``: its variance."""
    prior_mean: Tensor
    """``B``."""
    present: Tensor
    """``B x n``: which of the data are there."""
    X: Tensor
    """``B x n x d`` data; zero where there is none."""
    log_variance: Tensor
    """``B x 1 x 1``: of the prior."""
    offsets: Tensor
    """``B x 1 x n``: less half the squared norms of ``X``; minus infinity where there is none."""
    covariance: Tensor
    """``B x n x n`` with the noise; a unit row where there is no datum."""
    cholesky: Tensor
    """``B x n x n``."""
    inverse: Tensor
    """``B x n x n``: the inverse of the Cholesky factor."""
    z: Tensor
    """``B x n``: ``C^{-1} (y - c)``."""
    solutions: Tensor
    """``B x n x (n + 1)``: the transpose of ``inverse``, and ``z``."""
    y: Tensor
    """``B x n`` outcomes."""

    @classmethod
    def of(cls, X: Tensor, y: Tensor, present: Tensor, fit: BatchedFit) -> BatchedGP:
        r"""Condition on data.

        Args:
            X: ``B x n x d`` inputs in the model's units.
            y: ``B x n`` standardised outcomes, zero where there is none.
            present: ``B x n``: which of the data are there.
            fit: The hyper-parameters.

        Returns:
            The posteriors.
        """
        d = X.shape[-1]
        there = present.to(X)
        masked = X * there.unsqueeze(-1)
        origin = masked.sum(dim=-2, keepdim=True) / there.sum(dim=-1)[:, None, None]
        lengthscales = fit.p[:, None, :d].exp()
        points = torch.where(present.unsqueeze(-1), (X - origin) / lengthscales, 0.0)
        norms = points.square().sum(dim=-1).unsqueeze(-2)
        exponent = torch.baddbmm(norms + norms.mT, points, points.mT, beta=-0.5)
        prior = (exponent.clamp_max(0.0) + fit.p[:, d, None, None]).exp()
        covariance = prior * (there.unsqueeze(-1) * there.unsqueeze(-2))
        diagonal = 1 + (fit.noise.unsqueeze(-1) - 1) * there
        covariance.diagonal(dim1=-2, dim2=-1).add_(diagonal)
        cholesky = _safe_cholesky(covariance)
        eye = torch.eye(X.shape[-2], dtype=X.dtype, device=X.device)
        inverse = torch.linalg.solve_triangular(cholesky, eye.expand_as(cholesky), upper=False)
        rhs = torch.stack([y, there], dim=-1)
        solved = inverse.mT @ (inverse @ rhs)
        sums = solved.sum(dim=-2)
        c = sums[:, 0] / sums[:, 1]
        z = torch.addcmul(solved[..., 0], c.unsqueeze(-1), solved[..., 1], value=-1)
        log_variance = fit.p[:, d, None, None]
        offsets = torch.add(log_variance, norms, alpha=-0.5)
        return cls(
            origin=origin,
            lengthscales=lengthscales,
            variance=fit.p[:, d].exp(),
            noise=fit.noise,
            prior_mean=c,
            present=present,
            X=points,
            log_variance=log_variance,
            offsets=torch.where(present.unsqueeze(-2), offsets, -torch.inf),
            covariance=covariance,
            cholesky=cholesky,
            inverse=inverse,
            z=z,
            solutions=torch.cat([inverse.mT, z.unsqueeze(-1)], dim=-1),
            y=y,
        )

    def take(self, groups: Tensor) -> BatchedGP:
        """Those of some runs."""
        return replace(self, **{name: value[groups] for name, value in vars(self).items()})

    def to_points(self, X: Tensor) -> Tensor:
        """Points (``B x m x d``) of the model's units in length-scales."""
        return (X - self.origin) / self.lengthscales

    def from_points(self, points: Tensor) -> Tensor:
        """The inverse of :meth:`to_points`."""
        return points * self.lengthscales + self.origin

    def prior_covariance(self, points: Tensor) -> Tensor:
        """``B x m x n``: of ``B x m x d`` points with the data; zero where there is none."""
        far = _FAR.get(points.dtype, 1e15)
        points = points.clamp(-far, far)
        norms = points.square().sum(dim=-1, keepdim=True)
        exponent = torch.baddbmm(self.offsets, points, self.X.mT).add_(norms, alpha=-0.5)
        return exponent.clamp_max_(self.log_variance).exp_()

    @property
    def mean_at_data(self) -> Tensor:
        """``B x n`` posterior means; the prior's where there is no datum."""
        # K z = (y - c) - noise z, since (K + noise) z = y - c
        return torch.where(
            self.present, self.y - self.noise.unsqueeze(-1) * self.z, self.prior_mean.unsqueeze(-1)
        )

    @property
    def evidence(self) -> Tensor:
        """``B``: nats by which the model explains the outcomes better than noise does.

        See :func:`botorch_ubo.policies.evidence.evidence_of_structure`.
        """
        there = self.present.to(self.y)
        n = there.sum(dim=-1)
        log_det = self.cholesky.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
        structured = -0.5 * (self.y * self.z).sum(dim=-1) - log_det
        mean = (self.y * there).sum(dim=-1, keepdim=True) / n.unsqueeze(-1)
        variance = ((self.y - mean).square() * there).sum(dim=-1) / n
        noise = -0.5 * n * (variance.log() + 1)
        return (structured - noise).nan_to_num(nan=-torch.inf)


def _safe_cholesky(covariance: Tensor) -> Tensor:
    """Lower factors, of matrices with more on the diagonal where they need it."""
    cholesky, info = torch.linalg.cholesky_ex(covariance)
    jitter = _JITTER if covariance.dtype == torch.double else 100 * _JITTER
    while bool((info > 0).any()):
        more = covariance.clone()
        more.diagonal(dim1=-2, dim2=-1).add_(jitter)
        other, info_of_other = torch.linalg.cholesky_ex(more)
        bad = info > 0
        cholesky = torch.where(bad[:, None, None], other, cholesky)
        info = torch.where(bad, info_of_other, info)
        jitter *= 10
    return cholesky
