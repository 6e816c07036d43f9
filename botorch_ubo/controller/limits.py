"""Hard limits that change in the course of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import torch
from torch import Tensor

from botorch_ubo.boxes import fit_inside, hull
from botorch_ubo.policies.state import BoxState
from botorch_ubo.records import LimitsRecord, as_box


def limit(state: BoxState, old_limits: Tensor, limits: Tensor) -> BoxState:
    r"""Put other hard limits in force.

    Args:
        state: The controller's state.
        old_limits: The ``2 x d`` limits so far.
        limits: The new ones, infinite on free sides.

    Returns:
        The state with a box within them, and with a record of them; the same if nothing changes.
    """
    if torch.equal(limits, old_limits):
        return state
    bounds = fit_inside(state.bounds, limits)
    record = LimitsRecord(
        num_observations=state.num_observed,
        old_limits=as_box(old_limits),
        hard_limits=as_box(limits),
        old_bounds=as_box(state.bounds),
        new_bounds=as_box(bounds),
    )
    return replace(
        state,
        bounds=bounds,
        boxes=None if state.boxes is None else fit_inside(state.boxes, limits),
        limits=(*state.limits, record),
    )


def widest(first: Tensor, records: Iterable[LimitsRecord]) -> Tensor:
    """The hull of all ``2 x d`` limits of a run: within it are all its data."""
    pairs = ((record.old_tensor, record.tensor) for record in records)
    return hull(first, *(limits for pair in pairs for limits in pair))
