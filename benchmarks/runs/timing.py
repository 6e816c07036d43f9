"""What the command ``endurance`` measures, step by step."""

import math
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from benchmarks.problems.problem import start_box
from benchmarks.problems.registry import find_problem
from benchmarks.runs.metadata import peak_memory
from botorch_ubo import UnboundedOptimizer

ENDURANCE_PROBLEM = "hartmann6"


def measure_endurance(method: str, evaluations: int, seed: int) -> pd.DataFrame:
    """Run, and take the process's seconds and the peak of memory (in MiB) of every step.

    A step is ``suggested`` by a model, or a point of the initial design. What is ``apart`` of a
    step, an ``ask`` and a ``tell``, is not the model's: neither fit nor suggestion.
    """
    problem = find_problem(ENDURANCE_PROBLEM, seed)
    steps = []
    with tempfile.TemporaryDirectory() as directory:
        optimizer = UnboundedOptimizer(
            start_box(problem, seed),
            direction="maximize",
            method=method,
            seed=seed,
            checkpoint=Path(directory) / "run.db",
        )
        model = Stopwatch(optimizer.box, ("fit", "suggest"))
        for number in range(1, evaluations + 1):
            before, began = model.seconds, time.process_time()
            trial = optimizer.ask()
            asked = time.process_time()
            value = float(problem(torch.tensor([trial.X], dtype=torch.double)))
            evaluated = time.process_time()
            optimizer.tell(trial, value)
            apart = time.process_time() - evaluated + asked - began - (model.seconds - before)
            suggested = number > optimizer.num_initial
            steps.append((number, suggested, asked - began, apart, peak_memory()))
    columns = ["number", "suggested", "seconds", "apart", "peak_memory"]
    return pd.DataFrame(steps, columns=columns).set_index("number")


class Stopwatch:
    """Adds up the process's seconds in some methods of an object, none of which calls another."""

    def __init__(self, watched: Any, names: Iterable[str]) -> None:
        self.seconds = 0.0
        for name in names:
            setattr(watched, name, self._timed(getattr(watched, name)))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.process_time()
            try:
                return method(*args, **kwargs)
            finally:
                self.seconds += time.process_time() - began

        return timed


def measure_record(evaluations: int, seed: int) -> pd.DataFrame:
    """Run without a model, so that what is left of a step is the record: memory and file.

    Of every step, which is an ``ask`` and a ``tell``: the process's seconds, bytes that it has
    handed to the system to write, and bytes by which the file has grown.
    """
    problem = find_problem(ENDURANCE_PROBLEM, seed)
    steps = []
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run.db"
        optimizer = UnboundedOptimizer(
            start_box(problem, seed), num_initial=evaluations, seed=seed, checkpoint=path
        )
        for number in range(1, evaluations + 1):
            written, size, began = _written(), path.stat().st_size, time.process_time()
            trial = optimizer.ask()
            optimizer.tell(trial, math.fsum(trial.X))
            seconds = time.process_time() - began
            steps.append((number, seconds, _written() - written, path.stat().st_size - size))
    columns = ["number", "seconds", "written", "grown"]
    return pd.DataFrame(steps, columns=columns).set_index("number")


def _written() -> int:
    """Bytes that this process has written so far; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return 0
    return int(dict(line.split(": ") for line in lines)["wchar"])
