"""What is remembered of a run: frozen, plain values that survive JSON and tell a person why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from torch import Tensor

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
    decision: str = "accepted"
    """What `on_expand` made of it: "accepted", "shrunk" or "refused"."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the strategy knows: for the theorem's box theta, gamma, its active term, radius."""

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
        if "radius" in self.details:
            text += (
                f"; radius {self.details['radius']:.3g} length-scales, "
                f"{self.details['active_term']} term active"
            )
        text += f"; sides x {growth}"
        for label, sides in (("hard limit", self.stopped_by_limit), ("growth cap", self.capped)):
            if sides:
                text += f"; {label} on " + ", ".join(f"x{dim} {side}" for dim, side in sides)
        return text if self.decision == "accepted" else f"{text}; {self.decision} by on_expand"

    def to_dict(self) -> dict[str, Any]:
        """A dict of JSON values."""
        return {**asdict(self), "details": dict(self.details)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ExpansionRecord:
        """The inverse of :meth:`to_dict`, also after a trip through JSON."""
        return cls(
            **{
                **values,
                "old_bounds": _box(values["old_bounds"]),
                "new_bounds": _box(values["new_bounds"]),
                "stopped_by_limit": _sides(values["stopped_by_limit"]),
                "capped": _sides(values["capped"]),
            }
        )


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
        return (
            f"after {self.num_observations} evaluations the best evaluated point is within "
            f"{self.epsilon:.3g} of the optimum in the box {self.bounds} {how_sure}; nothing is "
            "claimed beyond the box"
        )

    def to_dict(self) -> dict[str, Any]:
        """A dict of JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """The inverse of :meth:`to_dict`, also after a trip through JSON."""
        return cls(
            **{**values, "bounds": _box(values["bounds"]), "best_X": tuple(values["best_X"])}
        )


def _box(values: Any) -> Box:
    lower, upper = values
    return tuple(lower), tuple(upper)


def _sides(values: Any) -> tuple[Side, ...]:
    return tuple((int(dim), str(side)) for dim, side in values)
