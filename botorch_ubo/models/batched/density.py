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
_FAR_AWAY = 1e6  # squared length-scales, at which a covariance is zero


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
    absent: Tensor
    """``B x n``: 1 where there is no datum, else 0."""
    counts: Tensor
    """``B x p``: 1 for a parameter, 0 for the noise of exact observations."""
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
        counts = torch.ones_like(priors.loc).repeat(len(X), 1)
        return cls(X, rhs, (~present).to(y), counts, priors)

    def take(self, groups: Tensor) -> BatchedDensity:
        """Those of some GPs."""
        names = ("X", "rhs", "absent", "counts")
        return replace(self, **{name: getattr(self, name)[groups] for name in names})

    def repeat(self, times: int) -> BatchedDensity:
        """All of them several times, one round after the other."""
        return self.take(torch.arange(len(self.X), device=self.X.device).repeat(times))

    def exact(self) -> BatchedDensity:
        """The same with exact observations."""
        counts = self.counts.clone()
        counts[:, -1] = 0.0
        return replace(self, counts=counts)

    def value(self, p: Tensor) -> Tensor:
        """``B`` values alone."""
        C, _, _, _ = self._covariance(p)
        cholesky, bad = _factor(C)
        half = torch.linalg.solve_triangular(cholesky, self.rhs, upper=False)
        products = half.mT @ half  # of outcomes and ones, by C^{-1}
        quadratic = products[:, 0, 0] - products[:, 0, 1].square() / products[:, 1, 1]
        return self._value(cholesky, bad, quadratic, p)[0]

    def __call__(self, p: Tensor) -> tuple[Tensor, Tensor]:
        """``B`` values and ``B x p`` gradients at ``B x p`` logarithms."""
        C, points, squares, sizes = self._covariance(p)
        cholesky, bad = _factor(C)
        inverse = torch.cholesky_inverse(cholesky)
        solved = inverse @ self.rhs
        sums = solved.sum(dim=-2, keepdim=True)
        # a = C^{-1} (y - c), with the c that makes its sum zero, so that (y - c)' a = y' a
        a = torch.addcmul(solved[..., :1], sums[..., :1] / sums[..., 1:], solved[..., 1:], value=-1)
        quadratic = (self.rhs[..., :1].mT @ a).reshape(-1)
        value, deviation = self._value(cholesky, bad, quadratic, p)
        # G = a a' - C^{-1}, and its products with the derivatives of C
        G = torch.baddbmm(inverse, a, a.mT, beta=-1)
        trace = (G.diagonal(dim1=-2, dim2=-1) * self.rhs[..., 1]).sum(dim=-1, keepdim=True)
        weighted = G.mul_(C)
        weighted.diagonal(dim1=-2, dim2=-1).zero_()  # no distance to itself, however far away
        rows = weighted.sum(dim=-1, keepdim=True)
        slopes = torch.addcmul(rows * squares, points, weighted @ points, value=-1).sum(dim=-2)
        # by the logarithms of output scale and noise: what they add to C is on its diagonal
        halves = torch.addcmul(torch.nn.functional.pad(rows.sum(dim=-2), (0, 1)), sizes, trace)
        likelihood = torch.cat([slopes, 0.5 * halves], dim=-1)
        gradient = torch.addcdiv(1 - likelihood, deviation, self.priors.scale)
        return value, gradient * self.counts

    def _covariance(self, p: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """``C``, points in length-scales, their squares, and ``B x 2`` output scales and noise."""
        d = self.X.shape[-1]
        points = self.X / p[:, None, :d].exp()
        squares = points.square()
        sizes = p[:, d:].exp()
        # |a - b|^2 = |a|^2 + |b|^2 - 2 a.b; what is absent is far from everything
        norms = torch.add(squares.sum(dim=-1), self.absent, alpha=_FAR_AWAY).unsqueeze(-1)
        exponent = torch.baddbmm(norms + norms.mT, points, points.mT, beta=-0.5)
        C = exponent.clamp_max_(0.0).add_(p[:, d, None, None]).exp_()
        C.diagonal(dim1=-2, dim2=-1).add_(
            torch.addcmul(self.absent, sizes[:, 1:], self.rhs[..., 1])
        )
        return C, points, squares, sizes

    def _value(
        self, cholesky: Tensor, bad: Tensor, quadratic: Tensor, p: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Values, and how far the parameters are from the priors' centres."""
        log_det = cholesky.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
        deviation = (p - self.priors.loc) / self.priors.scale
        prior = (torch.addcmul(p, deviation, deviation, value=0.5) * self.counts).sum(dim=-1)
        total = torch.add(log_det + prior, quadratic, alpha=0.5)
        return torch.where(bad, NOT_POSITIVE_DEFINITE, total), deviation


def _factor(C: Tensor) -> tuple[Tensor, Tensor]:
    """Cholesky factors, and which are none (theirs are units)."""
    cholesky, info = torch.linalg.cholesky_ex(C)
    bad = info > 0
    eye = torch.eye(C.shape[-1], dtype=C.dtype, device=C.device)
    return torch.where(bad[:, None, None], eye, cholesky), bad
