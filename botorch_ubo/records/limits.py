"""What is remembered of a change of the hard limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.records.box_values import Box, read_box
from botorch_ubo.records.json_values import read_count, read_fields, read_float, to_json


@dataclass(frozen=True, kw_only=True)
class LimitsRecord:
    """Hard limits that a user has set in mid-run, and what became of the box."""

    num_observations: int
    """At the last step before."""
    old_limits: Box
    """Infinite on free sides, as the new ones."""
    hard_limits: Box
    old_bounds: Box
    new_bounds: Box

    @property
    def tensor(self) -> Tensor:
        """The new ``2 x d`` limits, a double tensor on the CPU."""
        return torch.tensor(self.hard_limits, dtype=torch.double)

    @property
    def old_tensor(self) -> Tensor:
        """The old ones."""
        return torch.tensor(self.old_limits, dtype=torch.double)

    def to_dict(self) -> dict[str, Any]:
        """A dict of JSON values."""
        values: dict[str, Any] = to_json(asdict(self))
        return values

    @classmethod
    def from_dict(cls, values: Any) -> LimitsRecord:
        """The inverse of :meth:`to_dict`, with every value checked."""
        values = read_fields(values, {item.name for item in fields(cls)}, "record of limits")
        return cls(
            num_observations=read_count(values["num_observations"]),
            old_limits=_read_limits(values["old_limits"]),
            hard_limits=_read_limits(values["hard_limits"]),
            old_bounds=read_box(values["old_bounds"]),
            new_bounds=read_box(values["new_bounds"]),
        )


def _read_limits(values: Any) -> Box:
    """Limits from nested lists, checked."""
    lower, upper = (tuple(map(read_float, row)) for row in values)
    if len(lower) != len(upper) or not all(a < b for a, b in zip(lower, upper, strict=True)):
        raise InputDataError(f"Expected limits with lower < upper; got {values!r}.")
    return lower, upper
