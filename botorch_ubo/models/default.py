"""The recommended model: built, checked and fitted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import torch
from botorch.exceptions.errors import InputDataError, ModelFittingError
from botorch.exceptions.warnings import BotorchWarning
from botorch.models.transforms import Normalize
from botorch.models.utils import check_no_nans
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.priors import LogNormalPrior
from torch import Tensor

from botorch_ubo.boxes import check_bounds, scale_about_center
from botorch_ubo.models.compression import compress_bad_outcomes
from botorch_ubo.models.mixed import mixed_kernel
from botorch_ubo.models.mixed_fit import fit_mixed_gp
from botorch_ubo.models.outcome_units import RobustStandardize
from botorch_ubo.models.prototype import Prototype
from botorch_ubo.models.quick import (
    EXACT_NOISE,
    QuickGP,
    QuickModelList,
    SelectedGP,
    fit_quick_gp,
)
from botorch_ubo.models.selection import data_that_matter
from botorch_ubo.models.sight import in_sight

_SIDES_PER_UNIT = 3.0
_MAX_SIDES_AWAY = 1e15  # where floating point no longer tells points a side apart


def default_model(
    X: Tensor,
    Y: Tensor,
    bounds: Tensor,
    Yvar: Tensor | None = None,
    categorical: Sequence[int] = (),
) -> QuickGP:
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
        categorical: Columns that hold codes of categories; see
            :func:`botorch_ubo.models.mixed.mixed_kernel`.

    Returns:
        The model, not fitted yet.
    """
    d = X.shape[-1]
    usual = X.dtype == Y.dtype == torch.double and X.dim() == 2 and Y.shape == (len(X), 1)
    if usual and Yvar is None and not categorical:
        # Of data that BoTorch would accept without a word: it is built once and copied.
        check_no_nans(X)
        check_no_nans(Y)
        box = tuple(map(tuple, bounds.tolist()))
        copied: Any = _prototype(box, X.device, torch.get_default_dtype()).copy()
        standardized, _ = copied.outcome_transform.forward(Y)
        copied.set_train_data(X, standardized.squeeze(-1), strict=False)
        return cast(QuickGP, copied)
    unit = scale_about_center(bounds.to(X), _SIDES_PER_UNIT)
    transform: Normalize | None = Normalize(d, bounds=unit)
    if categorical:
        numbers = [i for i in range(d) if i not in set(categorical)]
        transform = Normalize(d, indices=numbers, bounds=unit) if numbers else None
    return QuickGP(
        X,
        Y,
        Yvar,
        likelihood=_likelihood() if Yvar is None else None,
        covar_module=_kernel(d, categorical),
        outcome_transform=RobustStandardize(1),
        input_transform=transform,
    )


@lru_cache(maxsize=16)
def _prototype(
    box: tuple[tuple[float, ...], ...], device: torch.device, default: torch.dtype
) -> Prototype[QuickGP]:
    """The default model for a first box in double, of no data.

    Some of its parts, which no call of ``to`` reaches, are of the default dtype.
    """
    bounds = torch.tensor(box, dtype=torch.double, device=device)
    d = bounds.shape[-1]
    nothing = torch.zeros(1, d + 1, dtype=torch.double, device=device)
    model = QuickGP(
        nothing[:, :d],
        nothing[:, d:],
        likelihood=_likelihood(),
        covar_module=_kernel(d, ()),
        outcome_transform=None,
    )
    model.outcome_transform = RobustStandardize(1)
    model.input_transform = Normalize(d, bounds=scale_about_center(bounds, _SIDES_PER_UNIT))
    return Prototype(model)


def _likelihood() -> GaussianLikelihood:
    return GaussianLikelihood(
        # BoTorch's (-4, 1), around 2 % of the outcomes' variance, is so narrow that a first box
        # full of noise is taken for a rough function. The mode, 1 %, stays low: a little noise
        # smooths over ripples.
        noise_prior=LogNormalPrior(loc=-2.0, scale=1.5),
        noise_constraint=GreaterThan(EXACT_NOISE, transform=None, initial_value=math.exp(-4.25)),
    )


def _kernel(d: int, categorical: Sequence[int]) -> ScaleKernel:
    return ScaleKernel(
        mixed_kernel(d, categorical),
        outputscale_prior=LogNormalPrior(loc=2.25, scale=1.5),  # mode 1, the outcomes' variance
        outputscale_constraint=GreaterThan(1e-4, transform=None, initial_value=1.0),
    )


def fit_default_model(
    X: Tensor,
    Y: Tensor,
    bounds: Tensor,
    Yvar: Tensor | None = None,
    maximize: bool | None = True,
    categorical: Sequence[int] = (),
) -> QuickGP:
    r"""Build the default model and fit it; very bad outcomes are brought nearer.

    Data out of sight of all others (:func:`botorch_ubo.models.sight.in_sight`) are left out. Of
    more than 500 data the model is conditioned on 500
    (:func:`botorch_ubo.models.selection.data_that_matter`), and keeps all.

    Args:
        X: ``n x d`` inputs.
        Y: ``n x 1`` outcomes.
        bounds: The first ``2 x d`` box.
        Yvar: ``n x 1`` observation variances, if known.
        maximize: Whether large outcomes are good; see :func:`compress_bad_outcomes`. ``None``
            if neither is, and none is bad.
        categorical: Columns that hold codes of categories.

    Returns:
        The fitted model. If no fit succeeds, a warning says so and the hyper-parameters are the
        modes of their priors.
    """
    _check_data(X, Y, bounds, Yvar)
    codes = X[:, list(categorical)] if categorical else X[:, :0]
    if not torch.equal(codes, codes.round()):
        raise InputDataError(
            f"Expected whole numbers, codes of categories, in columns {list(categorical)} of `X`; "
            "got others. Bring points to the values of their parameters with `Space.snap`."
        )
    near = in_sight(X, bounds)
    X, Y, Yvar = X[near], Y[near], None if Yvar is None else Yvar[near]
    if maximize is not None:
        Y, Yvar = compress_bad_outcomes(X, Y, bounds, Yvar, maximize)
    selected = data_that_matter(X, Y, bounds, maximize)
    if len(selected) == len(X):
        return _fitted(X, Y, bounds, Yvar, categorical)
    some = X[selected], Y[selected], bounds, None if Yvar is None else Yvar[selected]
    return SelectedGP.of(_fitted(*some, categorical), X, Y, selected)


def _fitted(
    X: Tensor,
    Y: Tensor,
    bounds: Tensor,
    Yvar: Tensor | None,
    categorical: Sequence[int],
) -> QuickGP:
    """The default model of these data, fitted; where they are, if noise is to be inferred."""
    model = default_model(X, Y, bounds, Yvar, categorical)
    try:
        if categorical:
            return fit_mixed_gp(model)
        if X.device.type != "cpu" and Yvar is None:
            # Here, since the engine of many runs asks this module for the default's priors.
            from botorch_ubo.models.batched import fit_on_device

            return fit_on_device(model)
        return fit_quick_gp(model)
    except ModelFittingError as error:
        warnings.warn(
            f"The model could not be fitted ({error}); its hyper-parameters stay at the modes of "
            "their priors for this step.",
            BotorchWarning,
            stacklevel=3,
        )
        return default_model(X, Y, bounds, Yvar, categorical).eval()


def fit_default_models(
    X: Tensor,
    Y: Tensor,
    bounds: Tensor,
    Yvar: Tensor | None = None,
    maximize: Sequence[bool | None] = (),
    categorical: Sequence[int] = (),
) -> QuickModelList:
    r"""Fit the default model to each of several outcomes.

    Args:
        X: ``n x d`` inputs.
        Y: ``n x m`` outcomes.
        bounds: The first ``2 x d`` box.
        Yvar: ``n x m`` observation variances, if known.
        maximize: ``m`` times whether a large outcome is good, or ``None``; none by default.
        categorical: Columns that hold codes of categories.

    Returns:
        The fitted models, as one ``ModelListGP``.
    """
    signs = tuple(maximize) or (None,) * Y.shape[-1]
    if Y.dim() != 2 or len(signs) != Y.shape[-1]:
        raise InputDataError(
            f"Expected `Y` of shape n x m and m entries of `maximize`; got {tuple(Y.shape)} and "
            f"{len(signs)}."
        )
    models = (
        fit_default_model(
            X, Y[:, [i]], bounds, None if Yvar is None else Yvar[:, [i]], sign, categorical
        )
        for i, sign in enumerate(signs)
    )
    return QuickModelList(*models).eval()


def _check_data(X: Tensor, Y: Tensor, bounds: Tensor, Yvar: Tensor | None) -> None:
    check_bounds(bounds)
    n, d = (len(X), bounds.shape[-1])
    shapes = [("X", X, (n, d)), ("Y", Y, (n, 1))]
    if Yvar is not None:
        shapes.append(("Yvar", Yvar, (n, 1)))
    for name, tensor, expected in shapes:
        if tensor.shape != expected or n == 0:
            raise InputDataError(
                f"Expected `{name}` of shape {max(n, 1)} x {expected[1]}, one row per observation "
                f"and at least one; got {tuple(tensor.shape)}. For several outcomes fit one model "
                "each."
            )
        if not tensor.isfinite().all():
            raise InputDataError(
                f"Expected finite numbers in `{name}`; got NaN or infinity. Leave failed "
                "evaluations out of the model."
            )
    largest = torch.finfo(Y.dtype).max ** 0.5
    if Y.abs().max() > largest:
        raise InputDataError(
            f"Expected outcomes whose squares are numbers, up to {largest:.3g} in {Y.dtype}; got "
            f"{float(Y.abs().max()):.3g}. Leave such evaluations out as failed ones, or change the "
            "unit."
        )
    sides = (bounds[1] - bounds[0]).to(X)
    nearest = float(((X - bounds.to(X)[0]) / sides).abs().amax(dim=-1).min())
    if not nearest < _MAX_SIDES_AWAY:
        raise InputDataError(
            f"Expected some datum within {_MAX_SIDES_AWAY:.0e} sides of the first box "
            f"{bounds.tolist()}; the nearest is {nearest:.3g} sides away. Are they in the same "
            "units?"
        )
    if Yvar is not None and (Yvar < 0).any():
        raise InputDataError(
            f"Expected variances >= 0 in `Yvar`; got {float(Yvar.min())}. Pass the square of the "
            "standard deviation."
        )
