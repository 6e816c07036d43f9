r"""Hyper-parameters of the default model with categories: a density in numpy, and its maximum.

Up to a constant the logarithm of the posterior density is

``-1/2 (y - c)' C^{-1} (y - c) - 1/2 log det C + log p(l) + log p(s) + log p(noise)``,
``C = s exp(-1/2 sum_i (x_i - x_i')^2 / l_i^2 - mean_j [c_j != c_j'] / l_j) + noise I``,

with ``c`` put to its maximiser. In logarithms of the parameters the gradient is
``1/2 tr((a a' - C^{-1}) dC)``, ``a = C^{-1} (y - c)`` (Rasmussen and Williams 2006, equation 5.9).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from botorch.exceptions.errors import ModelFittingError
from botorch.models import SingleTaskGP
from botorch.models.kernels import CategoricalKernel
from gpytorch.kernels import ProductKernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import OptimizeResult, minimize

from botorch_ubo.models.quick import EXACT_NOISE

Vector = NDArray[np.float64]
_IMPOSSIBLE = 1e10
_BOUNDS = (-9.0, 10.0)
_MIN_NOISE = 1e-4  # that is inferred, as in BoTorch
_MUCH_NOISE = 0.3
_MAX_ROUGHENING = 1.2  # ratio of inverse length-scales up to which exact data have even odds
_OPTIONS = {"maxiter": 60, "ftol": 1e-5, "gtol": 1e-2}  # nats: far less than data can tell apart


class MixedLogDensity:
    """The negative log density of length-scales, output scale and (if inferred) noise."""

    def __init__(self, model: SingleTaskGP, noise: float | Vector | None) -> None:
        r"""The negative log density, with gradient.

        Args:
            model: The default model with categories, in training mode.
            noise: Known noise variances, one or ``n``; ``None`` to infer one.
        """
        numbers, categorical = kernel_parts(model)
        with torch.no_grad():
            X = _array(model.transform_inputs(model.train_inputs[0]))
        codes = X[:, _columns(categorical, X.shape[-1])]
        self.differ = (codes[:, None] != codes[None]).transpose(2, 0, 1) / codes.shape[-1]
        self.X = np.empty((len(X), 0))
        if numbers is not None:
            self.X = X[:, _columns(numbers, X.shape[-1])]
            self.X = self.X - self.X.mean(axis=0)
        self.y = _array(model.train_targets)
        self.noise = noise
        priors = [] if numbers is None else [numbers.lengthscale_prior] * self.X.shape[-1]
        priors += [categorical.lengthscale_prior] * len(self.differ)
        priors.append(model.covar_module.outputscale_prior)
        if noise is None:
            priors.append(model.likelihood.noise_covar.noise_prior)
        self.loc = np.array([float(prior.loc) for prior in priors])
        self.scale = np.array([float(prior.scale) for prior in priors])

    @property
    def num_lengths(self) -> tuple[int, int]:
        """The number of length-scales of numbers, and of all."""
        return self.X.shape[-1], self.X.shape[-1] + len(self.differ)

    def __call__(self, p: Vector) -> tuple[float, Vector]:
        """Value and gradient at logarithms of the parameters."""
        m, lengths = self.num_lengths
        K = self._kernel(p)
        solved = self._solve(K, p)
        if solved is None:
            return _IMPOSSIBLE, np.zeros_like(p)
        inverse, a, c, half_log_det = solved
        G = np.outer(a, a) - inverse
        weighted = G * K
        rows = weighted.sum(axis=-1)
        gradient = np.empty_like(p)
        gradient[:m] = np.exp(-2 * p[:m]) * (
            rows @ self.X**2 - (self.X * (weighted @ self.X)).sum(axis=0)
        )
        gradient[m:lengths] = 0.5 * np.exp(-p[m:lengths]) * (self.differ * weighted).sum((1, 2))
        gradient[lengths] = 0.5 * rows.sum()
        if self.noise is None:
            gradient[-1] = 0.5 * np.exp(p[-1]) * G.trace()
        deviation = (p - self.loc) / self.scale
        value = 0.5 * (self.y - c) @ a + half_log_det + (p + 0.5 * deviation**2).sum()
        return float(value), 1 + deviation / self.scale - gradient

    def mean(self, p: Vector) -> float:
        """The prior mean that goes with the other parameters."""
        solved = self._solve(self._kernel(p), p)
        return 0.0 if solved is None else solved[2]

    def roughness(self, p: Vector) -> float:
        """The root of the summed squares of inverse length-scales of numbers."""
        return float(np.linalg.norm(np.exp(-p[: self.X.shape[-1]])))

    def starts(self, log_noise: float | None = None) -> list[Vector]:
        """Modes of the priors, with the length-scales of numbers from there to their medians."""
        m = self.X.shape[-1]
        starts = []
        for share in (0.0, 0.5, 1.0):
            start = self.loc - self.scale**2
            start[:m] += share * self.scale[:m] ** 2
            start[m : self.num_lengths[1]] = self.loc[m : self.num_lengths[1]]
            if log_noise is not None:
                start[-1] = log_noise
            starts.append(start)
        return starts

    def _kernel(self, p: Vector) -> Vector:
        m, lengths = self.num_lengths
        scaled = self.X * np.exp(-p[:m])
        squares = (scaled**2).sum(axis=-1)
        exponent = scaled @ scaled.T - 0.5 * (squares[:, None] + squares)
        exponent = np.minimum(exponent, 0.0) - np.tensordot(np.exp(-p[m:lengths]), self.differ, 1)
        np.fill_diagonal(exponent, 0.0)
        return np.exp(exponent + p[lengths])

    def _solve(self, K: Vector, p: Vector) -> tuple[Vector, Vector, float, float] | None:
        """``C^{-1}``, ``a``, ``c`` and half of ``log det C``."""
        noise = np.exp(p[-1]) if self.noise is None else self.noise
        try:
            factor = cho_factor(K + noise * np.eye(len(K)), lower=True)
        except np.linalg.LinAlgError:
            return None
        inverse = cho_solve(factor, np.eye(len(K)))
        c = float((inverse @ self.y).sum() / inverse.sum())
        return inverse, inverse @ (self.y - c), c, float(np.log(factor[0].diagonal()).sum())


def fit_mixed_gp(model: SingleTaskGP) -> SingleTaskGP:
    r"""Fit the default model with categories in place, and put it in evaluation mode.

    Noise that is not given is inferred, from little and from much, and exact observations are
    tried at even odds, as for the model without categories.

    Args:
        model: What :func:`botorch_ubo.models.default_model` builds with ``categorical``.

    Returns:
        The model.

    Raises:
        ModelFittingError: If no covariance matrix was positive definite.
    """
    model.train()
    if isinstance(model.likelihood, FixedNoiseGaussianLikelihood):
        density = MixedLogDensity(model, _array(model.likelihood.noise))
        found = _descend(density, density.starts())
    else:
        density = MixedLogDensity(model, None)
        found = _descend(density, density.starts())
        noisy = _descend(density, density.starts(math.log(_MUCH_NOISE)))
        found = noisy if noisy.fun < found.fun else found
        exact = MixedLogDensity(model, EXACT_NOISE)
        other = _descend(exact, [*exact.starts(), found.x[:-1]])
        # A density per unit of noise against one without, by Laplace's approximation.
        less = math.log(density.scale[-1]) - found.x[-1]
        smooth = density.roughness(other.x) <= _MAX_ROUGHENING * density.roughness(found.x)
        if other.fun < found.fun + (less if smooth else 0.0):
            density, found = exact, other
    if not found.fun < _IMPOSSIBLE:
        raise ModelFittingError(
            "Expected a positive definite covariance matrix for some hyper-parameters; found none. "
            "Are there observations at one place that contradict each other?"
        )
    _put(model, density, found.x)
    return model.eval()


def kernel_parts(model: SingleTaskGP) -> tuple[Any, CategoricalKernel]:
    """The kernels of the numbers (``None`` if there are none) and of the categories."""
    base = model.covar_module.base_kernel
    if isinstance(base, ProductKernel):
        numbers, categorical = base.kernels
        return numbers, categorical
    return None, base


def _put(model: SingleTaskGP, density: MixedLogDensity, p: Vector) -> None:
    values = torch.from_numpy(p).exp().to(model.train_targets)
    m, lengths = density.num_lengths
    numbers, categorical = kernel_parts(model)
    if numbers is not None:
        numbers.lengthscale = values[:m]
    categorical.lengthscale = values[m:lengths]
    model.covar_module.outputscale = values[lengths]
    if not isinstance(model.likelihood, FixedNoiseGaussianLikelihood):
        model.likelihood.noise = values[-1] if density.noise is None else 1.01 * EXACT_NOISE
    with torch.no_grad():
        model.mean_module.constant.fill_(density.mean(p))


def _descend(density: MixedLogDensity, starts: list[Vector]) -> OptimizeResult:
    """From the best of the starts."""
    bounds = [_BOUNDS] * len(starts[0])
    m, lengths = density.num_lengths
    bounds[m:lengths] = [(-4.0, _BOUNDS[1])] * (lengths - m)  # above the kernel's constraint
    if density.noise is None:
        bounds[-1] = (math.log(_MIN_NOISE), _BOUNDS[1])
    lower, upper = np.array(bounds).T
    clipped = [np.clip(start, lower, upper) for start in starts]
    best = min(clipped, key=lambda start: density(start)[0])
    return minimize(density, best, jac=True, method="L-BFGS-B", bounds=bounds, options=_OPTIONS)


def _columns(kernel: Any, d: int) -> list[int]:
    return list(range(d)) if kernel.active_dims is None else kernel.active_dims.tolist()


def _array(tensor: torch.Tensor) -> Vector:
    array: Vector = tensor.detach().to("cpu", torch.double).numpy()
    return array
