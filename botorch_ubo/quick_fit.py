r"""Hyper-parameters of a :class:`QuickGP`: the maximum ``fit_gpytorch_mll`` looks for, sooner.

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

import math

import numpy as np
import torch
from botorch.exceptions.errors import ModelFittingError
from gpytorch.kernels import ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.optimize import Bounds, OptimizeResult, minimize
from torch import Tensor

from botorch_ubo.quick_gp import QuickGP

Vector = NDArray[np.float64]

EXACT_NOISE = 1e-6
"""Noise of exact observations, relative to the outcomes' variance: what gpytorch allows."""
MIN_NOISE = 1e-4
"""Least noise that is inferred, as in BoTorch."""
_MUCH_NOISE = 0.3
_HOPELESS = 30.0  # nats that a descent is not expected to make up for
_NOT_POSITIVE_DEFINITE = 1e10
_OPTIONS = {"maxiter": 60, "ftol": 1e-5, "gtol": 1e-2}  # nats: far less than data can tell apart


class LogDensity:
    """The negative logarithm of the posterior density of the hyper-parameters, with gradient.

    Its argument holds the logarithms of ``d`` length-scales, of the output scale if the kernel has
    one, and of the noise if it is to be inferred.
    """

    def __init__(self, model: QuickGP, noise: float | Vector | None) -> None:
        r"""The negative logarithm of the density, with gradient.

        Args:
            model: A model in training mode whose priors are log-normal.
            noise: Known noise variances, one or ``n``; ``None`` to infer one.
        """
        with torch.no_grad():
            X = _array(model.transform_inputs(model.train_inputs[0]))
        self.X = X - X.mean(axis=0)
        self.squares = self.X**2
        self.y = _array(model.train_targets)
        self.noise = noise
        self.rhs = np.stack([self.y, np.ones_like(self.y)], axis=-1)
        kernel = model.covar_module
        self.scaled = isinstance(kernel, ScaleKernel)
        priors = [(kernel.base_kernel if self.scaled else kernel).lengthscale_prior] * X.shape[-1]
        if self.scaled:
            priors.append(kernel.outputscale_prior)
        if noise is None:
            priors.append(model.likelihood.noise_covar.noise_prior)
        self.loc = np.array([float(prior.loc.flatten()[0]) for prior in priors])
        self.scale = np.array([float(prior.scale.flatten()[0]) for prior in priors])

    @property
    def modes(self) -> Vector:
        """Logarithms of the modes of the priors."""
        return self.loc - self.scale**2

    def __call__(self, p: Vector) -> tuple[float, Vector]:
        """Value and gradient at a vector of logarithms."""
        d = self.X.shape[-1]
        K = self._kernel(p)
        factor, a, c = self._solve(K, p)
        if factor is None:
            return _NOT_POSITIVE_DEFINITE, np.zeros_like(p)
        fit = -0.5 * (self.y - c) @ a - np.log(factor.diagonal()).sum()
        inverse, _ = dpotri(factor, lower=1)  # its lower triangle, the upper one being empty
        inverse += inverse.T
        np.fill_diagonal(inverse, 0.5 * inverse.diagonal())
        G = np.outer(a, a) - inverse
        weighted = G * K
        rows = weighted.sum(axis=-1)
        gradient = np.empty_like(p)
        # dK_ij / dlog(l_k) = K_ij (x_ik - x_jk)^2 / l_k^2, summed over i and j without storing it
        gradient[:d] = np.exp(-2 * p[:d]) * (
            rows @ self.squares - (self.X * (weighted @ self.X)).sum(axis=0)
        )
        if self.scaled:
            gradient[d] = 0.5 * rows.sum()
        if self.noise is None:
            gradient[-1] = 0.5 * np.exp(p[-1]) * G.trace()
        deviation = (p - self.loc) / self.scale
        prior = -(p + 0.5 * deviation**2).sum()
        return float(-fit - prior), 1 + deviation / self.scale - gradient

    def roughness(self, p: Vector) -> float:
        """The root of the summed squares of inverse length-scales."""
        return float(np.linalg.norm(np.exp(-p[: self.X.shape[-1]])))

    def mean(self, p: Vector) -> float:
        """The prior mean that goes with the other parameters."""
        return self._solve(self._kernel(p), p)[2]

    def _kernel(self, p: Vector) -> Vector:
        """The ``n x n`` prior covariance."""
        d = self.X.shape[-1]
        scaled = self.X * np.exp(-p[:d])
        half_norms = 0.5 * (scaled**2).sum(axis=-1)
        exponent = scaled @ scaled.T
        exponent -= half_norms
        exponent -= half_norms[:, None]
        np.fill_diagonal(exponent, 0.0)
        if self.scaled:
            exponent += p[d]
        return np.exp(exponent)

    def _solve(self, K: Vector, p: Vector) -> tuple[Vector | None, Vector, float]:
        """Cholesky factor of ``C`` (``None`` if there is none), ``a`` and ``c``."""
        C = K.copy()
        np.fill_diagonal(C, C.diagonal() + (np.exp(p[-1]) if self.noise is None else self.noise))
        factor, info = dpotrf(C, lower=1)
        if info:
            return None, self.y, 0.0
        solved, _ = dpotrs(factor, self.rhs, lower=1)
        c = solved[:, 0].sum() / solved[:, 1].sum()
        return factor, solved[:, 0] - c * solved[:, 1], float(c)


def fit_quick_gp(model: QuickGP, try_exact: bool = True, max_roughening: float = 1.2) -> QuickGP:
    r"""Fit a model in place, and put it in evaluation mode.

    The density has several maxima. The search starts from the best of three points between the
    modes and the medians of the length-scales' priors. If the noise is to be inferred, so does
    another from much noise, lest noise be taken for a rough function; and exact observations are
    tried, at even odds: experiments in silico have no noise, and a GP that believes in some cannot
    finish the last digits. If they make the function rougher they need the larger density: a little
    noise that smooths over ripples lets a search stride where it would creep.

    Args:
        model: The model, with a squared exponential kernel, scaled or not, and log-normal priors.
        try_exact: Whether observations may turn out to be exact.
        max_roughening: Up to this ratio of inverse length-scales (their norms), exact observations
            have even odds.

    Returns:
        The model.

    Raises:
        ModelFittingError: If no covariance matrix was positive definite.
    """
    model.train()
    infer = isinstance(model.likelihood, GaussianLikelihood)
    if infer:
        density = LogDensity(model, None)
        found = _minimize(density, _starts(density))
        noisy = _starts(density)[-1]
        noisy[-1] = math.log(_MUCH_NOISE)
        found = _minimize(density, [noisy], found)
        if try_exact:
            exact = LogDensity(model, EXACT_NOISE)
            # A density per unit of noise against one without: by Laplace's approximation, with a
            # posterior of unit width in log(noise), all noise together has this much less.
            less = math.log(density.scale[-1]) - found.x[-1]
            other = _minimize(exact, [*_starts(exact), found.x[:-1]], found, less)
            smooth = density.roughness(other.x) < max_roughening * density.roughness(found.x)
            if other is not found and (smooth or other.fun < found.fun):
                density, found = exact, other
    else:
        density = LogDensity(model, _array(model.likelihood.noise))
        found = _minimize(density, _starts(density))
    if not found.fun < _NOT_POSITIVE_DEFINITE:
        raise ModelFittingError(
            "Expected a positive definite covariance matrix for some hyper-parameters; found none. "
            "Are there observations at one place that contradict each other?"
        )
    values = torch.from_numpy(found.x).exp().to(model.train_targets)
    d = density.X.shape[-1]
    kernel = model.covar_module
    (kernel.base_kernel if density.scaled else kernel).lengthscale = values[:d]
    if density.scaled:
        kernel.outputscale = values[d]
    if infer:
        model.likelihood.noise = values[-1] if density.noise is None else 1.01 * EXACT_NOISE
    with torch.no_grad():
        model.mean_module.constant.fill_(density.mean(found.x))
    return model.eval()


def _starts(density: LogDensity) -> list[Vector]:
    """Priors' modes, with length-scales from there to their medians."""
    d = density.X.shape[-1]
    starts = []
    for share in (0.0, 0.5, 1.0):
        start = density.modes.copy()
        start[:d] += share * density.scale[:d] ** 2
        starts.append(start)
    return starts


def _minimize(
    density: LogDensity,
    starts: list[Vector],
    rival: OptimizeResult | None = None,
    handicap: float = 0.0,
) -> OptimizeResult:
    """Descend from the best of the starts; the rival, if that comes out or is sure to be better.

    The handicap is the rival's, in nats.
    """
    d = density.X.shape[-1]
    lower, upper = np.full(len(starts[0]), -9.0), np.full(len(starts[0]), 10.0)
    lower[:d] = math.log(0.025)  # BoTorch's bound
    if density.noise is None:
        lower[-1] = math.log(MIN_NOISE)
    starts = [np.clip(start, lower, upper) for start in starts]
    values = [density(start)[0] for start in starts]
    if rival is not None and min(values) > rival.fun + handicap + _HOPELESS:
        return rival
    found = minimize(
        density,
        starts[int(np.argmin(values))],
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(lower, upper),
        options=_OPTIONS,
    )
    return found if rival is None or found.fun < rival.fun + handicap else rival


def _array(tensor: Tensor) -> Vector:
    return tensor.detach().cpu().double().numpy()
