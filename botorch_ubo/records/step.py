"""What is remembered of a step, whether or not the box moved."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StepRecord:
    """The quantities of one step, in raw units."""

    num_observations: int
    epsilon: float
    beta: float | None
    """``None`` where the trigger compared no confidence bounds, as for the next one."""
    regret_bound: float | None
