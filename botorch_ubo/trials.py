"""A trial: a point to evaluate, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.json_values import read_count, read_fields, read_finite, read_text

PENDING, COMPLETED, FAILED = "pending", "completed", "failed"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One evaluation, asked for or handed in; frozen, so that a copy never changes unseen."""

    id: int
    X: tuple[float, ...]
    """The point, in raw units."""
    status: str = PENDING
    """``"pending"``, ``"completed"`` or ``"failed"``."""
    value: float | None = None
    """The outcome in the user's sign, for a completed trial."""
    variance: float | None = None
    """The variance of its observation noise, if known."""
    reason: str = ""
    """Why it failed."""
    order: int | None = None
    """Grows in the order in which results came in."""
    asked: bool = True
    """False for data that were handed in without having been asked for."""

    def __len__(self) -> int:
        """The number of inputs."""
        return len(self.X)

    def __iter__(self) -> Iterator[float]:
        """Iterate over the inputs: ``f(*trial)`` works."""
        return iter(self.X)

    def to_dict(self) -> dict[str, Any]:
        """A dict of JSON values."""
        return {**asdict(self), "X": list(self.X)}

    @classmethod
    def from_dict(cls, values: Any) -> Trial:
        """The inverse of :meth:`to_dict`, with every value checked."""
        values = read_fields(values, {field.name for field in fields(cls)}, "trial")
        if not isinstance(values["X"], list | tuple) or not isinstance(values["asked"], bool):
            raise InputDataError(f"Expected a well-formed trial; got {dict(values)}.")
        trial = cls(
            id=read_count(values["id"]),
            X=tuple(map(read_finite, values["X"])),
            status=read_text(values["status"]),
            value=_optional(read_finite, values["value"]),
            variance=_optional(read_finite, values["variance"]),
            reason=read_text(values["reason"]),
            order=_optional(read_count, values["order"]),
            asked=values["asked"],
        )
        completed = trial.status == COMPLETED
        if (
            trial.status not in (PENDING, COMPLETED, FAILED)
            or (trial.value is not None) != completed
            or (trial.order is None) != (trial.status == PENDING)
            or (trial.variance is not None and not (completed and trial.variance >= 0))
        ):
            raise InputDataError(f"Expected a consistent trial; got {dict(values)}.")
        return trial


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
        if value is None or isinstance(value, str | bytes):
            raise TypeError
        return float(item() if callable(item) else value)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise InputDataError(
            f"Expected {name} to be one number; got {value!r} ({type(value).__name__}). Return a "
            "float, or an array or tensor with one element."
        ) from error


def _optional(read: Any, value: Any) -> Any:
    return None if value is None else read(value)
