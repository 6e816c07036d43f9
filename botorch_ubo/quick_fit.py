r"""Hyper-parameters of a :class:`QuickGP`: the maximum ``fit_gpytorch_mll`` looks for, sooner.

The logarithm of the posterior density of length-scales, output scale and noise is, up to a
constant,

    ``-1/2 (y - c)' C^{-1} (y - c) - 1/2 log det C + log p(l) + log p(s) + log p(noise)``,
    ``C = s R(l) + noise I``,

with ``c = 1' C^{-1} y / 1' C^{-1} 1``, its maximiser, put in for the mean. In logarithms of the
parameters the gradient is ``1/2 tr((a a' - C^{-1}) dC)`` with ``a = C^{-1} (y - c)`` (Rasmussen and
Williams 2006, equation 5.9); written out, an evaluation is a dozen tensor operations.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from botorch.exceptions.errors import ModelFittingError
from gpytorch.kernels import ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.priors import LogNormalPrior
from numpy.typing import NDArray
from scipy.optimize import Bounds, OptimizeResult, minimize
from torch import Tensor

from botorch_ubo.quick_gp import QuickGP

Vector = NDArray[np.float64]

EXACT_NOISE = 1e-6
"""Noise of exact observations, relative to the outcomes' variance: what gpytorch allows."""
MIN_NOISE = 1e-4
"""Least noise that is inferred, as in BoTorch."""
_MUCH_NOISE = 0.3
_NOT_POSITIVE_DEFINITE = 1e10
_OPTIONS = {"maxiter": 100, "ftol": 1e-7, "gtol": 1e-3}  # of a sum over data, not of its mean


class LogDensity:
    """The negative logarithm of the posterior density of the hyper-parameters, with gradient.

    Its argument holds the logarithms of ``d`` length-scales, of the output scale if the kernel has
    one, and of the noise if it is to be inferred.
    """

    def __init__(self, model: QuickGP, noise: Tensor | None) -> None:
        r"""The negative logarithm of the density, with gradient.

        Args:
            model: A model in training mode whose priors are log-normal.
            noise: Known noise variances, a scalar or ``n``-dim; ``None`` to infer one.
        """
        with torch.no_grad():
            X = model.transform_inputs(model.train_inputs[0]).double()
        self.X = X - X.mean(dim=0)
        self.y = model.train_targets.double()
        self.noise = noise
        self.rhs = torch.stack([self.y, torch.ones_like(self.y)], dim=-1)
        kernel = model.covar_module
        self.scaled = isinstance(kernel, ScaleKernel)
        priors = [(kernel.base_kernel if self.scaled else kernel).lengthscale_prior]
        counts = [X.shape[-1]]
        if self.scaled:
            priors.append(kernel.outputscale_prior)
            counts.append(1)
        if noise is None:
            priors.append(model.likelihood.noise_covar.noise_prior)
            counts.append(1)
        self.loc = torch.cat([_parameter(q, "loc", k) for q, k in zip(priors, counts, strict=True)])
        self.scale = torch.cat(
            [_parameter(q, "scale", k) for q, k in zip(priors, counts, strict=True)]
        )

    @property
    def modes(self) -> Vector:
        """Logarithms of the modes of the priors."""
        return (self.loc - self.scale.square()).numpy()

    def __call__(self, p: Vector) -> tuple[float, Vector]:
        """Value and gradient at a vector of logarithms."""
        d = self.X.shape[-1]
        logs = torch.from_numpy(p).to(self.X)
        inverse = torch.exp(-logs[:d])
        scaled, squares = self.X * inverse, self.X.square()
        half_norms = 0.5 * (squares @ inverse.square())
        exponent = (scaled @ scaled.mT - half_norms).sub_(half_norms.unsqueeze(-1))
        exponent.clamp_max_(0.0).fill_diagonal_(0.0)
        K = exponent.exp_()
        if self.scaled:
            K = logs[d].exp() * K
        factor, a, c, noise = self._solve(K, logs)
        if factor is None:
            return _NOT_POSITIVE_DEFINITE, np.zeros_like(p)
        fit = -0.5 * torch.dot(self.y - c, a) - factor.diagonal().log().sum()
        G = torch.outer(a, a).sub_(torch.cholesky_inverse(factor))
        weighted = G * K
        rows = weighted.sum(dim=-1)
        # dK_ij / dlog(l_k) = K_ij (x_ik - x_jk)^2 / l_k^2, summed over i and j without storing it
        by_lengthscale = inverse.square() * (
            squares.mT @ rows - (self.X * (weighted @ self.X)).sum(dim=0)
        )
        gradient = [by_lengthscale]
        if self.scaled:
            gradient.append(0.5 * rows.sum().reshape(1))
        if self.noise is None:
            gradient.append(0.5 * (noise * G.diagonal().sum()).reshape(1))
        deviation = (logs.cpu() - self.loc) / self.scale
        prior = -(logs.cpu() + 0.5 * deviation.square()).sum()
        total = torch.cat(gradient).cpu() - 1 - deviation / self.scale
        return -float(fit) - float(prior), -total.numpy()

    def mean(self, p: Vector) -> Tensor:
        """The prior mean that goes with the other parameters."""
        d = self.X.shape[-1]
        logs = torch.from_numpy(p).to(self.X)
        scaled = self.X / logs[:d].exp()
        K = torch.exp(-0.5 * torch.cdist(scaled, scaled).square())
        return self._solve(logs[d].exp() * K if self.scaled else K, logs)[2]

    def _solve(self, K: Tensor, logs: Tensor) -> tuple[Tensor | None, Tensor, Tensor, Tensor]:
        """Cholesky factor of ``C`` (``None`` if there is none), ``a``, ``c`` and the noise."""
        noise = logs[-1].exp() if self.noise is None else self.noise
        C = K.clone()
        C.diagonal().add_(noise)
        factor, info = torch.linalg.cholesky_ex(C)
        if info:
            return None, self.y, self.y[0], noise
        solved = torch.cholesky_solve(self.rhs, factor)
        c = solved[:, 0].sum() / solved[:, 1].sum()
        return factor, solved[:, 0] - c * solved[:, 1], c, noise


def fit_quick_gp(model: QuickGP, try_exact: bool = True) -> QuickGP:
    r"""Fit a model in place, and put it in evaluation mode.

    The density has several maxima. The search starts from the best of three points between the
    modes and the medians of the length-scales' priors. If the noise is to be inferred, so does
    another from much noise, lest noise be taken for a rough function; and exact observations are
    tried, and win if their density is larger: experiments in silico have no noise, and a GP that
    believes in some cannot finish the last digits.

    Args:
        model: The model, with a squared exponential kernel, scaled or not, and log-normal priors.
        try_exact: Whether observations may turn out to be exact.

    Returns:
        The model.

    Raises:
        ModelFittingError: If no covariance matrix was positive definite.
    """
    model.train()
    infer = isinstance(model.likelihood, GaussianLikelihood)
    if infer:
        density = LogDensity(model, None)
        noisy = _starts(density)[-1]
        noisy[-1] = math.log(_MUCH_NOISE)
        found = min(
            _minimize(density, _starts(density)), _minimize(density, [noisy]), key=lambda r: r.fun
        )
        if try_exact:
            exact = LogDensity(model, density.X.new_tensor(EXACT_NOISE))
            other = _minimize(exact, [*_starts(exact), found.x[:-1]])
            if other.fun < found.fun:
                density, found = exact, other
    else:
        density = LogDensity(model, model.likelihood.noise.double())
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
        model.mean_module.constant.copy_(density.mean(found.x).to(values))
    return model.eval()


def _starts(density: LogDensity) -> list[Vector]:
    """Priors' modes, with length-scales from there to their medians."""
    d = density.X.shape[-1]
    starts = []
    for share in (0.0, 0.5, 1.0):
        start = density.modes.copy()
        start[:d] += share * density.scale[:d].square().numpy()
        starts.append(start)
    return starts


def _minimize(density: LogDensity, starts: list[Vector]) -> OptimizeResult:
    """Descend from the best of the starts."""
    d = density.X.shape[-1]
    lower, upper = np.full(len(starts[0]), -10.0), np.full(len(starts[0]), 10.0)
    lower[:d] = math.log(0.025)  # BoTorch's bound, in units of the first box
    if density.noise is None:
        lower[-1] = math.log(MIN_NOISE)
    starts = [np.clip(start, lower, upper) for start in starts]
    best = min(starts, key=lambda start: density(start)[0])
    bounds = Bounds(lower, upper)
    return minimize(density, best, jac=True, method="L-BFGS-B", bounds=bounds, options=_OPTIONS)


def _parameter(prior: LogNormalPrior, name: str, count: int) -> Tensor:
    return getattr(prior, name).detach().cpu().double().reshape(-1).expand(count)
