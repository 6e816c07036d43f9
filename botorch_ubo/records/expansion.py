"""What is remembered of a move of the box: frozen, plain values that tell a person why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, cast

from botorch_ubo.records.box_values import Box, Side, read_box, read_sides
from botorch_ubo.records.json_values import (
    read_choice,
    read_count,
    read_fields,
    read_float,
    read_text,
    to_json,
)

Decision = Literal["accepted", "shrunk", "refused"]
_DECISIONS: tuple[Decision, ...] = ("accepted", "shrunk", "refused")


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
    """``max UCB - max LCB + slack`` at the time, if the trigger compared it with epsilon."""
    epsilon: float
    beta: float | None
    """Of the bounds in it, likewise."""
    old_bounds: Box
    new_bounds: Box
    stopped_by_limit: tuple[Side, ...] = ()
    """Sides (dimension, "lower" or "upper") that a hard limit stopped."""
    capped: tuple[Side, ...] = ()
    """Sides that the growth cap stopped."""
    held: tuple[Side, ...] = ()
    """Sides that stayed because evaluations beyond them kept failing."""
    decision: Decision = "accepted"
    """What `on_expand` made of it: "accepted", "shrunk" or "refused"."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the strategy knows: for the theorem's box theta, gamma, its active term, radius.

    ``why`` and ``constrained`` (which constraint mattered), if they are there, are part of the line
    that the record prints. ``names`` are those of parameters that have any.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the parameters, or ``x0``, ``x1`` and so on."""
        given = self.details.get("names")
        return tuple(given or (f"x{dim}" for dim in range(len(self.old_bounds[0]))))

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
        pairs = zip(*self.old_bounds, *self.new_bounds, strict=True)
        ratios = [f"x {(b - a) / (q - p):.3g}" for p, q, a, b in pairs]
        growth = " ".join(ratios)
        if "names" in self.details:
            named = zip(self.names, ratios, strict=True)
            growth = ", ".join(f"{name} {ratio}" for name, ratio in named if ratio != "x 1")
        why = self.trigger
        if self.regret_bound is not None:
            why += f" (regret bound {self.regret_bound:.3g}, epsilon {self.epsilon:.3g})"
        text = f"iteration {self.iteration}: {self.strategy} moved the box, {why}"
        if "why" in self.details:
            text += f"; {self.details['why']}"
        if "constrained" in self.details:
            text += f"; {self.details['constrained']}"
        if "radius" in self.details:
            text += (
                f"; radius {read_float(self.details['radius']):.3g} length-scales, "
                f"{self.details['active_term']} term active"
            )
        text += f"; sides {growth}" if growth else ""
        for label, sides in (
            ("hard limit", self.stopped_by_limit),
            ("growth cap", self.capped),
            ("held by failures", self.held),
        ):
            if sides:
                told = [f"{self.names[dim]} {side}" for dim, side in sides]
                text += f"; {label} on {', '.join(told)}"
        return text if self.decision == "accepted" else f"{text}; {self.decision} by on_expand"

    def to_dict(self) -> dict[str, Any]:
        """A dict of JSON values."""
        values: dict[str, Any] = to_json({**asdict(self), "details": dict(self.details)})
        return values

    @classmethod
    def from_dict(cls, values: Any) -> ExpansionRecord:
        """The inverse of :meth:`to_dict`, with every value checked."""
        values = read_fields(values, {item.name for item in fields(cls)}, "record of a move")
        bound, beta = values["regret_bound"], values["beta"]
        record = cls(
            iteration=read_count(values["iteration"]),
            num_observations=read_count(values["num_observations"]),
            strategy=read_text(values["strategy"]),
            trigger=read_text(values["trigger"]),
            regret_bound=None if bound is None else read_float(bound),
            epsilon=read_float(values["epsilon"]),
            beta=None if beta is None else read_float(beta),
            old_bounds=read_box(values["old_bounds"]),
            new_bounds=read_box(values["new_bounds"]),
            stopped_by_limit=read_sides(values["stopped_by_limit"]),
            capped=read_sides(values["capped"]),
            held=read_sides(values["held"]),
            decision=cast(Decision, read_choice(values["decision"], _DECISIONS)),
            details=dict(values["details"]),
        )
        str(record)  # what it says must be sayable
        return record
