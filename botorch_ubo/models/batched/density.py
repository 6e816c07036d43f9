r"""The posterior densities of the hyper-parameters of many default models at once.

The formulas are those of :mod:`botorch_ubo.models.quick`, with a batch dimension and with rows that
are not there: an absent datum has no covariance with any other and unit variance, so that it leaves
determinant, solution and gradient as they are. They are written down a second time because they
have another reader: there, numpy and LAPACK for one GP, where a tensor operation costs more than
the arithmetic in it; here, few operations for many GPs on any device. A test holds both to 1e-8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from botorch_ubo.models.default import default_model
from botorch_ubo.models.quick import LogDensity

NOT_POSITIVE_DEFINITE = 1e10
"""What the density answers for hyper-parameters without a Cholesky factor."""


@dataclass(frozen=True)
class Hyperpriors:
    """Priors of the logarithms of ``d`` length-scales, the output scale and the noise."""

    loc: Tensor
    """``d + 2``-dim."""
    scale: Tensor
    lower: Tensor
    upper: Tensor

    @property
    def modes(self) -> Tensor:
        """Logarithms of the modes."""
        return self.loc - self.scale.square()

    @classmethod
    def of(cls, d: int, like: Tensor) -> Hyperpriors:
        """Those of the default model, in dtype and device of a tensor."""
        rows = (torch.tensor(row, dtype=torch.double) for row in _default_priors(d))
        return cls(*(row.to(like) for row in rows))


@cache
def _default_priors(d: int) -> tuple[list[float], ...]:
    X = torch.linspace(0, 1, 2, dtype=torch.double).unsqueeze(-1).expand(2, d)
    bounds = torch.stack([torch.zeros(d), torch.ones(d)]).double()
    density = LogDensity(default_model(X, X[:, :1], bounds).train(), None)
    rows = (density.loc, density.scale, *density.bounds.T)
    return tuple(row.tolist() for row in rows)


@dataclass(frozen=True)
class BatchedDensity:
    """Negative logarithms of the posterior densities of ``B`` GPs, with gradients.

    The argument holds the logarithms of ``d`` length-scales, of the output scale and of the noise.
    Where observations are exact, the last one is that of ``EXACT_NOISE``: it has neither a prior
    nor a gradient, and bounds hold it in its place.
    """

    X: Tensor
    """``B x n x d`` inputs in the model's units, near zero."""
    rhs: Tensor
    """``B x n x 2``: standardised outcomes, and ones; both zero where there is no datum."""
    infers: Tensor
    """``B``: 1 where the noise is a parameter, 0 where observations are exact."""
    priors: Hyperpriors

    @classmethod
    def of(cls, X: Tensor, y: Tensor, present: Tensor, priors: Hyperpriors) -> BatchedDensity:
        r"""The densities of some data, with noise.

        Args:
            X: ``B x n x d`` inputs in the model's units.
            y: ``B x n`` standardised outcomes.
            present: ``B x n``: which of them are there.
            priors: Of all GPs.

        Returns:
            The densities.
        """
        there = present.unsqueeze(-1)
        # From the median: one datum far away does not take the digits of all others.
        center = torch.where(there, X, torch.nan).nanmedian(dim=-2, keepdim=True).values
        rhs = torch.stack([torch.where(present, y, 0.0), present.to(y)], dim=-1)
        X = torch.where(there, X - center, 0.0)
        return cls(X, rhs, torch.ones_like(y[:, 0]), priors)

    def take(self, groups: Tensor) -> BatchedDensity:
        """Those of some GPs."""
        return replace(self, X=self.X[groups], rhs=self.rhs[groups], infers=self.infers[groups])

    def repeat(self, times: int) -> BatchedDensity:
        """All of them several times, one round after the other."""
        return self.take(torch.arange(len(self.X), device=self.X.device).repeat(times))

    def value(self, p: Tensor) -> Tensor:
        """``B`` values alone."""
        K, _, _ = self._kernel(p)
        cholesky, bad = self._factor(K, p)
        half = torch.linalg.solve_triangular(cholesky, self.rhs, upper=False)
        yy, yo, oo = (half[..., i].mul(half[..., j]).sum(dim=-1) for i, j in _PAIRS)
        return self._value(cholesky, bad, yy - yo.square() / oo, p)

    def __call__(self, p: Tensor) -> tuple[Tensor, Tensor]:
        """``B`` values and ``B x p`` gradients at ``B x p`` logarithms."""
        K, points, squares = self._kernel(p)
        cholesky, bad = self._factor(K, p)
        inverse = torch.cholesky_inverse(cholesky)
        solved = inverse @ self.rhs
        sums = solved.sum(dim=-2, keepdim=True)
        # a = C^{-1} (y - c), with the c that makes its sum zero, so that (y - c)' a = y' a
        a = solved[..., :1] - sums[..., :1] / sums[..., 1:] * solved[..., 1:]
        value = self._value(cholesky, bad, (self.rhs[..., 0] * a[..., 0]).sum(dim=-1), p)
        # G = a a' - C^{-1}, and half its products with the derivatives of C
        G = torch.baddbmm(inverse, a, a.mT, beta=-1)
        trace = (G.diagonal(dim1=-2, dim2=-1) * self.rhs[..., 1]).sum(dim=-1)
        weighted = G.mul_(K)
        total = weighted.sum(dim=(-2, -1))
        weighted.diagonal(dim1=-2, dim2=-1).zero_()  # no distance to itself, however far away
        rows = weighted.sum(dim=-1, keepdim=True)
        slopes = (rows * squares - points * (weighted @ points)).sum(dim=-2)
        noise = 0.5 * p[:, -1].exp() * trace
        likelihood = torch.cat([slopes, torch.stack([0.5 * total, noise], dim=-1)], dim=-1)
        gradient = 1 + (p - self.priors.loc) / self.priors.scale.square() - likelihood
        gradient[:, -1] *= self.infers
        return value, torch.where(bad.unsqueeze(-1), 0.0, gradient)

    def _kernel(self, p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Prior covariances, points in length-scales and their squares."""
        d = self.X.shape[-1]
        points = self.X * torch.exp(-p[:, None, :d])
        squares = points.square()
        there = self.rhs[..., 1:]
        # |a - b|^2 / 2 = |a|^2 / 2 + |b|^2 / 2 - a.b
        half = 0.5 * squares.sum(dim=-1, keepdim=True)
        exponent = torch.baddbmm(half + half.mT, points, points.mT, alpha=1, beta=-1)
        exponent = exponent.clamp_max_(0.0).add_(p[:, d, None, None])
        return exponent.exp_().mul_(there * there.mT), points, squares

    def _factor(self, K: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        """Cholesky factors of ``C``, and which are none (theirs are units)."""
        C = K.clone()
        C.diagonal(dim1=-2, dim2=-1).add_(1 + (p[:, -1:].exp() - 1) * self.rhs[..., 1])
        cholesky, info = torch.linalg.cholesky_ex(C)
        bad = info > 0
        eye = torch.eye(C.shape[-1], dtype=C.dtype, device=C.device)
        return torch.where(bad[:, None, None], eye, cholesky), bad

    def _value(self, cholesky: Tensor, bad: Tensor, quadratic: Tensor, p: Tensor) -> Tensor:
        log_det = cholesky.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
        deviation = (p - self.priors.loc) / self.priors.scale
        prior = p + 0.5 * deviation.square()
        prior = prior[:, :-1].sum(dim=-1) + self.infers * prior[:, -1]
        return torch.where(bad, NOT_POSITIVE_DEFINITE, 0.5 * quadratic + log_det + prior)


_PAIRS = ((0, 0), (0, 1), (1, 1))
