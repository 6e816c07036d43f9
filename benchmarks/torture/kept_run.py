"""A run that is kept in a file, with everything in it that can be in one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.torture.small import FAST
from botorch_ubo.run.optimizer import UnboundedOptimizer

ARGUMENTS: dict[str, Any] = {
    "hard_limits": {0: (-5, 5)},
    "seed": 3,
    "num_initial": 4,
    "method": "GPUCB-UBO",
    **FAST,
}


def start(path: Path, **changes: Any) -> UnboundedOptimizer:
    return UnboundedOptimizer([(0, 1), (0, 2)], checkpoint=path, **{**ARGUMENTS, **changes})


def write_run(path: Path) -> bytes:
    """A run with completed, failed, pending and given trials, and moves of the box."""
    optimizer = start(path, data=([[3.0, 0.5]], [2.0]))
    for _ in range(5):
        trial = optimizer.ask()
        optimizer.tell(trial, sum((x - 0.5) ** 2 for x in trial.X))
    optimizer.tell_failed(optimizer.ask(), "it broke")
    optimizer.ask(2)
    assert optimizer.box.history
    return path.read_bytes()
