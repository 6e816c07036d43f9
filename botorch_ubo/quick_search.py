"""The local search of ``optimize_acqf`` for :class:`QuickLogExpectedImprovement`.

BoTorch's ``gen_candidates_scipy`` with the tensors left out: the same batched L-BFGS-B, fed by the
formula in numpy, in units of length-scales, in which a step of one is neither long nor short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import UnsupportedError
from botorch.optim.batched_lbfgs_b import fmin_l_bfgs_b_batched
from torch import Tensor

from botorch_ubo.acquisition.quick_improvement import Array, QuickLogExpectedImprovement


def has_quick_search(acq_function: AcquisitionFunction) -> bool:
    """Whether :func:`gen_candidates_quick` can search an acquisition function."""
    return (
        isinstance(acq_function, QuickLogExpectedImprovement) and acq_function.prepare()[0].affine
    )


def gen_candidates_quick(
    initial_conditions: Tensor,
    acquisition_function: AcquisitionFunction,
    lower_bounds: Tensor,
    upper_bounds: Tensor,
    options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> tuple[Tensor, Tensor]:
    r"""Climb from every initial condition; to be passed to ``optimize_acqf``.

    Args:
        initial_conditions: A ``b x 1 x d`` tensor.
        acquisition_function: A ``QuickLogExpectedImprovement`` of a model whose input transform is
            affine.
        lower_bounds: A ``d``-dim tensor.
        upper_bounds: A ``d``-dim tensor.
        options: Keyword arguments of ``fmin_l_bfgs_b_batched``.
        kwargs: What else ``optimize_acqf`` passes; neither fixed features nor a timeout.

    Returns:
        ``b x 1 x d`` candidates and their ``b`` acquisition values.
    """
    if not isinstance(acquisition_function, QuickLogExpectedImprovement) or any(kwargs.values()):
        raise UnsupportedError(
            "Expected a QuickLogExpectedImprovement and neither fixed features nor a timeout; got "
            f"{type(acquisition_function).__name__} with {kwargs}. Use gen_candidates_scipy."
        )
    prepared, formula = acquisition_function.prepare()

    def to_points(X: Tensor) -> Array:
        points: Array = ((X - prepared.origin) * prepared.slope).detach().double().cpu().numpy()
        return points

    def loss(points: Array) -> tuple[Array, Array]:
        values, gradient = formula(points)
        return -values, -gradient

    lower, upper = to_points(torch.stack([lower_bounds, upper_bounds]).to(initial_conditions))
    points, _, _ = fmin_l_bfgs_b_batched(
        loss,
        to_points(initial_conditions.squeeze(-2)),
        bounds=np.stack([lower, upper], axis=-1),
        **(options or {}),
    )
    X = torch.from_numpy(points).to(initial_conditions) / prepared.slope + prepared.origin
    # Back and forth between units may leave the box by a rounding.
    X = torch.minimum(torch.maximum(X, lower_bounds), upper_bounds).unsqueeze(-2)
    with torch.no_grad():
        return X, acquisition_function(X)
