"""A run that is killed again and again, compared with one that nobody kills.

It forks a child for each session, so that a session costs its own seconds only.
``python -m benchmarks.torture.killed_run NAME PATH SEED`` does so in a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.torture.small import BOX, FAST
from benchmarks.torture.tally import Tally
from botorch_ubo import UnboundedOptimizer, minimize
from botorch_ubo.records.json_values import to_json
from botorch_ubo.run.storage import database

OPTIONS: dict[str, Any] = {"hard_limits": {0: (-4.0, None)}, "seed": 5, **FAST}
BUDGET = 13


def objective(x: list[float]) -> float:
    """Noise-free; it fails in a corner of the box, so that failures are part of the run."""
    if x[0] > 0.3 and x[1] > 1.0:
        raise ValueError("in the corner")
    return (x[0] - 2.5) ** 2 + (x[1] + 1.0) ** 2


def one_by_one(path: str | None) -> None:
    minimize(objective, BOX, budget=BUDGET, checkpoint=path, **OPTIONS)


def in_batches(path: str | None) -> UnboundedOptimizer:
    """Batches of three whose results come in backwards, one after the next batch is out.

    What to do next is read off the trials, so that a resumed process goes on where the last
    one was.
    """
    optimizer = UnboundedOptimizer(BOX, checkpoint=path, method="GPUCB-UBO", **OPTIONS)
    while len(optimizer.trials) < BUDGET or optimizer.pending:
        waiting = optimizer.pending
        if len(waiting) <= 1 and len(optimizer.trials) < BUDGET:
            optimizer.ask(3)
            continue
        trial = waiting[-1]
        try:
            optimizer.tell(trial, objective(list(trial.X)))
        except ValueError as error:
            optimizer.tell_failed(trial, str(error))
    return optimizer


RUNS: dict[str, Callable[[str | None], Any]] = {
    "one_by_one": one_by_one,
    "in_batches": in_batches,
}


def kill_at_write(stage: str, number: int) -> None:
    """Make the process kill itself at its so-many-th write, before or after the file changes."""
    count, original = 0, database._patiently

    def patiently(connection: sqlite3.Connection, statement: str) -> None:
        nonlocal count
        count += statement == "COMMIT"
        last = statement == "COMMIT" and count == number
        if last and stage == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        original(connection, statement)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)

    database._patiently = patiently


def session(run: Callable[[str | None], Any], path: str, plan: tuple[str, Any]) -> bool:
    """Run in a child that dies as planned; returns whether it got to the end."""
    child = os.fork()
    if child == 0:
        if plan[0] != "timer":
            kill_at_write(*plan)
        run(path)
        os._exit(0)
    if plan[0] == "timer":
        time.sleep(plan[1])
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0


def kill_and_compare(name: str, path: str, seed: int) -> dict[str, Any]:
    """How often a run was killed, and what it and the one that was not consist of."""
    run, chance = RUNS[name], random.Random(seed)
    start = time.perf_counter()
    child = os.fork()  # the run that nobody kills, with a checkpoint of its own
    if child == 0:
        run(path + ".whole")
        os._exit(0)
    os.waitpid(child, 0)
    seconds = time.perf_counter() - start
    plans: list[tuple[str, Any]] = [("before", 1), ("after", 1), ("before", 3), ("after", 4)]
    plans += [("timer", chance.uniform(0.02, 0.4) * seconds) for _ in range(5)]
    plans += [("before", chance.randint(1, 5)), ("after", chance.randint(1, 5))]
    killed = 0
    for plan in plans:
        if session(run, path, plan):
            break
        killed += 1
    while not session(run, path, ("never", 0)):
        pass
    whole, resumed = (describe(UnboundedOptimizer.open(file)) for file in (path + ".whole", path))
    return {"killed": killed, "whole": whole, "resumed": resumed}


def describe(optimizer: UnboundedOptimizer) -> dict[str, Any]:
    """All that a run consists of."""
    return {
        "trials": [asdict(trial) for trial in optimizer.trials],
        "box": to_json(optimizer.box.state_dict()),
    }


def attack_kills(count: int, seed: int) -> Tally:
    """Runs that are killed, until there were so many kills; the tally is of kills."""
    tally, number = Tally("SIGKILL in the middle of a run, resumed"), seed
    while tally.tried < count:
        name = sorted(RUNS)[number % len(RUNS)]
        with TemporaryDirectory() as folder:
            found = kill_and_compare(name, str(Path(folder) / "run.db"), number)
        same = found["whole"] == found["resumed"]
        tally.add(found["killed"], 0 if same else found["killed"], f"{name} {number} differs")
        number += 1
    return tally


if __name__ == "__main__":
    print(json.dumps(kill_and_compare(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
