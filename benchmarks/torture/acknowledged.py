"""Killed in the middle of a write: a result whose ``tell`` returned is in the file.

A child tells as fast as it can and reports each ``tell`` that has returned; most of its time goes
into the file, so that a random kill meets a write. What is in the file may be one call ahead of
what was reported, and never behind.
"""

import json
import os
import random
import select
import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.torture.small import BOX, bowl
from benchmarks.torture.tally import Tally, expect
from botorch_ubo import UnboundedOptimizer

_DESIGN = 100_000  # points of a design take no time to propose
_MOST = 200  # trials of one file


def attack_writes(count: int, seed: int) -> Tally:
    """One kill per attempt, with the file opened and checked after each."""
    tally, chance = Tally("SIGKILL in the middle of a write"), random.Random(seed)
    while tally.tried < count:
        with TemporaryDirectory() as folder:
            path, told = Path(folder) / "run.db", 0
            while told < _MOST and tally.tried < count:
                with tally.attempt(f"kill {tally.tried + 1}", may_refuse=False):
                    reported = _kill_one(path, chance.uniform(0.0, 0.05))
                    told = _check(path, told, reported)
    return tally


def _optimizer(path: Path) -> UnboundedOptimizer:
    return UnboundedOptimizer(BOX, checkpoint=path, num_initial=_DESIGN)


def _work(path: Path, report: int) -> None:
    run = _optimizer(path)
    os.write(report, b"ready\n")
    while True:
        trial = run.pending[0] if run.pending else run.ask()
        run.tell(trial, bowl(trial.X))
        os.write(report, json.dumps([trial.id, bowl(trial.X)]).encode() + b"\n")


def _kill_one(path: Path, seconds: float) -> list[tuple[int, float]]:
    """Start a child, let it work for a while, kill it; what it had reported by then."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            _work(path, writing)
        finally:
            os._exit(1)
    os.close(writing)
    try:
        select.select([reading], [], [])
        time.sleep(seconds)
    finally:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        with os.fdopen(reading) as lines:
            reported = lines.read().splitlines()
    expect(os.WIFSIGNALED(status), "the process ended by itself")
    return [(number, value) for number, value in map(json.loads, reported[1:])]


def _check(path: Path, before: int, reported: list[tuple[int, float]]) -> int:
    """Whether the file holds what it must; returns the number of results in it."""
    run = UnboundedOptimizer.open(path)
    found = {trial.id: trial.value for trial in run.completed}
    expect(len(found) == len(run.completed), "a trial is there twice")
    for number, value in reported:
        expect(found.get(number) == value, f"trial {number} was told {value}, not kept")
    ahead = len(found) - before - len(reported)
    expect(ahead in (0, 1), f"{ahead} results more than were told")
    expect(len(run.pending) <= 1, f"{len(run.pending)} trials are pending")
    for trial in run.completed:
        expect(trial.value == bowl(trial.X), f"{trial} has another's value")
    return len(found)
