"""An optimizer of a bowl whose minimum lies outside the first box."""

from __future__ import annotations

from typing import Any

from botorch_ubo.optimizer import UnboundedOptimizer

FAST: dict[str, Any] = {"num_restarts": 2, "raw_samples": 32}
BOX = [(-1.0, 1.0), (0.0, 3.0)]


def bowl(X: tuple[float, ...]) -> float:
    return sum((x - 1.5) ** 2 for x in X)


def make(bounds: Any = BOX, **options: Any) -> UnboundedOptimizer:
    return UnboundedOptimizer(bounds, **{**FAST, **options})


def started(**options: Any) -> UnboundedOptimizer:
    """An optimizer whose initial design is done."""
    optimizer = make(**options)
    for trial in optimizer.ask(optimizer.num_initial):
        optimizer.tell(trial, bowl(trial.X))
    return optimizer
