"""Objectives at module level, so that worker processes can import them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def bowl(x: list[float]) -> float:
    return (x[0] - 1.5) ** 2 + (x[1] - 1.5) ** 2


def slow_bowl(x: list[float]) -> float:
    time.sleep(0.2)
    return bowl(x)


def tell_apart(x: list[float]) -> float:
    """The same point twice has two different values, if it is evaluated twice."""
    return bowl(x) + time.time_ns() % 1_000_003


class Rude(Exception):
    """An exception that cannot be unpickled: its constructor takes another number of arguments."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def rude(x: list[float]) -> float:
    if x[0] > 0:
        raise Rude("too", "far")
    return bowl(x)


class Counted:
    """Writes each call to a file, and may kill its own process once."""

    def __init__(self, directory: Path, kill_at: int | None = None) -> None:
        self.directory, self.kill_at = directory, kill_at

    def __call__(self, x: list[float]) -> float:
        number = len(list(self.directory.iterdir()))
        (self.directory / f"{time.time_ns()}-{os.getpid()}").write_text(repr(x))
        if self.kill_at is not None and number == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.1)
        return bowl(x)
