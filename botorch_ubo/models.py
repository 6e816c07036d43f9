"""Models to start from: the one we recommend, and the one that the paper's experiments used."""

from __future__ import annotations

import warnings

import torch
from botorch.exceptions.errors import ModelFittingError
from botorch.exceptions.warnings import BotorchWarning
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.outcome import Standardize
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from botorch.utils.sampling import manual_seed
from gpytorch.constraints import Interval
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.means import ZeroMean
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

# Of the outcomes' variance: gpytorch rounds fixed noise below 1e-6 up to it, and warns.
_MIN_NOISE = 1.01e-6


def default_model(X: Tensor, Y: Tensor, bounds: Tensor, Yvar: Tensor | None = None) -> SingleTaskGP:
    r"""BoTorch's default GP with inputs in units of the user's first box.

    Fixed units matter: ``Normalize`` without bounds would learn them anew from the growing data,
    and with them shift the length-scale prior at every step.

    Args:
        X: ``n x d`` inputs.
        Y: ``n x 1`` outcomes.
        bounds: The first ``2 x d`` box.
        Yvar: ``n x 1`` observation variances, if known; 0 for exact observations.

    Returns:
        The model, not fitted yet.
    """
    d = X.shape[-1]
    if Yvar is not None:
        Yvar = Yvar.clamp_min(_MIN_NOISE * _scale(Y))
    return SingleTaskGP(
        X,
        Y,
        Yvar,
        # The default kernel, spelled out: SingleTaskGP then does not warn, at every step, that
        # points have left the unit cube, which is what they are meant to do.
        covar_module=get_covar_module_with_dim_scaled_prior(ard_num_dims=d),
        input_transform=Normalize(d, bounds=bounds.to(X)),
    )


def fit_default_model(
    X: Tensor, Y: Tensor, bounds: Tensor, Yvar: Tensor | None = None, seed: int = 0
) -> SingleTaskGP:
    r"""Build the default model and fit it.

    Args:
        X: ``n x d`` inputs.
        Y: ``n x 1`` outcomes.
        bounds: The first ``2 x d`` box.
        Yvar: ``n x 1`` observation variances, if known.
        seed: Seed of the new starting values that a failed fit draws.

    Returns:
        The fitted model. If no fit succeeds, a warning says so and the hyper-parameters are the
        modes of their priors.
    """
    model = default_model(X, Y, bounds, Yvar)
    try:
        with manual_seed(seed):
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    except ModelFittingError as error:
        warnings.warn(
            f"The model could not be fitted ({error}); its hyper-parameters stay at the modes of "
            "their priors for this step.",
            BotorchWarning,
            stacklevel=2,
        )
        model = default_model(X, Y, bounds, Yvar)
        model.eval()
    return model


def published_model(X: Tensor, Y: Tensor) -> SingleTaskGP:
    r"""The GP of the paper's experiments, to be fitted by maximum likelihood.

    One length-scale, an output scale, zero mean after centring, hardly any noise, no priors;
    parameters between 1e-5 and 1e5; inputs in raw units.

    Args:
        X: ``n x d`` inputs.
        Y: ``n x 1`` outcomes.

    Returns:
        The model, not fitted yet.
    """
    kernel = ScaleKernel(
        RBFKernel(lengthscale_constraint=Interval(1e-5, 1e5)),
        outputscale_constraint=Interval(1e-5, 1e5),
    )
    return SingleTaskGP(
        X,
        Y,
        # Theirs was 1e-10.
        train_Yvar=torch.full_like(Y, _MIN_NOISE * _scale(Y)),
        covar_module=kernel,
        mean_module=ZeroMean(),
        outcome_transform=Standardize(1),
    )


def _scale(Y: Tensor) -> float:
    """The variance by which ``Standardize`` divides: 1 for outcomes that do not vary."""
    variance = float(Y.var()) if len(Y) > 1 else 1.0
    return variance if variance >= 1e-16 else 1.0
