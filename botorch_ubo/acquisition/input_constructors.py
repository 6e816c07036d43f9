"""Input constructors, by which Ax builds the acquisition functions of this package.

The registry is keyed by the exact class, so a subclass of BoTorch's needs its own entry.
"""

from __future__ import annotations

from typing import Any

from botorch.acquisition.input_constructors import acqf_input_constructor
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo.acquisition.confidence import (
    LowerConfidenceBound,
    UnboundedUpperConfidenceBound,
)


@acqf_input_constructor(UnboundedUpperConfidenceBound, LowerConfidenceBound)
def construct_inputs_confidence_bound(
    model: Model,
    posterior_transform: PosteriorTransform | None = None,
    beta: float | Tensor = 0.2,
    maximize: bool = True,
) -> dict[str, Any]:
    r"""Construct kwargs for the confidence bounds.

    Args:
        model: The model to be used in the acquisition function.
        posterior_transform: The posterior transform to be used in the acquisition function.
        beta: The trade-off parameter; the default is that of BoTorch's UCB constructor.
        maximize: If True, consider the problem a maximization problem.

    Returns:
        A dict mapping kwarg names of the constructor to values.
    """
    return {
        "model": model,
        "posterior_transform": posterior_transform,
        "beta": beta,
        "maximize": maximize,
    }
