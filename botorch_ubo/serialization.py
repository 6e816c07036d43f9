"""The controller's state to JSON values and back, with every value checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.boxes import check_bounds, check_inside
from botorch_ubo.context import BoxState, StepRecord
from botorch_ubo.records import Certificate, ExpansionRecord

SCHEMA = 1


def state_to_dict(state: BoxState) -> dict[str, Any]:
    """A state as JSON values; floats keep all digits."""
    return {
        "schema": SCHEMA,
        "initial_bounds": state.initial_bounds.tolist(),
        "bounds": state.bounds.tolist(),
        "boxes": None if state.boxes is None else state.boxes.tolist(),
        "num_initial": state.num_initial,
        "num_at_expansion": state.num_at_expansion,
        "num_observed": state.num_observed,
        "fingerprint": state.fingerprint,
        "memory": dict(state.memory),
        "history": [record.to_dict() for record in state.history],
        "trace": [list(astuple(step)) for step in state.trace],
        "certificate": None if state.certificate is None else state.certificate.to_dict(),
    }


def state_from_dict(values: Mapping[str, Any], hard_limits: Tensor) -> BoxState:
    r"""Rebuild a state.

    Args:
        values: What :func:`state_to_dict` returned, also after a trip through JSON.
        hard_limits: ``2 x d`` limits that the boxes must respect.

    Returns:
        The state.

    Raises:
        InputDataError: If something is missing, malformed, or beyond the limits.
    """
    schema = values.get("schema") if isinstance(values, Mapping) else None
    if schema != SCHEMA:
        raise InputDataError(
            f"Expected a state of schema {SCHEMA}; got {schema!r}. It was saved by another version "
            "of botorch_ubo or is not a state."
        )
    try:
        boxes = values["boxes"]
        certificate = values["certificate"]
        num_initial = values["num_initial"]
        state = BoxState(
            initial_bounds=_bounds(values["initial_bounds"], hard_limits),
            bounds=_bounds(values["bounds"], hard_limits),
            boxes=None if boxes is None else torch.stack([_bounds(b, hard_limits) for b in boxes]),
            num_initial=None if num_initial is None else _count(num_initial),
            num_at_expansion=_count(values["num_at_expansion"]),
            num_observed=_count(values["num_observed"]),
            fingerprint=str(values["fingerprint"]),
            memory={str(k): float(v) for k, v in values["memory"].items()},
            history=tuple(ExpansionRecord.from_dict(record) for record in values["history"]),
            trace=tuple(_step_record(*step) for step in values["trace"]),
            certificate=None if certificate is None else Certificate.from_dict(certificate),
        )
    except InputDataError:
        raise
    except Exception as error:
        raise InputDataError(
            f"Expected a complete, well-formed state; got {type(error).__name__}: {error}. Load "
            "what `state_dict` returned, unchanged."
        ) from error
    if state.initial_bounds.shape != state.bounds.shape:
        raise InputDataError("Expected `initial_bounds` and `bounds` of equal shape in the state.")
    if state.boxes is not None and state.boxes.shape[1:] != state.bounds.shape:
        raise InputDataError("Expected `boxes` of the shape of `bounds` in the state.")
    return state


def _bounds(values: Any, hard_limits: Tensor) -> Tensor:
    box = check_bounds(torch.tensor(values, dtype=torch.double), "bounds of the state")
    check_inside(box, hard_limits, "bounds of the state")
    return box


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputDataError(f"Expected a count in the state; got {value!r}.")
    return value


def _step_record(n: Any, epsilon: Any, beta: Any, regret_bound: Any) -> StepRecord:
    known = None if regret_bound is None else float(regret_bound)
    return StepRecord(_count(n), float(epsilon), float(beta), known)
