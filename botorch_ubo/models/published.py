"""The GP that the paper's experiments used."""

from __future__ import annotations

import torch
from botorch.models import SingleTaskGP
from gpytorch.constraints import Interval
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.means import ZeroMean
from torch import Tensor

from botorch_ubo.models.outcome_units import RobustStandardize


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
        train_Yvar=torch.zeros_like(Y),  # the least that gpytorch allows; theirs was 1e-10
        covar_module=kernel,
        mean_module=ZeroMean(),
        outcome_transform=RobustStandardize(1),
    )
