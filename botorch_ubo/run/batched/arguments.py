"""The arguments of ``BatchedRuns``: checked, and brought to tensors of one dtype and device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.boxes import (
    cast_inward,
    check_bounds,
    check_inside,
    check_resolvable,
    parse_hard_limits,
)
from botorch_ubo.controller.arguments import check_seed
from botorch_ubo.run.arguments import as_bounds, as_count, as_points, as_values


def parse_seeds(seeds: Any) -> list[int]:
    """One seed for each run: a sequence of whole numbers, or how many runs there are."""
    try:
        given = list(seeds)
    except TypeError:
        return list(range(as_count(seeds, "seeds")))
    if not given:
        raise InputDataError("Expected a seed for each run; got none. Pass `seeds=range(30)`.")
    return [check_seed(seed) for seed in given]


def parse_boxes(bounds: Any, R: int) -> Tensor:
    """First boxes, ``R x 2 x d`` in double on the CPU, from one box or one for each run."""
    if isinstance(bounds, Tensor) and bounds.dim() == 3:
        boxes = bounds.detach().to("cpu", torch.double)
    else:
        boxes = as_bounds(bounds).expand(R, -1, -1)
    if len(boxes) != R:
        raise InputDataError(
            f"Expected a first box for each of the {R} seeds; got {len(boxes)} in `bounds`. Pass "
            "one 2 x d box for all runs, or R x 2 x d."
        )
    for box in boxes:
        check_resolvable(check_bounds(box))
    return boxes.clone()


def parse_limits(limits: Any, boxes: Tensor) -> Tensor:
    """Hard limits, ``R x 2 x d`` in double on the CPU, of which each has its first box within."""
    R, _, d = boxes.shape
    if isinstance(limits, Tensor) and limits.dim() == 3:
        if limits.shape != boxes.shape:
            raise InputDataError(
                f"Expected `hard_limits` of shape {tuple(boxes.shape)}; got {tuple(limits.shape)}."
            )
        parsed = torch.stack([parse_hard_limits(rows, d) for rows in limits])
    else:
        parsed = parse_hard_limits(limits, d).expand(R, -1, -1).clone()
    for box, limit in zip(boxes, parsed, strict=True):
        check_inside(box, limit, "`bounds`")
    return parsed


def cast_boxes(boxes: Tensor, like: Tensor) -> Tensor:
    """``R x 2 x d`` boxes in another dtype, rounded inward, on its device."""
    return torch.stack([cast_inward(box, like) for box in boxes])


def parse_data(data: Any, limits: Tensor) -> list[tuple[Tensor, list[float]]]:
    r"""Evaluations that runs start from.

    Args:
        data: One entry for each run: ``(X, Y)``, or ``None``.
        limits: ``R x 2 x d`` hard limits.

    Returns:
        ``n x d`` points and ``n`` values of each run.
    """
    R, _, d = limits.shape
    none = torch.zeros(0, d, dtype=torch.double)
    if data is None:
        return [(none, [])] * R
    if not isinstance(data, Sequence) or len(data) != R:
        raise InputDataError(
            f"Expected `data` as a list with (X, Y) or None for each of the {R} runs; got "
            f"{type(data).__name__} of {len(data) if hasattr(data, '__len__') else 'no'} entries."
        )
    parsed = list[tuple[Tensor, list[float]]]()
    for entry, limit in zip(data, limits, strict=True):
        if entry is None:
            parsed.append((none, []))
            continue
        if not isinstance(entry, Sequence) or len(entry) != 2:
            raise InputDataError(
                "Expected (X, Y) of each run in `data`; got something else. Known variances of the "
                "noise are not supported here: use `UnboundedOptimizer`, one for each run."
            )
        X = as_points(entry[0], d)
        values = as_values(entry[1], len(X), "Y")
        check_inside(X, limit, "the given points")
        parsed.append((X, [value for value in values if isinstance(value, float)]))
    return parsed
