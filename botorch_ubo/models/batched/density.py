r"""The posterior densities of the hyper-parameters of many default models at once.

The formulas are those of :mod:`botorch_ubo.models.quick`, with a batch dimension and with rows that
are not there: an absent datum has no covariance with any other and unit variance, so that it leaves
determinant, solution and gradient as they are. They are written down a second time because they
have another reader: there, numpy and LAPACK for one GP, where a tensor operation costs more than
the arithmetic in it; here, few operations for many GPs on any device. A test holds both to 1e-8.

For few operations, everything that the data say about covariances is stacked once, for every pair
of data: half the negative squared differences of each dimension, the same constant for all, and the
identity. One product with the parameters is the exponent of all covariances, and one product with
their derivatives is the gradient by all parameters. Differences lose no digits, which counts in
single precision; the stack takes ``d + 2`` times the memory of a covariance matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from botorch_ubo.models.default import default_model
from botorch_ubo.models.quick import LogDensity

NOT_POSITIVE_DEFINITE = 1e10
"""What the density answers for hyper-parameters without a Cholesky factor."""
_FAR_AWAY = 1e6  # half the squared length-scales, at which a covariance is zero
_LARGEST = 1e30  # squared differences, which single precision can still multiply


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

    An argument holds the logarithms of ``d`` length-scales, of the output scale and of the noise;
    each GP has ``S`` of them, which share its data. Where observations are exact, the last one is
    that of ``EXACT_NOISE``: it has neither a prior nor a gradient, and bounds hold it in its place.
    """

    pairs: Tensor
    """``B x (d + 2) x n^2``: ``-1/2`` times the squared differences, ones, and the identity; zero
    where there is no datum."""
    apart: Tensor
    """``B x 1 x n^2``: very negative for two data of which one is not there, else zero."""
    rhs: Tensor
    """``B x n x 2``: standardised outcomes, and ones; both zero where there is no datum."""
    weight: Tensor
    """``B x S x p``: one by the scale of a parameter's prior, zero where it has none."""
    shift: Tensor
    """``B x S x p``: minus the modes, times the weights."""
    offsets: Tensor
    """``B x S x (d + 4)``: minus infinity where there is no gradient, else zero."""
    constant: Tensor
    """``B x S x 1``: what makes a density of the squares."""

    @classmethod
    def of(
        cls, X: Tensor, y: Tensor, present: Tensor, priors: Hyperpriors, exact: Tensor | None = None
    ) -> BatchedDensity:
        r"""The densities of some data.

        Args:
            X: ``B x n x d`` inputs in the model's units.
            y: ``B x n`` standardised outcomes.
            present: ``B x n``: which of them are there.
            priors: Of all GPs.
            exact: ``S`` booleans: for which arguments observations are exact; with noise, and one
                argument, by default.

        Returns:
            The densities.
        """
        B, n, d = X.shape
        there = present.to(X)
        both = there.unsqueeze(-1) * there.unsqueeze(-2)  # B x n x n
        eye = torch.eye(n, dtype=X.dtype, device=X.device)
        by_dim = X.mT.unsqueeze(-1) - X.mT.unsqueeze(-2)  # B x d x n x n
        squares = by_dim.square_().clamp_max_(_LARGEST)
        constants = torch.stack([torch.ones_like(both), eye.expand_as(both)], dim=1)
        pairs = torch.cat([squares, constants], dim=1).mul_(-0.5 * both.unsqueeze(1))
        pairs = pairs.reshape(B, d + 2, n * n)
        apart = ((both - 1) * (1 - eye)).mul_(_FAR_AWAY).reshape(B, 1, n * n)
        rhs = torch.stack([y * there, there], dim=-1)
        if exact is None:
            exact = torch.zeros(1, dtype=torch.bool, device=X.device)
        inferred = torch.ones_like(priors.loc).repeat(len(exact), 1)
        inferred[:, -1] = (~exact).to(X)
        weight = inferred / priors.scale
        offsets = torch.zeros(len(exact), d + 4, dtype=X.dtype, device=X.device)
        offsets[:, d + 1] = inferred[:, -1].log()
        # -log p = p + deviation^2 / 2, deviations from loc, is a square around the mode
        constant = (inferred * (priors.loc - 0.5 * priors.scale.square())).sum(-1, keepdim=True)
        of_rows = (weight, -priors.modes * weight, offsets, constant)
        return cls(pairs, apart, rhs, *(part.repeat(B, 1, 1) for part in of_rows))

    def take(self, groups: Tensor) -> BatchedDensity:
        """Those of some GPs."""
        return BatchedDensity(**{name: part[groups] for name, part in vars(self).items()})

    def rows(self, index: Tensor) -> BatchedDensity:
        """Those of some of the ``B S`` arguments, each with data of its own."""
        S = self.constant.shape[1]
        own = {
            name: getattr(self, name).flatten(0, 1)[index].unsqueeze(1)
            for name in ("weight", "shift", "offsets", "constant")
        }
        shared = {name: getattr(self, name)[index // S] for name in ("pairs", "apart", "rhs")}
        return BatchedDensity(**shared, **own)

    def value(self, p: Tensor) -> Tensor:
        """``B S`` values alone, at ``B S x p`` logarithms."""
        B, n, _ = self.rhs.shape
        _, _, C = self._covariance(p)
        cholesky, bad = _factor(C)
        rhs = self.rhs.unsqueeze(1).expand(-1, len(p) // B, -1, -1).reshape(-1, n, 2)
        half = torch.linalg.solve_triangular(cholesky, rhs, upper=False)
        products = half.mT @ half  # of outcomes and ones, by C^{-1}
        quadratic = products[:, 0, 0] - products[:, 0, 1].square() / products[:, 1, 1]
        value, _, _ = self._without_data(cholesky, p)
        value = torch.add(value.flatten(), quadratic, alpha=0.5)
        return value.masked_fill_(bad, NOT_POSITIVE_DEFINITE)

    def __call__(self, p: Tensor) -> tuple[Tensor, Tensor]:
        """``B S`` values and ``B S x p`` gradients at ``B S x p`` logarithms.

        A gradient means nothing, and may be NaN, where the value is ``NOT_POSITIVE_DEFINITE``.
        """
        B, n, _ = self.rhs.shape
        S, d = len(p) // B, p.shape[-1] - 2
        slopes, K, C = self._covariance(p)
        cholesky, bad = _factor(C)
        inverse = torch.cholesky_inverse(cholesky).mT  # symmetric, and in rows
        solved = (inverse.reshape(B, S * n, n) @ self.rhs).reshape(-1, n, 2)
        sums = solved.sum(dim=-2, keepdim=True)
        # a = C^{-1} (y - c), with the c that makes its sum zero, so that (y - c)' a = y' a
        a = torch.addcmul(solved[..., :1], sums[..., :1] / sums[..., 1:], solved[..., 1:], value=-1)
        value, shifted, weight = self._without_data(cholesky, p)
        value = torch.baddbmm(
            value.reshape(B, S, 1), a.reshape(B, S, n), self.rhs[..., :1], alpha=0.5
        ).flatten()
        # G = a a' - C^{-1}, and its products with the derivatives of C
        G = (a * a.mT).sub_(inverse)
        sums = G.reshape(B, S, n * n).mul_(K) @ self.pairs.mT
        gradient = torch.addcmul(sums.reshape(-1, d + 2) * slopes, shifted, weight)
        return value.masked_fill_(bad, NOT_POSITIVE_DEFINITE), gradient

    def _covariance(self, p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What the sums over pairs are multiplied with, ``B x S x n^2`` ``K`` and ``B S`` ``C``."""
        B, n, _ = self.rhs.shape
        S, d = len(p) // B, p.shape[-1] - 2
        # log of 1 / l^2, of 1 and of noise / s (none if exact), for the gradient; noise; -2 log s
        table = _combinations(d, p.dtype, str(p.device))
        logs = torch.addmm(self.offsets.reshape(-1, d + 4), p, table)
        sizes = logs.exp()
        coefficients = torch.cat([sizes[:, :d], logs[:, -1:]], dim=-1).reshape(B, S, d + 1)
        K = torch.baddbmm(self.apart, coefficients, self.pairs[:, : d + 1]).exp_()
        noise, eye = sizes[:, d + 2].reshape(B, S, 1), self.pairs[:, d + 1 :]
        C = torch.addcmul(K, noise, eye, value=-2)
        return sizes[:, : d + 2], K, C.reshape(B * S, n, n)

    def _without_data(self, cholesky: Tensor, p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """``B S x 1 x 1`` priors and determinants; parameters less modes, weighted; the weights."""
        B, n, _ = self.rhs.shape
        weight = self.weight.reshape(p.shape)
        shifted = torch.addcmul(self.shift.reshape(p.shape), p, weight)
        logs = cholesky.diagonal(dim1=-2, dim2=-1).log().reshape(B, -1, n)
        value = torch.baddbmm(self.constant, logs, self.rhs[..., 1:]).reshape(-1, 1, 1)
        squares = torch.baddbmm(value, shifted.unsqueeze(-2), shifted.unsqueeze(-1), alpha=0.5)
        return squares, shifted, weight


def _factor(C: Tensor) -> tuple[Tensor, Tensor]:
    """Cholesky factors, and which are none (they can be inverted all the same)."""
    cholesky, info = torch.linalg.cholesky_ex(C)
    bad = info > 0
    cholesky.diagonal(dim1=-2, dim2=-1).masked_fill_(bad.unsqueeze(-1), 1.0)
    return cholesky, bad


@cache
def _combinations(d: int, dtype: torch.dtype, device: str) -> Tensor:
    """``(d + 2) x (d + 4)``: from parameters to the logarithms that the formulas are made of."""
    table = torch.zeros(d + 2, d + 4, dtype=torch.double)
    table[:d, :d] = -2 * torch.eye(d)
    table[d, d + 1], table[d + 1, d + 1] = -1.0, 1.0  # noise / output scale
    table[d + 1, d + 2] = 1.0
    table[d, d + 3] = -2.0
    return table.to(device, dtype)
