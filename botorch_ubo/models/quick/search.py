"""The local search of ``optimize_acqf`` for acquisition functions with a formula in numpy.

The batched L-BFGS-B of BoTorch's ``gen_candidates_scipy``, fed by the formula in numpy, in units of
length-scales, in which a step of one is neither long nor short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import UnsupportedError
from torch import Tensor

from botorch_ubo.compat.botorch_private import fmin_l_bfgs_b_batched
from botorch_ubo.models.quick.factored import Array
from botorch_ubo.models.quick.written_out import closed_form


def has_quick_search(acq_function: AcquisitionFunction) -> bool:
    """Whether :func:`gen_candidates_quick` can search an acquisition function."""
    return fmin_l_bfgs_b_batched is not None and closed_form(acq_function) is not None


def gen_candidates_quick(
    initial_conditions: Tensor,
    acquisition_function: AcquisitionFunction,
    lower_bounds: Tensor,
    upper_bounds: Tensor,
    options: dict[str, Any] | None = None,
    fixed_features: Mapping[int, float | Tensor] | None = None,
    timeout_sec: float | None = None,
) -> tuple[Tensor, Tensor]:
    r"""Climb from every initial condition; to be passed to ``optimize_acqf``.

    Args:
        initial_conditions: A ``b x 1 x d`` tensor, inside the bounds.
        acquisition_function: One for which :func:`has_quick_search` is true.
        lower_bounds: A ``d``-dim tensor of finite numbers.
        upper_bounds: A ``d``-dim tensor of finite numbers.
        options: Keyword arguments of ``fmin_l_bfgs_b_batched``.
        fixed_features: Not supported, as is a timeout: here because ``optimize_acqf`` passes them.
        timeout_sec: See above.

    Returns:
        ``b x 1 x d`` candidates and their ``b`` acquisition values.
    """
    quick = closed_form(acquisition_function)
    if quick is None or fixed_features or timeout_sec is not None or lower_bounds is None:
        raise UnsupportedError(
            "Expected an acquisition function with a formula, such as QuickLogExpectedImprovement "
            "of a model with an affine input transform, finite bounds, and neither fixed features "
            f"nor a timeout; got {type(acquisition_function).__name__}, bounds from "
            f"{lower_bounds}, {fixed_features=} and {timeout_sec=}. Use gen_candidates_scipy."
        )
    box = torch.stack([lower_bounds, upper_bounds]).to(initial_conditions)

    def loss(points: Array) -> tuple[Array, Array]:
        values, gradient = quick.formula(points)
        return -values, -gradient

    with np.errstate(all="ignore"):  # whatever the caller has numpy do about underflow
        points, _, _ = fmin_l_bfgs_b_batched(
            loss,
            quick.to_points(initial_conditions.squeeze(-2)),
            # a transform may turn a dimension round
            bounds=np.sort(quick.to_points(box), axis=0).T,
            **(options or {}),
        )
    # Back and forth between units may leave the box by a rounding.
    X = torch.minimum(torch.maximum(quick.to_raw(points).to(box), box[0]), box[1]).unsqueeze(-2)
    with torch.no_grad():
        return X, acquisition_function(X).nan_to_num(nan=-torch.inf)
