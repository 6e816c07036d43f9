"""A problem that takes no time: a bowl whose minimum lies outside the first box."""

from collections.abc import Sequence
from typing import Any

from botorch_ubo import SearchSettings, available_methods

BOX = [(-1.0, 1.0), (0.0, 3.0)]
FAST: dict[str, Any] = {"search": SearchSettings(num_restarts=2, raw_samples=32)}
# A few steps of the inner optimiser are enough to cross a limit, or to fail.
FASTEST: dict[str, Any] = {"search": SearchSettings(2, 16, {"maxiter": 5})}
METHODS = [method.name for method in available_methods()]


def bowl(x: Sequence[float]) -> float:
    """To be minimised; 0 at (2.5, -1, -1, ...)."""
    return (x[0] - 2.5) ** 2 + sum((value + 1.0) ** 2 for value in x[1:])
