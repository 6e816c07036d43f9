r"""Hyper-parameters of a :class:`QuickGP`: the maximum ``fit_gpytorch_mll`` looks for, sooner."""

from __future__ import annotations

import torch
from botorch.exceptions.errors import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from gpytorch import Module
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from botorch_ubo.models.quick.density import (
    NOT_POSITIVE_DEFINITE,
    LogDensity,
    why_not_covered,
)
from botorch_ubo.models.quick.factored import to_array
from botorch_ubo.models.quick.gp import QuickGP
from botorch_ubo.models.quick.maxima import EXACT_NOISE, Maximum, find_maximum


def fit_quick_gp(
    model: QuickGP,
    try_exact: bool = True,
    max_roughening: float = 1.2,
) -> QuickGP:
    r"""Fit a model in place, and put it in evaluation mode.

    The density has several maxima. The search starts from the best of a few points on the line
    through modes and medians of the length-scales' priors, and again from what it has found with
    one dimension more that matters, or one less. If the noise is to be inferred, a further search
    starts from much noise, lest noise be taken for a rough function; and exact observations are
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
    if not model.training:
        model.train()
    if why_not_covered(model) is not None:
        # One attempt: further ones would start from draws of the process-wide generator.
        with torch.enable_grad():
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model), max_attempts=1)
        return model.eval()
    infer = not isinstance(model.likelihood, FixedNoiseGaussianLikelihood)
    density = LogDensity(model, None if infer else to_array(model.likelihood.noise))
    found = find_maximum(density, try_exact and infer, max_roughening)
    if not found.value < NOT_POSITIVE_DEFINITE:
        raise ModelFittingError(
            "Expected a positive definite covariance matrix for some hyper-parameters; found none. "
            "Are there observations at one place that contradict each other?"
        )
    _write(found, model, infer)
    return model.eval()


def _write(found: Maximum, model: QuickGP, infer: bool) -> None:
    """Give a model the hyper-parameters of a maximum, and the mean that goes with them."""
    density = found.density
    values = torch.from_numpy(found.p).exp().to(model.train_targets)
    kernel, d = model.covar_module, density.X.shape[-1]
    _set(kernel.base_kernel if density.scaled else kernel, "raw_lengthscale", values[:d])
    if density.scaled:
        _set(kernel, "raw_outputscale", values[d])
    if infer:
        exact = values.new_tensor(1.01 * EXACT_NOISE)
        noise = values[-1] if density.noise is None else exact
        _set(model.likelihood.noise_covar, "raw_noise", noise)
    with torch.no_grad():
        model.mean_module.constant.fill_(density.mean(found.p))


def _set(module: Module, name: str, value: Tensor) -> None:
    """Set a parameter to what its constraint makes of a value, which is known to satisfy it."""
    constraint = module.constraint_for_parameter_name(name)
    raw: Tensor = getattr(module, name)
    with torch.no_grad():
        raw.copy_(value if constraint is None else constraint.inverse_transform(value))
