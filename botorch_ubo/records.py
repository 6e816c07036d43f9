"""What is remembered of a run: frozen, plain values that survive JSON and tell a person why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.json_values import (
    read_count,
    read_fields,
    read_finite,
    read_float,
    read_text,
    to_json,
)

Box = tuple[tuple[float, ...], tuple[float, ...]]
Side = tuple[int, str]


def as_box(bounds: Tensor) -> Box:
    """A ``2 x d`` tensor as nested tuples."""
    lower, upper = bounds.tolist()
    return tuple(lower), tuple(upper)


@dataclass(frozen=True, kw_only=True)
class ExpansionRecord:
    """One move of the box and its reason; values in raw units."""

    iteration: int
    """Step at which the box moved, counted from 1."""
    num_observations: int
    strategy: str
    trigger: str
    """The condition that fired."""
    regret_bound: float | None
    """``max UCB - max LCB + slack`` at the time, if the trigger looked at it."""
    epsilon: float
    beta: float
    old_bounds: Box
    new_bounds: Box
    stopped_by_limit: tuple[Side, ...] = ()
    """Sides (dimension, "lower" or "upper") that a hard limit stopped."""
    capped: tuple[Side, ...] = ()
    """Sides that the growth cap stopped."""
    held: tuple[Side, ...] = ()
    """Sides that stayed because evaluations beyond them kept failing."""
    decision: str = "accepted"
    """What `on_expand` made of it: "accepted", "shrunk" or "refused"."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the strategy knows: for the theorem's box theta, gamma, its active term, radius.

    ``why``, if it is there, is part of the line that the record prints.
    """

    @property
    def moved(self) -> bool:
        """Whether the box changed at all."""
        return self.new_bounds != self.old_bounds

    @property
    def notable(self) -> bool:
        """Whether the box changed, or `on_expand` kept it from changing."""
        return self.moved or self.decision != "accepted"

    def __str__(self) -> str:
        """One line for a log or a progress bar."""
        old, new = self.old_bounds, self.new_bounds
        growth = " x ".join(
            f"{(b - a) / (q - p):.3g}" for p, q, a, b in zip(*old, *new, strict=True)
        )
        why = self.trigger
        if self.regret_bound is not None:
            why += f" (regret bound {self.regret_bound:.3g}, epsilon {self.epsilon:.3g})"
        text = f"iteration {self.iteration}: {self.strategy} moved the box, {why}"
        if "why" in self.details:
            text += f"; {self.details['why']}"
        if "radius" in self.details:
            text += (
                f"; radius {read_float(self.details['radius']):.3g} length-scales, "
                f"{self.details['active_term']} term active"
            )
        text += f"; sides x {growth}"
        for label, sides in (
            ("hard limit", self.stopped_by_limit),
            ("growth cap", self.capped),
            ("held by failures", self.held),
        ):
            if sides:
                text += f"; {label} on " + ", ".join(f"x{dim} {side}" for dim, side in sides)
        return text if self.decision == "accepted" else f"{text}; {self.decision} by on_expand"

    def to_dict(self) -> dict[str, Any]:
        """A dict of JSON values."""
        values: dict[str, Any] = to_json({**asdict(self), "details": dict(self.details)})
        return values

    @classmethod
    def from_dict(cls, values: Any) -> ExpansionRecord:
        """The inverse of :meth:`to_dict`, with every value checked."""
        values = read_fields(values, {item.name for item in fields(cls)}, "record of a move")
        bound = values["regret_bound"]
        record = cls(
            iteration=read_count(values["iteration"]),
            num_observations=read_count(values["num_observations"]),
            strategy=read_text(values["strategy"]),
            trigger=read_text(values["trigger"]),
            regret_bound=None if bound is None else read_float(bound),
            epsilon=read_float(values["epsilon"]),
            beta=read_float(values["beta"]),
            old_bounds=_box(values["old_bounds"]),
            new_bounds=_box(values["new_bounds"]),
            stopped_by_limit=_sides(values["stopped_by_limit"]),
            capped=_sides(values["capped"]),
            held=_sides(values["held"]),
            decision=read_text(values["decision"]),
            details=dict(values["details"]),
        )
        str(record)  # what it says must be sayable
        return record


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The best evaluated point is epsilon-optimal in this box, as far as the model holds.

    Nothing is claimed beyond the box. ``confidence`` is the probability ``1 - delta`` that
    Theorem 5.1 promises for the unscaled ``beta``; with a scaled one it is ``None``.
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
            bounds=_box(values["bounds"]),
            epsilon=read_float(values["epsilon"]),
            regret_bound=read_float(values["regret_bound"]),
            beta=read_float(values["beta"]),
            confidence=None if confidence is None else read_finite(confidence),
            num_observations=read_count(values["num_observations"]),
            best_X=tuple(map(read_finite, values["best_X"])),
            best_value=read_float(values["best_value"]),
        )


def _box(values: Any) -> Box:
    lower, upper = (tuple(map(read_finite, corner)) for corner in values)
    if len(lower) != len(upper) or not all(a < b for a, b in zip(lower, upper, strict=True)):
        raise InputDataError(f"Expected a box with lower < upper; got {values!r}.")
    return lower, upper


def _sides(values: Any) -> tuple[Side, ...]:
    return tuple((read_count(dim), read_text(side)) for dim, side in values)
