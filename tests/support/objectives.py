"""Objectives at module level, so that worker processes can import them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def bowl(X: Iterable[Any]) -> Any:
    """Zero where all inputs, floats or a tensor, are 1.5."""
    return sum((x - 1.5) ** 2 for x in X)


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


class Deadly:
    """Kills its process in a part of the box; each call is a file in a folder."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __call__(self, x: list[float]) -> float:
        (self.directory / f"{time.time_ns()}-{os.getpid()}").write_text(repr(x))
        if x[0] > 0.5:
            os.kill(os.getpid(), signal.SIGKILL)
        return bowl(x)


class Hanging:
    """Never comes back from a part of the box, whatever signal is sent, with a program of its own.

    Elsewhere it comes back, and stays deaf to SIGTERM.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __call__(self, x: list[float]) -> float:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if x[0] > 0.5:
            program = subprocess.Popen(["sleep", "600"])
            (self.directory / str(program.pid)).touch()
            (self.directory / str(os.getpid())).touch()
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM, signal.SIGINT])
            program.wait()
        return bowl(x)


def leave(x: list[float]) -> float:
    raise SystemExit(3)
