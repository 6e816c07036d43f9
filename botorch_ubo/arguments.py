"""A user's arguments: brought to one form, and to one that can be compared after a resume."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import botorch
import gpytorch
import numpy as np
import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

Bounds = Tensor | Sequence[Sequence[float]] | Any


def as_bounds(bounds: Bounds) -> Tensor:
    r"""Bring a rough guess to a ``2 x d`` double tensor.

    Args:
        bounds: ``d`` pairs ``(lower, upper)`` as nested sequences or a ``d x 2`` array, or a
            ``2 x d`` tensor.

    Returns:
        The tensor; :class:`ExpandingBounds` checks its values.
    """
    if isinstance(bounds, Tensor):
        return bounds.detach().to("cpu", torch.double)
    try:
        pairs = [(float(lower), float(upper)) for lower, upper in bounds]
    except (TypeError, ValueError) as error:
        raise InputDataError(
            "Expected `bounds` as (lower, upper) pairs, one per dimension, or as a 2 x d tensor; "
            f"got {bounds!r}."
        ) from error
    if not pairs:
        raise InputDataError("Expected `bounds` of at least one dimension; got none.")
    return torch.tensor(pairs, dtype=torch.double).T


def as_points(X: Any, d: int) -> Tensor:
    r"""Bring points to an ``n x d`` double tensor.

    Args:
        X: ``n x d`` numbers as a tensor, an array, a data frame or nested sequences.
        d: The number of inputs.

    Returns:
        The tensor.
    """
    points = _as_double(X, "X")
    if points.dim() != 2 or points.shape[-1] != d:
        raise InputDataError(
            f"Expected points as n x {d} numbers, one row per point; got shape "
            f"{tuple(points.shape)}."
        )
    return points


def as_values(values: Any, count: int, name: str) -> list[float]:
    r"""Bring one number per point to a list.

    Args:
        values: ``n`` or ``n x 1`` numbers in any form.
        count: ``n``.
        name: What to call them in an error message.

    Returns:
        The list.
    """
    numbers = _as_double(values, name)
    if tuple(numbers.shape) not in ((count,), (count, 1)):
        raise InputDataError(
            f"Expected one number of `{name}` for each of the {count} points; got shape "
            f"{tuple(numbers.shape)}."
        )
    return numbers.flatten().tolist()


def describe_options(options: dict[str, Any]) -> dict[str, str]:
    """Options as texts that are the same in another process: without addresses in memory."""
    return {key: _describe(value) for key, value in sorted(options.items())}


def describe_limits(limits: Tensor) -> list[list[float | None]]:
    """Limits as JSON values, with ``None`` for a free side."""
    return [[x if math.isfinite(x) else None for x in row] for row in limits.tolist()]


def versions() -> dict[str, str]:
    """Versions on which proposals depend, to the last digit."""
    modules = (torch, gpytorch, botorch)
    return {module.__name__: str(module.__version__) for module in modules}


def _describe(value: Any) -> str:
    if isinstance(value, Tensor):
        return repr(value.tolist())
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _as_double(values: Any, name: str) -> Tensor:
    if isinstance(values, Tensor):
        return values.detach().to("cpu", torch.double)
    try:
        return torch.from_numpy(np.array(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputDataError(f"Expected numbers in `{name}`; got {values!r}.") from error
