"""What a box was found to hold: frozen, plain values that survive JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from botorch_ubo.records.box_values import Box, read_box
from botorch_ubo.records.json_values import (
    read_count,
    read_fields,
    read_finite,
    read_float,
    to_json,
)


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The best evaluated point is epsilon-optimal in this box, as far as the model holds.

    Nothing is claimed beyond the box. ``confidence`` is a probability only where the schedule of
    ``beta`` has proven one; those of the package have not (:mod:`botorch_ubo.policies.beta`).
    """

    bounds: Box
    epsilon: float
    regret_bound: float
    beta: float
    confidence: float | None
    num_observations: int
    best_X: tuple[float, ...]
    """The evaluated point with the best lower confidence bound."""
    best_value: float
    """That bound: the point's value is at least this good (in the objective's own sign)."""

    def __str__(self) -> str:
        """One sentence."""
        how_sure = (
            f"with probability at least {self.confidence:.3g}"
            if self.confidence is not None
            else "by the model's (scaled) confidence bounds, without a probability statement"
        )
        sides = " x ".join(f"[{a:.3g}, {b:.3g}]" for a, b in zip(*self.bounds, strict=True))
        return (
            f"after {self.num_observations} evaluations the best evaluated point is within "
            f"{self.epsilon:.3g} of the optimum in the box {sides} {how_sure}; nothing is "
            "claimed beyond the box"
        )

    def to_dict(self) -> dict[str, Any]:
        """A dict of JSON values."""
        values: dict[str, Any] = to_json(asdict(self))
        return values

    @classmethod
    def from_dict(cls, values: Any) -> Certificate:
        """The inverse of :meth:`to_dict`, with every value checked."""
        values = read_fields(values, {item.name for item in fields(cls)}, "certificate")
        confidence = values["confidence"]
        return cls(
            bounds=read_box(values["bounds"]),
            epsilon=read_float(values["epsilon"]),
            regret_bound=read_float(values["regret_bound"]),
            beta=read_float(values["beta"]),
            confidence=None if confidence is None else read_finite(confidence),
            num_observations=read_count(values["num_observations"]),
            best_X=tuple(map(read_finite, values["best_X"])),
            best_value=read_float(values["best_value"]),
        )
