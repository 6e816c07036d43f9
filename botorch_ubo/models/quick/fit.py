r"""Hyper-parameters of a :class:`QuickGP`: the maximum ``fit_gpytorch_mll`` looks for, sooner."""

from __future__ import annotations

import math

import numpy as np
import torch
from botorch.exceptions.errors import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from gpytorch.mlls import ExactMarginalLogLikelihood
from scipy.optimize import Bounds, OptimizeResult, minimize

from botorch_ubo.models.quick.density import (
    NOT_POSITIVE_DEFINITE,
    LogDensity,
    Vector,
    why_not_covered,
)
from botorch_ubo.models.quick.factored import to_array
from botorch_ubo.models.quick.gp import QuickGP

EXACT_NOISE = 1e-6
"""Noise of exact observations, relative to the outcomes' variance: what gpytorch allows."""
MIN_NOISE = 1e-4
"""Least noise that is inferred, as in BoTorch, where the model's constraint allows less."""
_MUCH_NOISE = 0.3
_HOPELESS = 30.0  # nats that a descent is not expected to make up for
START_SHARES = (-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0)  # of the way from the mode to the median
_OPTIONS = {"maxiter": 60, "ftol": 1e-5, "gtol": 1e-2}  # nats: far less than data can tell apart


def fit_quick_gp(model: QuickGP, try_exact: bool = True, max_roughening: float = 1.2) -> QuickGP:
    r"""Fit a model in place, and put it in evaluation mode.

    The density has several maxima. The search starts from the best of a few points on the line
    through modes and medians of the length-scales' priors. If the noise is to be inferred, so does
    another from much noise, lest noise be taken for a rough function; and exact observations are
    tried, at even odds: experiments in silico have no noise, and a GP that believes in some cannot
    finish the last digits. If they make the function rougher they need the larger density: a little
    noise that smooths over ripples lets a search stride where it would creep.

    A model for which the formulas do not hold (:func:`why_not_covered`: another kernel, other
    priors, a mean or an input transform with parameters) is fitted by BoTorch's own
    ``fit_gpytorch_mll``, and the other arguments have no effect.

    Args:
        model: The model, with a squared exponential kernel per dimension, scaled or not, and
            log-normal priors, for the quick way.
        try_exact: Whether observations may turn out to be exact.
        max_roughening: Up to this ratio of inverse length-scales (their norms), exact observations
            have even odds.

    Returns:
        The model.

    Raises:
        ModelFittingError: If no covariance matrix was positive definite.
    """
    model.train()
    if why_not_covered(model) is not None:
        # One attempt: further ones would start from draws of the process-wide generator.
        with torch.enable_grad():
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model), max_attempts=1)
        return model.eval()
    infer = not isinstance(model.likelihood, FixedNoiseGaussianLikelihood)
    if infer:
        density = LogDensity(model, None)
        found = _minimize(density, _starts(density))
        noisy = _starts(density)[-1]
        noisy[-1] = math.log(_MUCH_NOISE)
        found = _minimize(density, [noisy], found)
        if try_exact and density.bounds[-1, 0] < math.log(1.01 * EXACT_NOISE):
            exact = density.with_noise(EXACT_NOISE)
            # A density per unit of noise against one without: by Laplace's approximation, with a
            # posterior of unit width in log(noise), all noise together has this much less.
            less = math.log(density.scale[-1]) - found.x[-1]
            other = _minimize(exact, [*_starts(exact), found.x[:-1]], found, less)
            smooth = density.roughness(other.x) < max_roughening * density.roughness(found.x)
            if other is not found and (smooth or other.fun < found.fun):
                density, found = exact, other
    else:
        density = LogDensity(model, to_array(model.likelihood.noise))
        found = _minimize(density, _starts(density))
    if not found.fun < NOT_POSITIVE_DEFINITE:
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
    """Priors' modes, with length-scales from below them to their medians.

    The value alone is had at less than half the cost of a step, so they are many.
    """
    d = density.X.shape[-1]
    starts = []
    for share in START_SHARES:
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
    lower, upper = density.bounds.T.copy()
    if density.noise is None:
        lower[-1] = max(lower[-1], math.log(MIN_NOISE))
    starts = [np.clip(start, lower, upper) for start in starts]
    values = [density.value(start) for start in starts]
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
