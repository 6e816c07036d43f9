"""What the theorem does not cover is refused in words."""

from __future__ import annotations

import torch
from botorch.acquisition.objective import PosteriorTransform, ScalarizedPosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models import MultiTaskGP
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.transforms.outcome import Standardize
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.models.space import covers_kernel_space, growing_parts
from botorch_ubo.models.training_data import check_fitted, check_one_objective


def check_model(model: ExactGP, posterior_transform: PosteriorTransform | None = None) -> ExactGP:
    r"""Refuse a model that the theorem does not cover, or that was not fitted.

    Args:
        model: Any BoTorch model.
        posterior_transform: What makes one objective of several outputs.

    Returns:
        The model, known to be an exact GP with one mean and one covariance module.

    Raises:
        UnsupportedError: With what was expected, what came and what to do.
    """
    check_exact(model)
    check_fitted(model)
    check_one_objective(model, posterior_transform)
    if not covers_kernel_space(model):
        parts = growing_parts(model)
        transform = model.input_transform
        values = list(transform.values()) if hasattr(transform, "values") else [transform]
        raise UnsupportedError(
            "Expected an input transform that is invertible beyond the data, dimension by "
            "dimension: Normalize, InputStandardize or Log10; got "
            f"{type(values[len(parts)]).__name__}, which the expansion theorem does not cover. "
            "Remove it, apply it to the data before the model, or use a method without the "
            "theorem such as EI-Turns."
        )
    outcome = getattr(model, "outcome_transform", None)
    if not isinstance(outcome, Standardize | None):
        raise UnsupportedError(
            "Expected `outcome_transform` to be Standardize or None, so that the limit of an upper "
            f"confidence bound is linear in the model's; got {type(outcome).__name__}. Transform "
            "the outcomes before the model is built."
        )
    return model


def check_exact(model: ExactGP) -> None:
    """Refuse what is not an exact GP with one mean, one kernel and independent outputs."""
    name = type(model).__name__
    exact = isinstance(model, ExactGP) and isinstance(model, GPyTorchModel)
    whole = hasattr(model, "covar_module") and hasattr(model, "mean_module")
    if not exact or not whole or isinstance(model, MultiTaskGP) or model.train_inputs is None:
        raise UnsupportedError(
            "Expected an exact GP with one mean and one covariance module and its training data; "
            f"got {name}, which the expansion theorem does not cover. Use a SingleTaskGP, an "
            "ensemble of them such as EnsembleMapSaasSingleTaskGP, or a method without the theorem "
            "such as EI-Turns."
        )
    if model.train_targets.shape != model.train_inputs[0].shape[:-1]:
        raise UnsupportedError(
            "Expected independent outputs, with targets of shape "
            f"{tuple(model.train_inputs[0].shape[:-1])}; got {name} with targets of shape "
            f"{tuple(model.train_targets.shape)}. Use a SingleTaskGP instead of a multi-task "
            "model, or a method without the theorem such as EI-Turns."
        )


def check_constant(model: ExactGP, X: Tensor, mean: Tensor, variance: Tensor) -> None:
    r"""Refuse a prior whose mean or variance is not the same everywhere.

    Args:
        model: A model in double precision.
        X: ``batch_shape x n x d`` training inputs as the kernel sees them.
        mean: ``batch_shape x n`` prior means.
        variance: ``batch_shape x n`` prior variances.
    """
    shifted = X + 1e3 * (1 + X.abs().max())  # one datum alone would look constant
    means = torch.cat([mean, model.mean_module(shifted).expand_as(mean)], dim=-1)
    if not torch.allclose(means, means[..., :1], atol=1e-8 * float(variance.max()) ** 0.5):
        raise UnsupportedError(
            "Expected a constant prior mean, so that the upper confidence bound has a limit at "
            f"infinity; got {type(model.mean_module).__name__}. Use ConstantMean or ZeroMean."
        )
    far = model.covar_module(shifted, diag=True).expand_as(variance)
    variance = torch.cat([variance, far], dim=-1)
    if not torch.allclose(variance, variance[..., :1], atol=0.0):
        raise UnsupportedError(
            "Expected a kernel with the same prior variance everywhere (Assumption 4.2); got "
            f"{type(model.covar_module).__name__} with k(x, x) from {variance.min():.3g} to "
            f"{variance.max():.3g}. Use a stationary kernel."
        )


def objective_weights(
    model: ExactGP, posterior_transform: PosteriorTransform | None
) -> tuple[Tensor, float]:
    """``M`` weights and the offset of the objective that a posterior transform makes."""
    if posterior_transform is None:
        return torch.ones(1, dtype=torch.double), 0.0
    if not isinstance(posterior_transform, ScalarizedPosteriorTransform):
        raise UnsupportedError(
            "Expected a ScalarizedPosteriorTransform, which keeps the objective a Gaussian process;"
            f" got {type(posterior_transform).__name__}."
        )
    weights: Tensor = posterior_transform.get_buffer("weights").to(torch.double)
    if weights.numel() != model.num_outputs:
        raise UnsupportedError(
            f"Expected one weight per output ({model.num_outputs}); got {weights.numel()}. Pass "
            "`ScalarizedPosteriorTransform(weights)` with that many weights."
        )
    return weights, float(posterior_transform.offset)
