"""A trial: a point to evaluate, and what became of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

import numpy as np
import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.records.json_values import (
    read_choice,
    read_count,
    read_fields,
    read_finite,
    read_text,
)

Status = Literal["pending", "completed", "failed"]
PENDING: Status = "pending"
COMPLETED: Status = "completed"
FAILED: Status = "failed"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One evaluation, asked for or handed in; frozen, so that a copy never changes unseen."""

    id: int
    X: tuple[float, ...]
    """The point, in raw units."""
    status: Status = PENDING
    """``"pending"``, ``"completed"`` or ``"failed"``."""
    value: float | tuple[float, ...] | None = None
    """The outcome in the user's sign, for a completed trial; a tuple of several outcomes."""
    variance: float | tuple[float, ...] | None = None
    """The variance of its observation noise, if known."""
    reason: str = ""
    """Why it failed."""
    order: int | None = None
    """Grows in the order in which results came in."""
    asked: bool = True
    """False for data that were handed in without having been asked for."""
    params: Mapping[str, Any] | None = field(default=None, compare=False)
    """The point as values by name, if parameters have names; ``X`` are then coordinates."""

    @property
    def point(self) -> Any:
        """What the objective is called with."""
        return self.X if self.params is None else dict(self.params)

    def __len__(self) -> int:
        """The number of inputs."""
        return len(self.X)

    def __iter__(self) -> Iterator[float]:
        """Iterate over the inputs: ``f(*trial)`` works."""
        return iter(self.X)

    def point_to_dict(self) -> dict[str, Any]:
        """What there is to say before the outcome, as JSON values."""
        return {"id": self.id, "X": list(self.X), "asked": self.asked}

    def outcome_to_dict(self) -> dict[str, Any]:
        """The outcome as JSON values."""
        return {
            "trial": self.id,
            "order": self.order,
            "status": self.status,
            "value": _to_json(self.value),
            "variance": _to_json(self.variance),
            "reason": self.reason,
        }

    @classmethod
    def from_point_dict(cls, values: Any) -> Trial:
        """The inverse of :meth:`point_to_dict`, with every value checked."""
        values = read_fields(values, {"id", "X", "asked"}, "trial")
        if not isinstance(values["X"], list | tuple) or not isinstance(values["asked"], bool):
            raise InputDataError(f"Expected a well-formed trial; got {dict(values)}.")
        return cls(
            id=read_count(values["id"]),
            X=tuple(map(read_finite, values["X"])),
            asked=values["asked"],
        )

    @staticmethod
    def outcome_from_dict(values: Any) -> tuple[int, dict[str, Any]]:
        """The id of a trial and its outcome's fields: the inverse of :meth:`outcome_to_dict`."""
        names = {"trial", "order", "status", "value", "variance", "reason"}
        values = read_fields(values, names, "outcome")
        return read_count(values["trial"]), {
            "order": read_count(values["order"]),
            "status": cast(Status, read_choice(values["status"], get_args(Status))),
            "value": _optional(_read_numbers, values["value"]),
            "variance": _optional(_read_numbers, values["variance"]),
            "reason": read_text(values["reason"]),
        }

    def check(self) -> None:
        """Raise if the outcome is none that a trial can have."""
        completed = self.status == COMPLETED
        if (
            (self.value is not None) != completed
            or (self.order is None) != (self.status == PENDING)
            or (self.variance is not None and not (completed and least(self.variance) >= 0))
        ):
            raise InputDataError(f"Expected a consistent trial; got {self}.")


def as_tensor(trials: Sequence[Trial]) -> Tensor:
    """The points of some trials as an ``n x d`` double tensor."""
    return torch.tensor([trial.X for trial in trials], dtype=torch.double)


def as_number(value: Any, name: str) -> float:
    r"""Bring an outcome to a float.

    Args:
        value: A number, also of numpy or in an array or tensor with one element.
        name: What to call it in an error message.

    Returns:
        The float; NaN and infinities are let through.

    Raises:
        InputDataError: If it is not one number.
    """
    item = getattr(value, "item", None)
    try:
        number = item() if callable(item) else value
        # A text converts but is none; a masked value says that there is none, and converts to 0.
        if isinstance(number, str | bytes | bytearray | None) or np.ma.is_masked(value):
            raise TypeError
        return float(number)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        several = (
            " For several objectives pass a direction of each, `direction=['minimize', "
            "'maximize']`, say, and with constraints their number, `constraints=1`."
        )
        raise InputDataError(
            f"Expected {name} to be one number; got {value!r} ({type(value).__name__}). Return a "
            "float, or an array or tensor with one element."
            f"{several if hasattr(value, '__len__') and not isinstance(value, str | bytes) else ''}"
        ) from error


def as_text(value: Any) -> str:
    """A text of anything: an exception may raise when it is asked what it says."""
    try:
        return str(value)
    except Exception as error:
        return f"{type(value).__name__} (which could not be printed: {type(error).__name__})"


def least(value: float | tuple[float, ...]) -> float:
    """The smallest of some numbers."""
    return min(value) if isinstance(value, tuple) else value


def largest_size(value: float | tuple[float, ...]) -> float:
    """The largest size of some numbers; NaN if one is."""
    numbers = value if isinstance(value, tuple) else (value,)
    return max((abs(x) for x in numbers), key=lambda x: math.inf if math.isnan(x) else x)


def _read_numbers(value: Any) -> Any:
    if value == []:
        raise InputDataError("Expected a number, or several; got none.")
    return tuple(map(read_finite, value)) if isinstance(value, list) else read_finite(value)


def _to_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _optional(read: Any, value: Any) -> Any:
    return None if value is None else read(value)
