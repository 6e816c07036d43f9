"""Input constructors, by which Ax builds the acquisition functions of this package.

The registry is keyed by the exact class, so a subclass of BoTorch's needs its own entry.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from botorch.acquisition.input_constructors import (
    acqf_input_constructor,
    construct_inputs_best_f,
)
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.sampling.base import MCSampler
from botorch.utils.datasets import SupervisedDataset
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.acquisition.confidence import (
    LowerConfidenceBound,
    UnboundedUpperConfidenceBound,
)
from botorch_ubo.acquisition.incremental import qLogIncrementalExpectedImprovement
from botorch_ubo.acquisition.penalties import HingeQuadraticPenalty, Penalty
from botorch_ubo.acquisition.regularized import LogRegularizedExpectedImprovement
from botorch_ubo.acquisition.variance_cap import VarianceCappedLogExpectedImprovement
from botorch_ubo.models.space import to_model_space
from botorch_ubo.posterior import summarize_posterior

TrainingData = SupervisedDataset | dict[Hashable, SupervisedDataset]


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


@acqf_input_constructor(LogRegularizedExpectedImprovement)
def construct_inputs_regularized(
    model: ExactGP,
    training_data: TrainingData,
    bounds: Sequence[tuple[float, float]],
    posterior_transform: PosteriorTransform | None = None,
    best_f: float | Tensor | None = None,
    maximize: bool = True,
    penalty: type[Penalty] = HingeQuadraticPenalty,
) -> dict[str, Any]:
    r"""Construct kwargs for regularised expected improvement.

    Args:
        model: The model to be used in the acquisition function.
        training_data: Dataset(s) used to train the model, for the default of ``best_f``.
        bounds: One ``(lower, upper)`` pair per dimension, from which the penalty is built.
        posterior_transform: The posterior transform to be used in the acquisition function.
        best_f: Threshold above (or below) which improvement is defined.
        maximize: If True, consider the problem a maximization problem.
        penalty: Class of the penalty.

    Returns:
        A dict mapping kwarg names of the constructor to values.
    """
    box = torch.tensor(bounds).T.to(model.train_targets)
    inputs = construct_inputs_best_f(model, training_data, posterior_transform, best_f, maximize)
    built = penalty.from_bounds(to_model_space(model, box).reshape(box.shape))
    return {**inputs, "penalty": built}


@acqf_input_constructor(qLogIncrementalExpectedImprovement)
def construct_inputs_incremental(
    model: Model,
    training_data: TrainingData,
    posterior_transform: PosteriorTransform | None = None,
    best_f: float | Tensor | None = None,
    sampler: MCSampler | None = None,
    X_pending: Tensor | None = None,
) -> dict[str, Any]:
    r"""Construct kwargs for incremental expected improvement.

    Args:
        model: The model to be used in the acquisition function.
        training_data: Dataset(s) used to train the model, for the default of ``best_f``.
        posterior_transform: The posterior transform to be used in the acquisition function.
        best_f: Threshold above which improvement is defined.
        sampler: The sampler used to draw base samples.
        X_pending: ``m x d`` points that are being evaluated.

    Returns:
        A dict mapping kwarg names of the constructor to values.
    """
    inputs = construct_inputs_best_f(model, training_data, posterior_transform, best_f)
    del inputs["maximize"]
    return {**inputs, "sampler": sampler, "X_pending": X_pending}


@acqf_input_constructor(VarianceCappedLogExpectedImprovement)
def construct_inputs_variance_cap(
    model: ExactGP,
    training_data: TrainingData,
    posterior_transform: PosteriorTransform | None = None,
    best_f: float | Tensor | None = None,
    maximize: bool = True,
    variance_cap: float = 0.632,
) -> dict[str, Any]:
    r"""Construct kwargs for variance-capped expected improvement.

    Args:
        model: The model to be used in the acquisition function.
        training_data: Dataset(s) used to train the model, for the default of ``best_f``.
        posterior_transform: The posterior transform to be used in the acquisition function.
        best_f: Threshold above (or below) which improvement is defined.
        maximize: If True, consider the problem a maximization problem.
        variance_cap: The cap as a fraction of the prior variance.

    Returns:
        A dict mapping kwarg names of the constructor to values.
    """
    inputs = construct_inputs_best_f(model, training_data, posterior_transform, best_f, maximize)
    prior = summarize_posterior(model, posterior_transform).sigma_at_infinity.square().mean()
    return {**inputs, "max_variance": variance_cap * float(prior)}
