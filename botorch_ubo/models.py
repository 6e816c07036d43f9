"""Models to start from: the one we recommend, and the one that the paper's experiments used."""

from __future__ import annotations

import math
import warnings

import torch
from botorch.exceptions.errors import (
    BotorchTensorDimensionError,
    InputDataError,
    ModelFittingError,
)
from botorch.exceptions.warnings import BotorchWarning
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.outcome import Standardize
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from gpytorch.constraints import GreaterThan, Interval
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ZeroMean
from gpytorch.priors import LogNormalPrior
from torch import Tensor

from botorch_ubo.boxes import check_bounds, scale_about_center
from botorch_ubo.quick_fit import EXACT_NOISE, fit_quick_gp
from botorch_ubo.quick_gp import QuickGP

# Of the outcomes' variance: gpytorch rounds fixed noise below 1e-6 up to it, and warns.
_MIN_NOISE = 1.01e-6
_SIDES_PER_UNIT = 3.0
_ONE_PLACE = 0.05  # sides of the first box between evaluations that tell of different places


def default_model(X: Tensor, Y: Tensor, bounds: Tensor, Yvar: Tensor | None = None) -> QuickGP:
    r"""BoTorch's default GP with an output scale, its inputs in units of the user's first box.

    Fixed units matter: ``Normalize`` without bounds would learn them anew from the growing data,
    and with them shift the length-scale prior at every step. The unit is three sides of the box:
    BoTorch's prior is made for the whole of a domain, of which the first box is a part. The output
    scale matters too: without it, values that still rise at the edge of the data can only be
    explained by a short length-scale, and the search creeps where it could stride. The prior of
    the noise is wider than BoTorch's.

    Args:
        X: ``n x d`` inputs.
        Y: ``n x 1`` outcomes.
        bounds: The first ``2 x d`` box.
        Yvar: ``n x 1`` observation variances, if known; 0 for exact observations.

    Returns:
        The model, not fitted yet.
    """
    d = X.shape[-1]
    likelihood = None
    if Yvar is None:
        likelihood = GaussianLikelihood(
            # BoTorch's (-4, 1), around 2 % of the outcomes' variance, is so narrow that a first box
            # full of noise is taken for a rough function. The mode, 1 %, stays low: a little noise
            # smooths over ripples.
            noise_prior=LogNormalPrior(loc=-2.0, scale=1.5),
            noise_constraint=GreaterThan(
                EXACT_NOISE, transform=None, initial_value=math.exp(-4.25)
            ),
        )
    else:
        Yvar = Yvar.clamp_min(_MIN_NOISE * _scale(Y))
    kernel = ScaleKernel(
        get_covar_module_with_dim_scaled_prior(ard_num_dims=d),
        outputscale_prior=LogNormalPrior(loc=2.25, scale=1.5),  # mode 1, the outcomes' variance
        outputscale_constraint=GreaterThan(1e-4, transform=None, initial_value=1.0),
    )
    return QuickGP(
        X,
        Y,
        Yvar,
        likelihood=likelihood,
        covar_module=kernel,
        outcome_transform=Standardize(1, min_stdv=_min_std(Y)),
        input_transform=Normalize(d, bounds=scale_about_center(bounds.to(X), _SIDES_PER_UNIT)),
    ).to(X)


def fit_default_model(
    X: Tensor,
    Y: Tensor,
    bounds: Tensor,
    Yvar: Tensor | None = None,
    maximize: bool = True,
) -> QuickGP:
    r"""Build the default model of tempered outcomes and fit it.

    Args:
        X: ``n x d`` inputs.
        Y: ``n x 1`` outcomes.
        bounds: The first ``2 x d`` box.
        Yvar: ``n x 1`` observation variances, if known.
        maximize: Whether large outcomes are good; see :func:`temper`.

    Returns:
        The fitted model. If no fit succeeds, a warning says so and the hyper-parameters are the
        modes of their priors.
    """
    _check_data(X, Y, bounds, Yvar)
    Y, Yvar = temper(X, Y, bounds, Yvar, maximize)
    try:
        return fit_quick_gp(default_model(X, Y, bounds, Yvar))
    except ModelFittingError as error:
        warnings.warn(
            f"The model could not be fitted ({error}); its hyper-parameters stay at the modes of "
            "their priors for this step.",
            BotorchWarning,
            stacklevel=2,
        )
        return default_model(X, Y, bounds, Yvar).eval()


def temper(
    X: Tensor,
    Y: Tensor,
    bounds: Tensor,
    Yvar: Tensor | None = None,
    maximize: bool = True,
) -> tuple[Tensor, Tensor | None]:
    r"""Bring very bad outcomes nearer; leave good ones as they are.

    A box that grows meets values that are orders of magnitude worse than those of the first box,
    and a GP of standardised outcomes would spend its resolution on them. Outcomes that are more
    than twice as far from the best as the median is are compressed logarithmically, with
    continuous slope. All others, and with them every statement on values near the best, are
    untouched, and so is the order.

    The median is one over places: of evaluations in one spot, as when a search has converged,
    the best one counts. It would otherwise become as good as the best.

    Args:
        X: ``n x d`` inputs.
        Y: ``n x 1`` outcomes.
        bounds: The first ``2 x d`` box.
        Yvar: ``n x 1`` observation variances, if known.
        maximize: Whether large outcomes are good.

    Returns:
        Outcomes and variances to fit.
    """
    sign = 1.0 if maximize else -1.0
    values = sign * Y
    median = values[_places(X / (bounds[1] - bounds[0]).to(X), values)].median()
    scale = values.max() - median
    if not scale > 0:
        return Y, Yvar
    excess = ((median - scale - values) / scale).clamp_min(0.0)
    tempered = torch.where(excess > 0, median - scale * (1 + excess.log1p()), values)
    return sign * tempered, None if Yvar is None else Yvar / (1 + excess).square()


def _check_data(X: Tensor, Y: Tensor, bounds: Tensor, Yvar: Tensor | None) -> None:
    check_bounds(bounds)
    n, d = (len(X), bounds.shape[-1])
    shapes = [("X", X, (n, d)), ("Y", Y, (n, 1)), ("Yvar", Y if Yvar is None else Yvar, (n, 1))]
    for name, tensor, expected in shapes:
        if tensor.shape != expected or n == 0:
            raise BotorchTensorDimensionError(
                f"Expected `{name}` of shape {max(n, 1)} x {expected[1]}, one row per observation "
                f"and at least one; got {tuple(tensor.shape)}. For several outcomes fit one model "
                "each."
            )
        if not tensor.isfinite().all():
            raise InputDataError(
                f"Expected finite numbers in `{name}`; got NaN or infinity. Leave failed "
                "evaluations out of the model."
            )
    if Yvar is not None and (Yvar < 0).any():
        raise InputDataError(
            f"Expected variances >= 0 in `Yvar`; got {float(Yvar.min())}. Pass the square of the "
            "standard deviation."
        )


def _places(X: Tensor, values: Tensor) -> Tensor:
    """Indices of points such that every other is close to a better one of them."""
    free = torch.ones(len(X), dtype=torch.bool, device=X.device)
    chosen = []
    for index in values.squeeze(-1).argsort(descending=True).tolist():
        if free[index]:
            chosen.append(index)
            free &= (X - X[index]).abs().amax(dim=-1) > _ONE_PLACE
    return torch.tensor(chosen, device=X.device)


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
        outcome_transform=Standardize(1, min_stdv=_min_std(Y)),
    )


def _scale(Y: Tensor) -> float:
    """The variance by which ``Standardize`` divides: 1 for outcomes that do not vary."""
    variance = float(Y.var()) if len(Y) > 1 else 1.0
    return variance if variance >= _min_std(Y) ** 2 else 1.0


def _min_std(Y: Tensor) -> float:
    """Standard deviation below which outcomes are taken not to vary: BoTorch's, 1e-8, or rounding.

    Losses in joules may be small; a model that takes them for zeros would search at random.
    """
    rounding = 1e4 * torch.finfo(Y.dtype).eps * float(Y.abs().max())
    return max(min(1e-8, rounding), torch.finfo(Y.dtype).tiny ** 0.5)
