r"""Coordinates: the user's, the model's in which boxes grow, and the kernel's.

Boxes are kept in the user's (raw) units. What a policy computes, it computes in the *model's
space* (logarithms of inputs, for instance), where lengths compare. That is the space after the
model's input transform, as far as the transform can be continued beyond the data dimension by
dimension: ``Normalize``, ``InputStandardize``, ``Log10`` and chains of them. A transform that
cannot (``Warp``, ``Round``) ends it; the rest is between the model's space and the *kernel's*.
"""

from __future__ import annotations

from typing import TypeGuard

import torch
from botorch.exceptions.errors import InputDataError
from botorch.models import MultiTaskGP
from botorch.models.model import Model
from botorch.models.transforms.input import (
    AffineInputTransform,
    ChainedInputTransform,
    InputStandardize,
    InputTransform,
    Log10,
    Normalize,
)
from torch import Tensor

from botorch_ubo.compat.botorch_private import task_structure
from botorch_ubo.models.structure import sub_models


def growing_parts(model: Model) -> tuple[InputTransform, ...]:
    """The leading parts of a model's input transform that can be continued beyond the data."""
    parts = _parts(model)
    count = next((i for i, part in enumerate(parts) if not _can_grow(part)), len(parts))
    return parts[:count]


def covers_kernel_space(model: Model) -> bool:
    """Whether the model's space is the one that its kernel sees."""
    return len(growing_parts(model)) == len(_parts(model))


def to_model_space(model: Model, X: Tensor) -> Tensor:
    """Map raw points or a box (``... x d``) to the model's space."""
    parts = growing_parts(model)
    if not parts:
        return X
    X = _with_task(model, X)
    for part in parts:
        X = _forth(part, X)
    return _without_task(model, X)


def to_kernel_space(model: Model, X: Tensor) -> Tensor:
    """Map raw points or a box (``... x d``) to the space that the model's kernel sees."""
    transform = getattr(model, "input_transform", None)
    if transform is None:
        return X
    return _without_task(model, transform.transform(_with_task(model, X)))


def from_model_space(model: Model, X: Tensor) -> Tensor:
    """The inverse of :func:`to_model_space`; over- and underflow go to the nearest usable float."""
    limits = torch.finfo(X.dtype)
    parts = growing_parts(model)
    raw = _with_task(model, X) if parts else X
    for part in reversed(parts):
        raw = _back(part, raw)
    raw = _without_task(model, raw) if parts else raw
    if any(isinstance(part, Log10) for part in parts):
        # 10^x is zero 324 decades down, and zero has no logarithm to come back by
        raw = torch.where(to_model_space(model, raw).isneginf(), limits.tiny, raw)
    big = limits.max / 4  # a side of the box must not overflow either
    return raw.clamp(-big, big)


def is_one_affine_map(transform: InputTransform) -> TypeGuard[AffineInputTransform]:
    """Whether a transform is ``(X - offset) / coefficient`` of all columns and data alike."""
    return (
        isinstance(transform, AffineInputTransform)
        and not hasattr(transform, "indices")
        and transform.transform_on_eval
        and not transform.reverse
        and transform.coefficient.dim() == 2
    )


def box_to_model_space(model: Model, box: Tensor) -> Tensor:
    r"""Map a box (``... x 2 x d``) to the model's space.

    Raises:
        InputDataError: If it is not within the domain of the input transform.
    """
    mapped = to_model_space(model, box).reshape(box.shape)
    if not mapped.isfinite().all():
        raise InputDataError(
            f"Expected a box within the domain of the model's input transform; {box.tolist()} "
            f"maps to {mapped.tolist()}. A Log10 transform needs positive bounds: set "
            "`hard_limits` with a positive lower limit."
        )
    return mapped


def stretch(model: Model, box: Tensor, part: Model | None = None) -> Tensor | None:
    r"""How much longer lengths are in the kernel's space than in the model's.

    Args:
        model: The model.
        box: A raw ``2 x d`` box, over which the ratio is taken.
        part: The model of a list whose kernel is meant; the model itself by default.

    Returns:
        A ``d``-dim tensor of ratios, or ``None`` if the kernel sees other dimensions.
    """
    part = model if part is None else part
    if part is sub_models(model)[0] and covers_kernel_space(model):
        return torch.ones_like(box[0])
    with torch.no_grad():  # a transform may have parameters
        image = to_kernel_space(part, box)
    if image.shape != box.shape:
        return None
    return ((image[1] - image[0]) / to_model_space(model, box).diff(dim=0).squeeze(0)).abs()


def _forth(part: InputTransform, X: Tensor) -> Tensor:
    if not is_one_affine_map(part) or part.training:
        return part.transform(X)
    # A transform of BoTorch's would take on the precision of X, and checks shapes at some cost.
    return (X - part.offset.to(X)) / part.coefficient.to(X)


def _back(part: InputTransform, X: Tensor) -> Tensor:
    if not is_one_affine_map(part) or part.training:
        back: Tensor = part.untransform(X)
        return back
    return part.coefficient.to(X) * X + part.offset.to(X)


def _with_task(model: Model, X: Tensor) -> Tensor:
    """Points with the column that a multi-task model's transform counts, of the first task."""
    part = sub_models(model)[0]
    if not isinstance(part, MultiTaskGP):
        return X
    feature, tasks = task_structure(part)
    task = torch.full_like(X[..., :1], tasks[0])
    return torch.cat([X[..., :feature], task, X[..., feature:]], dim=-1)


def _without_task(model: Model, X: Tensor) -> Tensor:
    """The inverse of :func:`_with_task`."""
    part = sub_models(model)[0]
    if not isinstance(part, MultiTaskGP):
        return X
    feature, _ = task_structure(part)
    return torch.cat([X[..., :feature], X[..., feature + 1 :]], dim=-1)


def _parts(model: Model) -> tuple[InputTransform, ...]:
    # The models of a list have one space, that of the first.
    transform = getattr(sub_models(model)[0], "input_transform", None)
    if transform is None:
        return ()
    if isinstance(transform, ChainedInputTransform):
        return tuple(transform.values())  # type: ignore[arg-type]  # of input transforms
    return (transform,)


def _can_grow(part: InputTransform) -> bool:
    """Whether a transform is invertible beyond the data, dimension by dimension, and rising."""
    if type(part) in (Normalize, InputStandardize, Log10):
        return True
    return isinstance(part, AffineInputTransform) and bool((part.coefficient > 0).all())
