"""A run that is killed again and again; started by ``test_resume.py`` as a process of its own.

It imports once and forks a child for each session, so that a session costs its own seconds only.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import botorch_ubo.checkpoint
from botorch_ubo import UnboundedOptimizer, minimize

OPTIONS: dict[str, Any] = {
    "hard_limits": {0: (-4.0, None)},
    "seed": 5,
    "num_restarts": 2,
    "raw_samples": 32,
}
BOX = [(-1.0, 1.0), (0.0, 3.0)]
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
    count = 0

    def replace(source: str, target: str) -> None:
        nonlocal count
        count += 1
        if count == number and stage == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        os.rename(source, target)
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    botorch_ubo.checkpoint.os.replace = replace  # type: ignore[assignment]


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


def main(name: str, path: str, seed: int) -> None:
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
    whole, resumed = (json.loads(Path(file).read_text())["run"] for file in (path + ".whole", path))
    print(json.dumps({"killed": killed, "whole": whole, "resumed": resumed}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
