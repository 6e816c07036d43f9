r"""Log expected improvement of a squared exponential GP in numpy, beyond pending points if any.

With ``u = (mu - best) / sigma`` and ``EI = sigma h(u)``, ``h(u) = phi(u) + u Phi(u)``, the
derivatives are ``dEI/dmu = Phi(u)`` and ``dEI/dsigma = phi(u)``, so

``d log EI = (Phi(u) dmu + phi(u) dsigma) / (sigma h(u))``,

and those of mean and variance are products of the kernel with ``z`` and ``C^{-1} k``.

Pending points ``p`` will have outcomes ``f_p``, normal with what the data say. What one more point
brings beyond them is ``E_{f_p} EI(x | data, f_p; max(best, f_p))``. The outer expectation is a mean
over quasi-Monte Carlo outcomes ``f_p = mu_p + R e_s``, the inner one is the formula above: given
``f_p`` the variance at ``x`` is the same for all of them and the mean is linear in ``e_s``,

``mu_s(x) = mu(x) + g(x) e_s``, ``sigma^2(x) = sigma_0^2(x) - g(x) g(x)'``,
``g(x) = (k(x, P) - k(x, X) C^{-1} K_XP) R^{-T}``, ``R R' = K_PP - K_PX C^{-1} K_XP``.

It has the maximiser of BoTorch's ``qLogExpectedImprovement`` with these pending points, whose value
is larger by what they bring without ``x``; there, ``f(x)`` is sampled too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import erfcx, ndtr, ndtri
from scipy.stats import qmc

from botorch_ubo.models.quick.factored import Array, FactoredArrays, half_norms, minus_half_squares

NUM_OUTCOMES = 128
"""Joint outcomes of pending points over which the improvement is averaged; a power of 2.

With so many, a batch of 16 has the joint improvement of one chosen with 1024 to 0.02 in log.
"""
_ROUGHLY = 16  # of them; a power of 2 as well
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_DENSITY_AT_0 = 1 / math.sqrt(2 * math.pi)
_FAR = 1e150  # length-scales, whose squares are still numbers
_TAIL = -25.0  # below it, h(u) is computed from its logarithm; it underflows at -38
_JITTER = 1e-6  # of the prior variance: two pending points may be one


@dataclass(frozen=True)
class NumpyLogEI:
    """The formulas above, for points in length-scales from the model's origin.

    ``N`` counts data and pending points, ``m`` the latter, ``S`` their outcomes (1 if ``m = 0``).
    """

    posterior: FactoredArrays
    """Of the data alone."""
    X: Array
    """``N x d`` data and pending points."""
    half_norms: Array
    """``N``-dim: half the squared norms of ``X``."""
    z: Array
    """``N x S``: the means are the kernel times this."""
    gap: Array
    """``S``-dim: the prior mean less the value to improve on, so that improvement is upwards."""
    root: Array
    """``m x N``: ``g`` is the kernel times its transpose."""
    min_variance: float
    log_scale: float
    """The logarithm of the outcomes' unit."""

    @classmethod
    def of(
        cls, p: FactoredArrays, gap: float, sign: float, min_variance: float, log_scale: float
    ) -> NumpyLogEI:
        r"""Without pending points.

        Args:
            p: The posterior, in standardised units.
            gap: The prior mean less the value to improve on, with the sign.
            sign: 1 to improve upwards, -1 downwards.
            min_variance: Floor of the variance.
            log_scale: The logarithm of the outcomes' unit.

        Returns:
            The formula.
        """
        z = (sign * p.z)[:, None]
        root = np.empty((0, len(p.X)))
        gaps = np.array([gap])
        return cls(p, p.X, p.half_norms, z, gaps, root, min_variance, log_scale)

    def beyond(self, pending: Array, seed: int = 0) -> NumpyLogEI:
        r"""The improvement beyond pending points.

        Args:
            pending: ``m x d`` points in length-scales.
            seed: Of their outcomes.

        Returns:
            The formula; this one, which knows of none, stays as it is.
        """
        p, m = self.posterior, len(pending)
        across = p.covariance(pending)  # m x n
        weights = p.solve(across)  # rows of K_PX C^{-1}
        among = p.variance * np.exp(minus_half_squares(pending, pending))
        among -= weights @ across.T
        # Principal directions first: those of a quasi-random sequence are the most even.
        spread, directions = np.linalg.eigh(0.5 * (among + among.T))
        spread = np.sqrt(np.maximum(spread, _JITTER * p.variance))[::-1]
        factor = directions[:, ::-1] * spread
        inverse = (directions[:, ::-1] / spread).T
        root = np.concatenate([-inverse @ weights, inverse], axis=1)
        e = _normal_outcomes(m, seed)  # m x S
        means = self.gap + across @ self.z  # m x 1
        best = np.maximum((means + factor @ e).max(axis=0), 0.0)  # S; 0 is the value to improve on
        z = np.concatenate([self.z, np.zeros((m, 1))]) + root.T @ e
        return replace(
            self,
            X=np.concatenate([p.X, pending]),
            half_norms=np.concatenate([p.half_norms, half_norms(pending)]),
            z=z,
            gap=self.gap - best,
            root=root,
        )

    def roughly(self) -> NumpyLogEI:
        """Of fewer outcomes of pending points: enough to tell where a search should start."""
        return replace(self, z=self.z[:, :_ROUGHLY], gap=self.gap[:_ROUGHLY])

    def __call__(self, points: Array, gradient: bool = True) -> tuple[Array, Array]:
        """The ``b`` values at ``b x d`` points, and ``b x d`` gradients (else nothing)."""
        with np.errstate(all="ignore"):  # whatever the caller has numpy do about underflow
            if len(self.root):
                return self._values_and_gradient(points, gradient)
            return self._without_pending(points, gradient)

    def _without_pending(self, points: Array, gradient: bool) -> tuple[Array, Array]:
        """The same in fewer operations, each of which costs more than its arithmetic."""
        p, z = self.posterior, self.z[:, 0]
        points = np.minimum(np.maximum(points, -_FAR), _FAR)
        columns = np.empty((len(points), points.shape[-1] + 2))
        columns[:, :-2] = points
        columns[:, -2], columns[:, -1] = half_norms(points), 1.0
        covariance = columns @ self._exponents
        np.minimum(covariance, self._log_variance, out=covariance)
        np.exp(covariance, out=covariance)
        half = p.half_solve(covariance)
        variance = p.variance - np.einsum("ij,ij->i", half, half)
        sigma = np.sqrt(np.maximum(variance, self.min_variance))
        u = (self.gap[0] + covariance @ z) / sigma
        phi, Phi = np.exp(-0.5 * u * u) * _DENSITY_AT_0, ndtr(u)
        h = phi + u * Phi
        values = np.log(h * sigma) + self.log_scale
        tail = u < _TAIL
        far_out = np.count_nonzero(tail)
        if far_out:
            log_h, Phi_h, phi_h = far_improvement_terms(u[tail])
            values[tail] = log_h + np.log(sigma[tail]) + self.log_scale
        if not gradient:
            return values, np.empty((0, points.shape[-1]))
        by_mean, by_sigma = Phi / h, phi / h
        if far_out:
            by_mean[tail], by_sigma[tail] = Phi_h, phi_h
        by_sigma *= variance > self.min_variance  # sigma is constant elsewhere
        weights = p.half_solve_back(half)
        weights *= (by_sigma / (-sigma * sigma))[:, None]
        weights += (by_mean / sigma)[:, None] * z
        weights *= covariance
        return values, weights @ self.X - (weights @ np.ones(len(z)))[:, None] * points

    @cached_property
    def _log_variance(self) -> float:
        return math.log(self.posterior.variance)

    @cached_property
    def _exponents(self) -> Array:
        """``(d + 2) x N``: rows ``(x, |x|^2 / 2, 1)`` times it are logarithms of covariances."""
        ones = np.ones((len(self.X), 1))
        offsets = self._log_variance - self.half_norms
        return np.ascontiguousarray(np.hstack([self.X, -ones, offsets[:, None]]).T)

    def _values_and_gradient(self, points: Array, gradient: bool) -> tuple[Array, Array]:
        p = self.posterior
        points = np.clip(points, -_FAR, _FAR)
        covariance = p.variance * np.exp(minus_half_squares(points, self.X, self.half_norms))
        known = covariance[:, : len(p.X)]
        half = p.half_solve(known)
        g = covariance @ self.root.T
        variance = p.variance - np.einsum("ij,ij->i", half, half) - np.einsum("ij,ij->i", g, g)
        sigma = np.sqrt(np.maximum(variance, self.min_variance))
        u = (self.gap + covariance @ self.z) / sigma[:, None]
        log_h, Phi_h, phi_h = mean_improvement_terms(u)
        values = log_h + self.log_scale + np.log(sigma)
        if not gradient:
            return values, np.empty((0, points.shape[-1]))
        by_sigma = phi_h / sigma
        by_sigma[variance <= self.min_variance] = 0.0  # sigma is constant there
        # dmu = z . dk and dsigma = -(C^{-1} k) . dk / sigma, and likewise for g
        weights = (Phi_h / sigma[:, None]) @ self.z.T
        by_sigma = (by_sigma / sigma)[:, None]
        weights[:, : len(p.X)] -= by_sigma * p.half_solve_back(half)
        weights -= by_sigma * (g @ self.root)
        weights *= covariance
        # dk_j / dx = k_j (x_j - x)
        return values, weights @ self.X - weights.sum(axis=-1)[:, None] * points


def mean_improvement_terms(u: Array) -> tuple[Array, Array, Array]:
    r"""The logarithm of the mean of ``h`` over outcomes, and its derivatives' parts.

    Args:
        u: ``b x S``.

    Returns:
        ``log mean_s h``, ``b``; ``Phi_s / sum_t h_t``, ``b x S``; ``sum_s phi_s / sum_t h_t``.
    """
    phi, Phi = np.exp(-0.5 * u**2 - _LOG_SQRT_2PI), ndtr(u)
    h = phi + u * Phi
    total = h.sum(axis=-1)
    tail = u.max(axis=-1) < _TAIL
    if tail.any():
        total[tail] = 1.0
    values, by_mean, by_sigma = np.log(total), Phi / total[:, None], phi.sum(axis=-1) / total
    if tail.any():
        log_h, Phi_h, phi_h = far_improvement_terms(u[tail])
        largest = log_h.max(axis=-1)
        share = np.exp(log_h - largest[:, None])
        sums = share.sum(axis=-1)
        values[tail] = largest + np.log(sums)
        share /= sums[:, None]
        by_mean[tail], by_sigma[tail] = share * Phi_h, (share * phi_h).sum(axis=-1)
    return values - math.log(u.shape[-1]), by_mean, by_sigma


def improvement_terms(u: Array) -> tuple[Array, Array, Array]:
    """``log h``, ``Phi / h`` and ``phi / h`` of ``h = phi(u) + u Phi(u)``, without cancellation."""
    # h(-w) = phi(w) (1 - w m(w)) with Mills' ratio m(w) = sqrt(pi / 2) erfcx(w / sqrt(2)); far out
    # 1 - w m(w) ~ 1 / (w^2 + 3)
    w = np.maximum(-u, 1.0)  # the lower tail, of which the upper one is not to make infinities
    mills = math.sqrt(math.pi / 2) * erfcx(w / math.sqrt(2))
    rest = np.where(w < 1e3, 1 - w * mills, 1 / (w**2 + 3))
    v = np.maximum(u, -1.0)
    phi, Phi = np.exp(-0.5 * v**2 - _LOG_SQRT_2PI), ndtr(v)
    h = phi + v * Phi
    lower = u < -1.0
    return (
        np.where(lower, -0.5 * u**2 - _LOG_SQRT_2PI + np.log(rest), np.log(h)),
        np.where(lower, mills / rest, Phi / h),
        np.where(lower, 1 / rest, phi / h),
    )


def far_improvement_terms(u: Array) -> tuple[Array, Array, Array]:
    """:func:`improvement_terms` of ``u`` below -25, by the first terms of a series, to 8 digits."""
    # phi / h = w^2 + 3 - 6 / w^2 + 42 / w^4 - ..., and h = phi - w Phi with w = -u
    squares = u * u
    phi_h = squares + 3.0 - (6.0 - 42.0 / squares) / squares
    return -0.5 * squares - _LOG_SQRT_2PI - np.log(phi_h), (1.0 - phi_h) / u, phi_h


def _normal_outcomes(m: int, seed: int) -> Array:
    """``m x S`` quasi-random normal numbers from a generator of their own."""
    uniform = qmc.Sobol(m, rng=np.random.default_rng(seed)).random(NUM_OUTCOMES)
    return ndtri(np.clip(uniform.T, 1e-9, 1 - 1e-9))
