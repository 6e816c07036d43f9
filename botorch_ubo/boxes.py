r"""Algebra of boxes: ``2 x d`` tensors of lower and upper corners, and hard limits on them.

A box may be in the user's (raw) units or in those of the model's space
(:mod:`botorch_ubo.models.space`); the algebra is the same.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.compat.deprecated import moved_names

_ROOM = 1e-8  # of the range of floating point, for a box to grow in
_NUMBERS_PER_SIDE = 1e3

HardLimits = (
    Mapping[int, tuple[float | None, float | None]]
    | Sequence[tuple[float | None, float | None]]
    | Tensor
    | None
)


def check_bounds(bounds: Tensor, name: str = "bounds") -> Tensor:
    r"""Validate a user's box.

    Args:
        bounds: A ``2 x d`` tensor of finite lower and upper corners.
        name: What to call it in an error message.

    Returns:
        A copy of the box.

    Raises:
        InputDataError: If it is not ``2 x d``, floating point, finite and of positive side.
    """
    if not isinstance(bounds, Tensor):
        raise InputDataError(
            f"Expected `{name}` to be a 2 x d tensor; got {type(bounds).__name__}. Use "
            "`torch.tensor([lower, upper], dtype=torch.double)`."
        )
    if bounds.dim() != 2 or bounds.shape[0] != 2 or bounds.shape[1] == 0:
        raise InputDataError(
            f"Expected `{name}` of shape 2 x d (row 0 lower, row 1 upper); got "
            f"{tuple(bounds.shape)}. A list of (lower, upper) pairs needs `.T`."
        )
    if not bounds.is_floating_point():
        raise InputDataError(
            f"Expected floating point `{name}`; got {bounds.dtype}. Use `.double()`: integer "
            "boxes cannot grow by fractions."
        )
    if not bounds.isfinite().all():
        raise InputDataError(
            f"Expected finite `{name}`; got {bounds.tolist()}. Give a rough guess that is finite: "
            "the box grows by itself, and `hard_limits` states what it must not cross."
        )
    if not (bounds[0] < bounds[1]).all():
        dims = (bounds[0] >= bounds[1]).nonzero().flatten().tolist()
        raise InputDataError(
            f"Expected lower < upper in `{name}`; got {bounds.tolist()}, violated in dimension(s) "
            f"{dims}. Swap the rows, or drop a dimension that is fixed."
        )
    return bounds.detach().clone()


def check_resolvable(bounds: Tensor, name: str = "bounds") -> None:
    r"""Refuse a box in which floating point has no room for a search, or none around it.

    Args:
        bounds: A ``2 x d`` box that :func:`check_bounds` has accepted.
        name: What to call it in an error message.

    Raises:
        InputDataError: If a corner or side is close to the largest or smallest number, or a side
            holds fewer than a few thousand numbers.
    """
    limits = torch.finfo(bounds.dtype)
    sides, size = bounds[1] - bounds[0], bounds.abs().amax(dim=0)
    huge, least = limits.max * _ROOM, limits.tiny / _ROOM
    resolved = sides > _NUMBERS_PER_SIDE * limits.eps * size
    bad = ~((size < huge) & (sides > least) & resolved)
    if bad.any():
        raise InputDataError(
            f"Expected `{name}` between {-huge:.0e} and {huge:.0e}, with sides above {least:.0e} "
            f"and above {_NUMBERS_PER_SIDE * limits.eps:.0e} of the corners, so that "
            f"{bounds.dtype} has room to search in and around them; got {bounds.tolist()}, "
            f"violated in dimension(s) {bad.nonzero().flatten().tolist()}. Change the unit, or "
            "subtract an offset."
        )


def parse_hard_limits(limits: HardLimits, d: int) -> Tensor:
    r"""Turn hard limits in any accepted form into a ``2 x d`` double tensor.

    Args:
        limits: ``None``; a mapping from dimension to ``(lower, upper)``; a sequence of ``d`` such
            pairs; or a ``2 x d`` tensor. ``None`` or an infinity leaves a side free.
        d: The number of dimensions.

    Returns:
        A ``2 x d`` tensor with infinities on free sides.
    """
    parsed = torch.tensor([[-math.inf] * d, [math.inf] * d], dtype=torch.double)
    if limits is None:
        return parsed
    if isinstance(limits, Tensor):
        if limits.shape != (2, d):
            raise InputDataError(
                f"Expected `hard_limits` of shape 2 x {d}; got {tuple(limits.shape)}."
            )
        parsed = limits.detach().to("cpu", torch.double, copy=True)
    else:
        try:
            _fill(parsed, limits)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputDataError(
                "Expected `hard_limits` as a dict {dimension: (lower, upper)}, a (lower, upper) "
                f"pair per dimension, or a 2 x d tensor; got {limits!r} ({error})."
            ) from error
    if parsed.isnan().any() or not (parsed[0] < parsed[1]).all():
        raise InputDataError(
            f"Expected lower < upper in `hard_limits`, without NaN; got {parsed.tolist()}. Use "
            "None for a side without a limit."
        )
    return parsed


def _fill(parsed: Tensor, limits: Any) -> None:
    """Write pairs, by dimension or one for each, into a ``2 x d`` tensor."""
    d = parsed.shape[-1]
    if not isinstance(limits, Mapping) and len(limits) != d:
        raise InputDataError(
            f"Expected one (lower, upper) pair of `hard_limits` per dimension ({d}); got "
            f"{len(limits)}. Use a dict {{dimension: (lower, upper)}} to name only some."
        )
    for dim, pair in limits.items() if isinstance(limits, Mapping) else enumerate(limits):
        if not 0 <= operator.index(dim) < d:
            raise InputDataError(f"Expected dimensions 0 to {d - 1} in `hard_limits`; got {dim}.")
        lower, upper = pair
        if isinstance(pair, str | bytes) or any(isinstance(x, str | bytes) for x in pair):
            raise TypeError(f"{pair!r} is a text")  # which converts, but is no number
        parsed[0, dim] = -math.inf if lower is None else float(lower)
        parsed[1, dim] = math.inf if upper is None else float(upper)


def check_inside(X: Tensor, limits: Tensor, name: str) -> None:
    """Raise ``InputDataError`` if a row of ``X`` (``n x d``) is not finite or beyond the limits."""
    X = X.detach().to("cpu", torch.double)
    bad = ~X.isfinite() | (X < limits[0]) | (X > limits[1])
    if bad.any():
        row = int(bad.any(dim=-1).nonzero()[0])
        raise InputDataError(
            f"Expected {name} to be finite and within the hard limits {limits.tolist()}; got "
            f"{X[row].tolist()} (row {row}, dimension(s) {bad[row].nonzero().flatten().tolist()}). "
            "Correct the point, or relax `hard_limits`."
        )


def hull(*boxes: Tensor) -> Tensor:
    """The smallest box that contains all the given ``2 x d`` boxes (or ``n x d`` point sets)."""
    lower = torch.stack([box.amin(dim=0) for box in boxes]).amin(dim=0)
    upper = torch.stack([box.amax(dim=0) for box in boxes]).amax(dim=0)
    return torch.stack([lower, upper])


def pad(box: Tensor, half_widths: Tensor) -> Tensor:
    """Move each face outward by its dimension's half-width."""
    return torch.stack([box[0] - half_widths, box[1] + half_widths])


def clip(box: Tensor, limits: Tensor) -> Tensor:
    """Intersect a box with limits that it overlaps."""
    limits = limits.to(box)
    return box.clamp(min=limits[0], max=limits[1])


def cap_growth(box: Tensor, old: Tensor, max_growth: float) -> Tensor:
    """Let no face move outward from ``old`` by more than ``max_growth`` times the old side."""
    return clip(box, pad(old, max_growth * (old[1] - old[0])))


def scale_about_center(box: Tensor, factor: float) -> Tensor:
    """Multiply every side by ``factor`` about the centre."""
    return pad(box, (factor - 1) / 2 * (box[1] - box[0]))


def log_volume(box: Tensor) -> float:
    """Natural logarithm of the volume: a volume over- or underflows in many dimensions."""
    return float((box[1] - box[0]).log().sum())


def contains(box: Tensor, X: Tensor) -> Tensor:
    """Which rows of ``X`` (``... x d``) lie in the closed box (``...``)."""
    return ((X >= box[0]) & (X <= box[1])).all(dim=-1)


def fit_inside(box: Tensor, limits: Tensor) -> Tensor:
    """Cut ``... x 2 x d`` boxes to limits; move one of which nothing would be left."""
    limits = limits.to(box)
    lower, upper = limits[..., :1, :], limits[..., 1:, :]
    cut = box.clamp(lower, upper)
    center = (box / 2).sum(dim=-2, keepdim=True)  # halves first: the sum may overflow
    moved = (box + (center.clamp(lower, upper) - center)).clamp(lower, upper)
    return torch.where(cut[..., :1, :] < cut[..., 1:, :], cut, moved)


def cast_inward(box: Tensor, like: Tensor) -> Tensor:
    """A copy in dtype and device of ``like``, rounded inward so that no limit is crossed."""
    if box.dtype == like.dtype:
        return box.to(like.device, copy=True)
    cast = box.to(like.dtype)
    infinity = torch.full_like(cast[0], math.inf)
    lower, upper = cast
    lower = torch.where(lower.to(box) < box[0], lower.nextafter(infinity), lower)
    upper = torch.where(upper.to(box) > box[1], upper.nextafter(-infinity), upper)
    return torch.stack([lower, upper]).to(like.device)


__getattr__ = moved_names(
    __name__,
    {name: f"botorch_ubo.models.space.{name}" for name in ("from_model_space", "to_model_space")},
)
