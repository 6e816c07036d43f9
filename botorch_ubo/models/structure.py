r"""What a fitted GP tells about itself, whatever its kernel: members, outputs, noise, scales.

``S`` counts the members of an ensemble, ``M`` the outputs that a posterior transform combines;
both are 1 for a plain model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from botorch.acquisition.objective import PosteriorTransform, ScalarizedPosteriorTransform
from botorch.models import MultiTaskGP
from botorch.models.kernels import CategoricalKernel
from botorch.models.model import Model, ModelList
from botorch.models.transforms.outcome import Standardize
from gpytorch.kernels import Kernel, MultitaskKernel, ScaleKernel
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.compat.botorch_private import is_ensemble, task_structure
from botorch_ubo.models.outcome_units import measure


def sub_models(model: Model) -> tuple[Model, ...]:
    """The models of a list, or the model itself."""
    models: Any = model.models if isinstance(model, ModelList) else (model,)
    return tuple(models)


def model_kernel(model: Model) -> Kernel | None:
    """The kernel of one model, also of one that keeps it inside (a variational GP); or none."""
    inner = getattr(model, "model", None)
    kernel = getattr(model, "covar_module", getattr(inner, "covar_module", None))
    # Of correlated outputs, the part that is about inputs.
    return kernel.data_covar_module if isinstance(kernel, MultitaskKernel) else kernel


def input_columns(model: Model, num_columns: int) -> Tensor:
    """Those columns of a kernel's inputs that are inputs of the problem, not tasks."""
    columns = torch.arange(num_columns)
    if not isinstance(model, MultiTaskGP):
        return columns
    return columns[columns != task_structure(model)[0]]


def categorical_columns(model: Model) -> set[int]:
    """Inputs that a kernel takes for categories, of which there is nothing between."""
    kernels = (model_kernel(part) for part in sub_models(model))
    return set().union(*(_categories_below(kernel) for kernel in kernels if kernel is not None))


def _categories_below(kernel: Kernel, columns: Sequence[int] | None = None) -> set[int]:
    """The same of a kernel that sees these columns of the inputs, or all."""
    while isinstance(kernel, ScaleKernel):  # its active dimensions are those of what it scales
        kernel = kernel.base_kernel
    if kernel.active_dims is not None:
        active = kernel.active_dims.tolist()
        columns = active if columns is None else [columns[i] for i in active]
    if isinstance(kernel, CategoricalKernel):
        # Without active dimensions it has all, which are as many as its length-scales.
        return set(range(kernel.ard_num_dims or 1) if columns is None else columns)
    inner: list[Any] = []
    for child in kernel.children():
        inner += child if isinstance(child, torch.nn.ModuleList) else [child]
    parts = (part for part in inner if isinstance(part, Kernel))
    return set().union(*(_categories_below(part, columns) for part in parts))


def member_shape(model: ExactGP) -> tuple[int, int]:
    """``(S, M)``: members of the ensemble, outputs that are combined."""
    if is_ensemble(model):
        return model.batch_shape[0], 1  # a fully Bayesian model keeps one copy of its data
    return 1, model.num_outputs


def objective_noise(
    model: ExactGP, posterior_transform: PosteriorTransform | None = None
) -> Tensor | None:
    r"""The variance of the objective's noise, where it can be read off the model.

    Args:
        model: A fitted GP.
        posterior_transform: What makes one objective of several outputs.

    Returns:
        ``S`` variances in squared raw units, averaged over the data, or ``None`` if noise,
        outcome transform or posterior transform are not of the usual kinds.
    """
    noise = getattr(getattr(model, "likelihood", None), "noise", None)
    scale = objective_scale(model, posterior_transform)
    if noise is None or scale is None:
        return None
    S, M = member_shape(model)
    rows = noise.detach().double().reshape(-1, noise.shape[-1])
    variance = rows.expand(S * M, -1).reshape(S, M, -1).mean(dim=-1)
    return (scale.square() * variance).sum(dim=-1)


def objective_scale(
    model: ExactGP, posterior_transform: PosteriorTransform | None = None
) -> Tensor | None:
    r"""Raw units of the objective per unit of each output of the model.

    Args:
        model: A fitted GP.
        posterior_transform: What makes one objective of several outputs.

    Returns:
        ``S x M`` scales with the weights of a linear posterior transform, in double, or ``None``
        if outcome transform or posterior transform are not linear, or outputs are correlated.
    """
    scalarized = isinstance(posterior_transform, ScalarizedPosteriorTransform | None)
    linear = isinstance(getattr(model, "outcome_transform", None), Standardize | None)
    independent = isinstance(model, ExactGP) and not isinstance(model, MultiTaskGP)
    if not scalarized or not linear or not independent:
        return None
    scale = outcome_scale(model, model.train_targets.double())[1]
    if posterior_transform is not None:
        scale = scale * posterior_transform.get_buffer("weights").to(scale)
    return scale


def outcome_scale(model: ExactGP, like: Tensor) -> tuple[Tensor, Tensor]:
    """``S x M`` means and scales with ``Y_raw = scale * y + mean`` of ``Standardize`` or none."""
    shape = member_shape(model)
    outcome = getattr(model, "outcome_transform", None)
    if outcome is None:
        return like.new_zeros(shape), like.new_ones(shape)
    mean, scale = outcome.means.to(like), outcome.stdvs.to(like)
    # Standardize keeps `batch_shape x 1 x m`; an ensemble repeats its one output.
    count = shape[0] * shape[1]
    return (
        mean.reshape(-1).expand(count).reshape(shape),
        scale.reshape(-1).expand(count).reshape(shape),
    )


def spread(values: Tensor) -> float:
    """Standard deviation of some outcomes of any size; 1 for those that do not vary."""
    _, unit, varies = measure(values.reshape(-1, 1))
    return float(unit) if varies else 1.0
