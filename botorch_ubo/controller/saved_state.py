"""The controller's state to JSON values and back, with every value checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.boxes import check_bounds, check_inside
from botorch_ubo.controller.limits import widest
from botorch_ubo.policies.state import BoxState
from botorch_ubo.records import Certificate, ExpansionRecord, LimitsRecord, StepRecord

SCHEMA = 1


def state_to_dict(state: BoxState) -> dict[str, Any]:
    """A state as JSON values; floats keep all digits."""
    return {
        **head_to_dict(state),
        "history": [record.to_dict() for record in state.history],
        "trace": [list(astuple(step)) for step in state.trace],
    }


def head_to_dict(state: BoxState) -> dict[str, Any]:
    """A state without its records, whose number grows with the run."""
    head = {
        "schema": SCHEMA,
        "initial_bounds": state.initial_bounds.tolist(),
        "bounds": state.bounds.tolist(),
        "boxes": None if state.boxes is None else state.boxes.tolist(),
        "num_initial": state.num_initial,
        "num_at_expansion": state.num_at_expansion,
        "num_observed": state.num_observed,
        "fingerprint": state.fingerprint,
        "memory": dict(state.memory),
        "certificate": None if state.certificate is None else state.certificate.to_dict(),
    }
    # Only where they were set in mid-run, so that other states are as 0.1.0 reads them.
    return {**head, "limits": [it.to_dict() for it in state.limits]} if state.limits else head


def state_from_dict(values: Mapping[str, Any], hard_limits: Tensor) -> BoxState:
    r"""Rebuild a state.

    Args:
        values: What :func:`state_to_dict` returned, also after a trip through JSON. Records may
            be in it as they are.
        hard_limits: ``2 x d`` limits that the boxes must respect, unless the state has others.

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
        limits = tuple(LimitsRecord.from_dict(record) for record in values.get("limits", ()))
        all_limits = widest(hard_limits, limits)
        hard_limits = limits[-1].tensor if limits else hard_limits
        boxes = values["boxes"]
        certificate = values["certificate"]
        num_initial = values["num_initial"]
        state = BoxState(
            initial_bounds=_bounds(values["initial_bounds"], all_limits),
            bounds=_bounds(values["bounds"], hard_limits),
            boxes=None if boxes is None else torch.stack([_bounds(b, hard_limits) for b in boxes]),
            num_initial=None if num_initial is None else _count(num_initial),
            num_at_expansion=_count(values["num_at_expansion"]),
            num_observed=_count(values["num_observed"]),
            fingerprint=str(values["fingerprint"]),
            memory={str(k): float(v) for k, v in values["memory"].items()},
            history=tuple(map(_move_record, values["history"])),
            trace=tuple(map(_step_record, values["trace"])),
            certificate=None if certificate is None else Certificate.from_dict(certificate),
            limits=limits,
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


def _move_record(values: Any) -> ExpansionRecord:
    return values if isinstance(values, ExpansionRecord) else ExpansionRecord.from_dict(values)


def _step_record(values: Any) -> StepRecord:
    if isinstance(values, StepRecord):
        return values
    n, epsilon, beta, regret_bound = values
    return StepRecord(_count(n), float(epsilon), _optional(beta), _optional(regret_bound))


def _optional(value: Any) -> float | None:
    return None if value is None else float(value)
