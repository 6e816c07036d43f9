"""The local search of ``optimize_acqf`` for :class:`QuickLogExpectedImprovement`.

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
from botorch.generation import gen
from torch import Tensor

from botorch_ubo.acquisition.quick_improvement import Array, QuickLogExpectedImprovement

# BoTorch has it for the versions of scipy whose L-BFGS-B it knows; with others it searches itself.
fmin_l_bfgs_b_batched: Any = getattr(gen, "fmin_l_bfgs_b_batched", None)


def has_quick_search(acq_function: AcquisitionFunction) -> bool:
    """Whether :func:`gen_candidates_quick` can search an acquisition function."""
    return (
        fmin_l_bfgs_b_batched is not None
        # No subclass, whose values may be others.
        and type(acq_function) is QuickLogExpectedImprovement
        and acq_function.prepare()[0].affine
    )


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
    quick = has_quick_search(acquisition_function)
    if not quick or fixed_features or timeout_sec is not None or lower_bounds is None:
        raise UnsupportedError(
            "Expected a QuickLogExpectedImprovement of a model with an affine input transform, "
            "finite bounds, and neither fixed features nor a timeout; got "
            f"{type(acquisition_function).__name__}, bounds from {lower_bounds}, "
            f"{fixed_features=} and {timeout_sec=}. Use gen_candidates_scipy."
        )
    assert isinstance(acquisition_function, QuickLogExpectedImprovement)
    prepared, formula = acquisition_function.prepare()
    box = torch.stack([lower_bounds, upper_bounds]).to(initial_conditions)

    def to_points(X: Tensor) -> Array:
        points: Array = ((X - prepared.origin) * prepared.slope).detach().cpu().double().numpy()
        return points

    def loss(points: Array) -> tuple[Array, Array]:
        values, gradient = formula(points)
        return -values, -gradient

    points, _, _ = fmin_l_bfgs_b_batched(
        loss,
        to_points(initial_conditions.squeeze(-2)),
        bounds=np.sort(to_points(box), axis=0).T,  # a transform may turn a dimension round
        **(options or {}),
    )
    X = torch.from_numpy(points).to(box) / prepared.slope + prepared.origin
    # Back and forth between units may leave the box by a rounding.
    X = torch.minimum(torch.maximum(X, box[0]), box[1]).unsqueeze(-2)
    with torch.no_grad():
        return X, acquisition_function(X).nan_to_num(nan=-torch.inf)
