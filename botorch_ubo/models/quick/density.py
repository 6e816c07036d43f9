r"""The posterior density of the hyper-parameters of a squared exponential GP, with gradient.

The logarithm of the posterior density of length-scales, output scale and noise is, up to a
constant,

``-1/2 (y - c)' C^{-1} (y - c) - 1/2 log det C + log p(l) + log p(s) + log p(noise)``,
``C = s R(l) + noise I``,

with ``c = 1' C^{-1} y / 1' C^{-1} 1``, its maximiser, put in for the mean. In logarithms of the
parameters the gradient is ``1/2 tr((a a' - C^{-1}) dC)`` with ``a = C^{-1} (y - c)`` (Rasmussen and
Williams 2006, equation 5.9). It is computed on the CPU, where L-BFGS-B runs, by numpy: with tens
of observations a tensor operation costs more than the arithmetic in it.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import torch
from gpytorch.constraints import Interval
from gpytorch.kernels import ScaleKernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from gpytorch.means import ConstantMean
from gpytorch.priors import LogNormalPrior
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from botorch_ubo.models.quick.factored import to_array
from botorch_ubo.models.quick.gp import QuickGP
from botorch_ubo.models.space import is_one_affine_map

Vector = NDArray[np.float64]

NOT_POSITIVE_DEFINITE = 1e10
"""What the density answers for hyper-parameters without a Cholesky factor."""
_WIDEST = (-9.0, 10.0)  # logarithms of a parameter without a constraint
# At an end itself a raw parameter may be infinite, or by a rounding beyond what gpytorch accepts.
_INSIDE = 1e-6
_FAR = 1e100  # units, whose squares and their sums are still numbers


class LogDensity:
    """The negative logarithm of the posterior density of the hyper-parameters, with gradient.

    Its argument holds the logarithms of ``d`` length-scales, of the output scale if the kernel has
    one, and of the noise if it is to be inferred.
    """

    def __init__(self, model: QuickGP, noise: float | Vector | None) -> None:
        r"""The negative logarithm of the density, with gradient.

        Args:
            model: A model in training mode that :func:`why_not_covered` has nothing against.
            noise: Known noise variances, one or ``n``; ``None`` to infer one.
        """
        X = _inputs(model)
        # From the median: one datum far away does not take the digits of all others.
        median = np.sort(X, axis=0)[len(X) // 2]
        self.X = np.minimum(np.maximum(X - median, -_FAR), _FAR)
        self.squares = self.X**2
        self.y = to_array(model.train_targets)
        self.noise = noise
        self.ones = np.ones_like(self.y)
        self.X_and_ones = np.column_stack([self.X, self.ones])
        self.rhs = np.asfortranarray(np.stack([self.y, self.ones], axis=-1))
        kernel = model.covar_module
        self.scaled = isinstance(kernel, ScaleKernel)
        base = kernel.base_kernel if self.scaled else kernel
        parts = [(base.lengthscale_prior, base.raw_lengthscale_constraint)]
        if self.scaled:
            parts.append((kernel.outputscale_prior, kernel.raw_outputscale_constraint))
        if noise is None:
            inferred = model.likelihood.noise_covar
            parts.append((inferred.noise_prior, inferred.raw_noise_constraint))
        rows = [
            (float(prior.loc), float(prior.scale), *_log_bounds(constraint))
            for prior, constraint in parts
        ]
        table = np.array([rows[0]] * X.shape[-1] + rows[1:])
        self.loc, self.scale, self.bounds = table[:, 0], table[:, 1], table[:, 2:]
        self.precision = 1 / self.scale**2

    @property
    def modes(self) -> Vector:
        """Logarithms of the modes of the priors."""
        return self.loc - self.scale**2

    @property
    def curvature(self) -> Vector:
        """About the second derivatives at a maximum, a start for what is learned of them.

        ``n`` data tell of the output scale as ``n/2`` do of a variance, less for being correlated,
        and as much of all length-scales together.
        """
        n, d = self.X.shape
        of_data = np.full(len(self.loc), 0.5 * n / math.sqrt(d))
        if self.scaled:
            of_data[d] = 0.4 * n
        if self.noise is None:
            of_data[-1] = 2.0
        return of_data + 1 / self.scale**2

    def with_noise(self, noise: float) -> LogDensity:
        """The same for observations of this noise variance, where this one infers it."""
        other = copy.copy(self)
        other.noise = noise
        other.loc, other.scale, other.bounds = self.loc[:-1], self.scale[:-1], self.bounds[:-1]
        other.precision = self.precision[:-1]
        return other

    def __call__(self, p: Vector) -> tuple[float, Vector]:
        """Value and gradient at a vector of logarithms."""
        return self.unless_above(p, math.inf)

    def unless_above(self, p: Vector, limit: float) -> tuple[float, Vector]:
        """Value and gradient; zeros for the latter, at half the cost, if the former is above."""
        with np.errstate(all="ignore"):  # whatever the caller has numpy do about underflow
            return self._value_and_gradient(p, limit)

    def value(self, p: Vector, kernel: Vector | None = None) -> float:
        r"""The value alone, at half the cost.

        Args:
            p: A vector of logarithms.
            kernel: The ``n x n`` prior covariance, if it is known; it is left as it is.

        Returns:
            The value.
        """
        with np.errstate(all="ignore"):
            K = self._kernel(p) if kernel is None else kernel.copy()
            factor, a, c = self._solve(K, p)
            return NOT_POSITIVE_DEFINITE if factor is None else self._value(p, factor, a, c)

    def kernels_along(self, line: Vector) -> Vector:
        r"""Prior covariances at vectors whose length-scales differ by a common factor.

        Args:
            line: ``b x k`` logarithms, with one output scale.

        Returns:
            ``b x n x n``.
        """
        d, first = self.X.shape[-1], line[0]
        shifts = line[:, 0] - first[0]
        with np.errstate(all="ignore"):
            exponents = np.exp(-2 * shifts)[:, None, None] * self._exponent(first)
            if self.scaled:
                exponents += first[d]
            return np.exp(exponents, out=exponents)

    def roughness(self, p: Vector) -> float:
        """The root of the summed squares of inverse length-scales."""
        return float(np.linalg.norm(np.exp(-p[: self.X.shape[-1]])))

    def mean(self, p: Vector) -> float:
        """The prior mean that goes with the other parameters."""
        with np.errstate(all="ignore"):
            return self._solve(self._kernel(p), p)[2]

    def _value_and_gradient(self, p: Vector, limit: float) -> tuple[float, Vector]:
        n, d = self.X.shape
        K = self._kernel(p)
        factor, a, c = self._solve(K.copy(), p)
        if factor is None:
            return NOT_POSITIVE_DEFINITE, np.zeros_like(p)
        value = self._value(p, factor, a, c)
        if value > limit:
            return value, np.zeros_like(p)
        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)  # one triangle, the other being empty
        trace = a @ a - inverse.trace()  # of a a' - C^{-1}
        # Of a symmetric matrix one triangle, twice, has the same sums; no distance to itself.
        weighted = inverse.T
        weighted *= -2.0
        weighted += a[:, None] * a
        weighted *= K
        weighted.reshape(-1)[:: n + 1] = 0.0  # however far away
        # dK_ij / dlog(l_k) = K_ij (x_ik - x_jk)^2 / l_k^2, summed over i and j without storing it
        products = weighted @ self.X_and_ones
        rows = products[:, d] + self.ones @ weighted
        gradient = np.empty_like(p)
        gradient[:d] = np.exp(-2 * p[:d]) * (
            0.5 * (rows @ self.squares) - np.einsum("ij,ij->j", self.X, products[:, :d])
        )
        if self.scaled:
            gradient[d] = 0.25 * (rows @ self.ones) + 0.5 * math.exp(p[d]) * trace
        if self.noise is None:
            gradient[-1] = 0.5 * math.exp(p[-1]) * trace
        return value, 1 + (p - self.loc) * self.precision - gradient

    def _value(self, p: Vector, factor: Vector, a: Vector, c: float) -> float:
        of_data = 0.5 * ((self.y - c) @ a) + np.log(factor.diagonal()).sum()
        deviation = p - self.loc
        return float(of_data + p.sum() + 0.5 * (deviation * deviation) @ self.precision)

    def _exponent(self, p: Vector) -> Vector:
        """Half the squared distances in length-scales, negative, ``n x n``."""
        n, d = self.X.shape
        rates = np.exp(-p[:d])
        scaled = self.X * rates
        halves = self.squares @ (0.5 * rates * rates)
        K = scaled @ scaled.T
        K -= halves
        K -= halves[:, None]
        np.minimum(K, 0.0, out=K)
        K.reshape(-1)[:: n + 1] = 0.0  # but for rounding far from the centre
        return K

    def _kernel(self, p: Vector) -> Vector:
        """The ``n x n`` prior covariance."""
        K = self._exponent(p)
        if self.scaled:
            K += p[self.X.shape[-1]]
        return np.exp(K, out=K)

    def _solve(self, K: Vector, p: Vector) -> tuple[Vector | None, Vector, float]:
        """Cholesky factor of ``C`` (``None`` if there is none), ``a`` and ``c``; ``K`` is lost."""
        K.reshape(-1)[:: len(K) + 1] += math.exp(p[-1]) if self.noise is None else self.noise
        factor, info = dpotrf(K.T, lower=1, overwrite_a=1)
        if info:
            return None, self.y, 0.0
        solved, _ = dpotrs(factor, self.rhs, lower=1)
        c = (self.ones @ solved[:, 0]) / (self.ones @ solved[:, 1])
        return factor, solved[:, 0] - c * solved[:, 1], float(c)


def why_not_covered(model: QuickGP) -> str | None:
    r"""What keeps a model from being fitted by this density.

    Args:
        model: The model.

    Returns:
        ``None`` if its posterior density is the one above, else what is different about it.
    """
    if not model.has_shortcut():
        return "its kernel, mean or transforms are not those of the shortcut"
    kernel = model.covar_module
    scaled = isinstance(kernel, ScaleKernel)
    base = kernel.base_kernel if scaled else kernel
    if base.lengthscale.shape[-1] != model.train_inputs[0].shape[-1]:
        return "it has one length-scale for several dimensions"
    mean: Any = model.mean_module
    if type(mean) is not ConstantMean or [*mean.named_priors(), *mean.named_constraints()]:
        return "its mean is not a constant that is free to be chosen"
    if type(model.likelihood) not in (GaussianLikelihood, FixedNoiseGaussianLikelihood):
        return f"its likelihood is a {type(model.likelihood).__name__}"
    if any(p.requires_grad for p in _parameters_of_inputs(model)):
        return "its input transform has parameters to be learned"
    priors = [getattr(base, "lengthscale_prior", None)]
    if scaled:
        priors.append(getattr(kernel, "outputscale_prior", None))
    if type(model.likelihood) is GaussianLikelihood:
        priors.append(getattr(model.likelihood.noise_covar, "noise_prior", None))
    elif [*model.likelihood.parameters()]:
        return "its likelihood has parameters to be learned beside given variances"
    known: Any = model
    if len([*known.named_priors()]) > len(priors) or not all(map(_is_log_normal, priors)):
        return "not every prior is log-normal, one for all dimensions"
    return None


def _is_log_normal(prior: Any) -> bool:
    return type(prior) is LogNormalPrior and prior.loc.numel() == prior.scale.numel() == 1


def _inputs(model: QuickGP) -> Vector:
    """Training inputs as the kernel sees them, ``n x d``."""
    X, transform = model.train_inputs[0], getattr(model, "input_transform", None)
    with torch.no_grad():
        if transform is not None and is_one_affine_map(transform) and not _learns(transform):
            return to_array((X - transform.offset.to(X)) / transform.coefficient.to(X))
        return to_array(model.transform_inputs(X))


def _learns(transform: Any) -> bool:
    """Whether a transform finds its coefficients from what it is called with."""
    return not transform.transform_on_train or getattr(transform, "learn_coefficients", True)


def _parameters_of_inputs(model: QuickGP) -> list[torch.nn.Parameter]:
    transform = getattr(model, "input_transform", None)
    return [] if transform is None else list(transform.parameters())


def _log_bounds(constraint: Interval | None) -> tuple[float, float]:
    """Logarithms of what a constraint allows, short of its ends."""
    if constraint is None:
        return _WIDEST
    lower, upper = float(constraint.lower_bound), float(constraint.upper_bound)
    low = math.log(lower) if lower > 0 else _WIDEST[0]
    high = min(math.log(upper), _WIDEST[1]) if upper > 0 else _WIDEST[1]
    inside = min(_INSIDE, (high - low) / 4)
    return low + inside, high - inside
