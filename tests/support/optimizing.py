"""Optimizers of a bowl whose minimum lies outside the first box, with a search that is quick."""

from __future__ import annotations

from typing import Any

from botorch_ubo import SearchSettings
from botorch_ubo.run.optimizer import UnboundedOptimizer
from tests.support.objectives import bowl

FAST: dict[str, Any] = {"search": SearchSettings(num_restarts=2, raw_samples=32)}
FASTER: dict[str, Any] = {"search": SearchSettings(2, 32, {"maxiter": 20})}
BOX = [(-1.0, 1.0), (0.0, 3.0)]


def make(bounds: Any = BOX, **options: Any) -> UnboundedOptimizer:
    return UnboundedOptimizer(bounds, **{**FAST, **options})


def started(**options: Any) -> UnboundedOptimizer:
    """An optimizer whose initial design is done."""
    optimizer = make(**options)
    for trial in optimizer.ask(optimizer.num_initial):
        optimizer.tell(trial, bowl(trial.X))
    return optimizer
