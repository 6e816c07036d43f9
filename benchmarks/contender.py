"""What a benchmark asks of a method: data in, next point out, with the seconds it took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor


@dataclass
class Clock:
    """Seconds of one suggestion, by phase, of the wall's clock and of the process."""

    seconds: dict[str, float] = field(default_factory=dict)
    process_seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        wall, process = time.perf_counter(), time.process_time()
        yield
        self.process_seconds[name] = time.process_time() - process
        self.seconds[name] = time.perf_counter() - wall


class Contender(Protocol):
    """A method at work on one problem."""

    bounds: Tensor | None
    """The ``2 x d`` box of the last suggestion, where there is one."""

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        """The next ``1 x d`` point, from all ``n x d`` points and their ``n x 1`` values so far."""
        ...
