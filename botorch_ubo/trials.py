"""A trial: a point to evaluate, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

PENDING, COMPLETED, FAILED = "pending", "completed", "failed"
_STATUSES = (PENDING, COMPLETED, FAILED)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One evaluation, asked for or handed in; frozen, so that a copy never goes stale unseen."""

    id: int
    X: tuple[float, ...]
    """The point, in raw units."""
    status: str = PENDING
    value: float | None = None
    """The outcome in the user's sign, for a completed trial."""
    variance: float | None = None
    """The variance of its observation noise, if known."""
    reason: str = ""
    """Why it failed."""
    order: int | None = None
    """Position in the order in which results came in."""

    def __len__(self) -> int:
        """The number of inputs."""
        return len(self.X)

    def __iter__(self) -> Any:
        """Iterate over the inputs: ``f(*trial)`` works."""
        return iter(self.X)

    def to_dict(self) -> dict[str, Any]:
        """A dict of JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Trial:
        """The inverse of :meth:`to_dict`, with the values checked."""
        trial = cls(**{**values, "X": tuple(map(float, values["X"]))})
        numbers = (trial.value, trial.variance)
        if (
            trial.status not in _STATUSES
            or any(number is not None and not _finite(number) for number in numbers)
            or not all(map(_finite, trial.X))
            or isinstance(trial.id, bool)
            or not isinstance(trial.id, int)
            or (trial.status == COMPLETED) != (trial.value is not None)
            or (trial.status == PENDING) == isinstance(trial.order, int)
            or not isinstance(trial.reason, str)
        ):
            raise InputDataError(f"Expected a well-formed trial; got {dict(values)}.")
        return trial


def as_tensor(trials: Sequence[Trial]) -> Tensor:
    """The points of some trials as an ``n x d`` double tensor."""
    return torch.tensor([trial.X for trial in trials], dtype=torch.double)


def _finite(number: Any) -> bool:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    return abs(number) < float("inf")  # False for NaN too
