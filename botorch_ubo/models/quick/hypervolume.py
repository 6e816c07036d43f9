r"""Expected hypervolume improvement of two objectives in numpy, times the chance of being feasible.

With the points of the front in order of the first objective, ``a_0 = r_1 < a_1 < ... < a_n``, and
``b_i`` the second objective of the point ``i + 1``, ``b_n = r_2``, an outcome ``(f_1, f_2)`` adds

``sum_i (min(f_1, a_{i+1}) - a_i)^+ (f_2 - b_i)^+``, ``a_{n+1} = infinity``,

to the hypervolume beyond the reference point ``r``. Objectives are independent, so the expectation
is [Yang2019]

``sum_i s_1 (h(u_i) - h(u_{i+1})) s_2 h(v_i)``, ``u_i = (m_1 - a_i) / s_1``, ``v_i`` likewise,

with ``h(u) = phi(u) + u Phi(u)``, means ``m`` and standard deviations ``s``. All of it is computed
in logarithms: where nothing is likely to be gained, there still is a slope to climb.

References:
    [Yang2019] K. Yang, M. Emmerich, A. Deutz, and T. Bäck. Efficient Computation of Expected
    Hypervolume Improvement Using Box Decomposition Algorithms. Journal of Global Optimization 75,
    2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from gpytorch.settings import min_variance
from scipy.special import log_ndtr
from torch import Tensor

from botorch_ubo.models.quick.factored import Array, FactoredArrays, FactoredPosterior, to_array
from botorch_ubo.models.quick.improvement import improvement_terms

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


class Line(NamedTuple):
    """An objective or constraint that is an affine function of one outcome."""

    outcome: int
    weight: float
    offset: float


@dataclass(frozen=True)
class _Normal:
    """Mean and standard deviation of a :class:`Line`, and the way back to a gradient."""

    posterior: FactoredArrays
    ratio: Array
    """``d``-dim: length-scales of this outcome per common one."""
    shift: Array
    """``d``-dim: the common origin in them."""
    location: float
    scale: float
    """Signed: the unit of the outcome times the weight."""
    min_variance: float

    @classmethod
    def of(cls, line: Line, part: FactoredPosterior, origin: Tensor, slope: Tensor) -> _Normal:
        location = float(part.Y_mean) + float(part.Y_scale) * float(part.prior_mean)
        return cls(
            posterior=part.arrays,
            ratio=to_array((part.slope / slope).reshape(-1)),
            shift=to_array(((origin - part.origin) * part.slope).reshape(-1)),
            location=line.offset + line.weight * location,
            scale=line.weight * float(part.Y_scale),
            min_variance=min_variance.value(part.X.dtype),
        )

    def __call__(self, points: Array) -> _Moments:
        own = points * self.ratio + self.shift
        covariance = self.posterior.covariance(own)
        half = self.posterior.half_solve(covariance)
        variance = self.posterior.variance - np.einsum("ij,ij->i", half, half)
        std = np.sqrt(np.maximum(variance, self.min_variance))
        mean = self.location + self.scale * (covariance @ self.posterior.z)
        known = variance <= self.min_variance
        return _Moments(self, own, covariance, half, mean, abs(self.scale) * std, std, known)


@dataclass(frozen=True)
class _Moments:
    """The ``b`` means and standard deviations at ``b`` points."""

    normal: _Normal
    points: Array
    covariance: Array
    half: Array
    mean: Array
    std: Array
    own_std: Array
    known: Array
    """``b`` booleans: where the variance has its floor, and no slope."""

    def gradient(self, by_mean: Array, by_std: Array) -> Array:
        """``b x d`` derivatives by the common points, from ``b`` by mean and standard deviation."""
        normal, p = self.normal, self.normal.posterior
        by_std = np.where(self.known, 0.0, abs(normal.scale) * by_std)
        weights = (normal.scale * by_mean)[:, None] * p.z
        weights -= (by_std / self.own_std)[:, None] * p.half_solve_back(self.half)
        weights *= self.covariance
        return (weights @ p.X - weights.sum(axis=-1)[:, None] * self.points) * normal.ratio


@dataclass(frozen=True)
class NumpyLogEHVI:
    """The formula above, for points in length-scales of the first outcome from its origin."""

    objectives: tuple[_Normal, _Normal]
    constraints: tuple[_Normal, ...]
    steps: Array
    """``n + 1`` values ``a_0 ... a_n``, ascending."""
    floors: Array
    """``n + 1`` values ``b_0 ... b_n``, descending."""

    @classmethod
    def of(
        cls,
        parts: tuple[FactoredPosterior, ...],
        objectives: tuple[Line, Line],
        constraints: tuple[Line, ...],
        X_front: Tensor,
        reference_point: Tensor,
    ) -> NumpyLogEHVI:
        r"""Beyond the posterior means at some points.

        Args:
            parts: Posteriors of the outcomes.
            objectives: What is to be maximised.
            constraints: What is to be at most zero.
            X_front: ``r x d`` points, raw; those that are dominated are left out.
            reference_point: Two values that count as bad.

        Returns:
            The formula.
        """
        origin, slope = parts[0].origin, parts[0].slope

        def normal(line: Line) -> _Normal:
            return _Normal.of(line, parts[line.outcome], origin, slope)

        first, second = (normal(line) for line in objectives)
        at = to_array((X_front - origin) * slope)
        r = to_array(reference_point)
        front = np.stack([first(at).mean, second(at).mean], axis=-1)
        front = front[(front > r).all(axis=-1)]
        front = front[np.lexsort((front[:, 1], front[:, 0]))]
        higher = np.append(np.maximum.accumulate(front[::-1, 1])[::-1], -math.inf)
        front = front[front[:, 1] > higher[1:]]
        return cls(
            objectives=(first, second),
            constraints=tuple(map(normal, constraints)),
            steps=np.append(r[0], front[:, 0]),
            floors=np.append(front[:, 1], r[1]),
        )

    def __call__(self, points: Array, gradient: bool = True) -> tuple[Array, Array]:
        """The ``b`` values at ``b x d`` points, and ``b x d`` gradients (else nothing)."""
        with np.errstate(all="ignore"):  # whatever the caller has numpy do about underflow
            return self._values_and_gradient(points, gradient)

    def _values_and_gradient(self, points: Array, gradient: bool) -> tuple[Array, Array]:
        first, second = (objective(points) for objective in self.objectives)
        s, t = first.std[:, None], second.std[:, None]
        log_h, Phi, phi = improvement_terms((first.mean[:, None] - self.steps) / s)
        log_k, Psi, psi = improvement_terms((second.mean[:, None] - self.floors) / t)
        # h_{i+1} / h_i; nothing is beyond the last step
        rest = np.exp(np.minimum(np.diff(log_h, axis=-1), 0.0))
        rest = np.concatenate([rest, np.zeros_like(s)], axis=-1)
        terms = log_h + np.log1p(-rest) + log_k
        largest = terms.max(axis=-1, keepdims=True)
        share = np.exp(terms - largest)
        total = share.sum(axis=-1, keepdims=True)
        values = (largest + np.log(total * s * t)).squeeze(-1)
        constraints = [constraint(points) for constraint in self.constraints]
        margins = [-moments.mean / moments.std for moments in constraints]
        log_chances = [log_ndtr(margin) for margin in margins]
        values += sum(log_chances)
        if not gradient:
            return values, np.empty((0, points.shape[-1]))
        share /= total * (1 - rest)  # where that is 0, so is the share of the strip
        share = np.nan_to_num(share, nan=0.0, posinf=0.0)
        rest_Phi, rest_phi = (
            rest * np.concatenate([ratio[:, 1:], np.zeros_like(s)], axis=-1) for ratio in (Phi, phi)
        )
        slope = first.gradient(*_by_moments(share * (Phi - rest_Phi), share * (phi - rest_phi), s))
        share *= 1 - rest
        slope += second.gradient(*_by_moments(share * Psi, share * psi, t))
        for moments, margin, log_chance in zip(constraints, margins, log_chances, strict=True):
            density = np.exp(-0.5 * margin**2 - _LOG_SQRT_2PI - log_chance) / moments.std
            slope += moments.gradient(-density, -density * margin)
        return values, slope


def _by_moments(by_mean: Array, by_std: Array, std: Array) -> tuple[Array, Array]:
    """Derivatives by mean and standard deviation, summed over strips."""
    return (by_mean / std).sum(axis=-1), (by_std / std).sum(axis=-1)
