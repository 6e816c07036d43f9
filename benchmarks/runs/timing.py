"""What the command ``endurance`` measures, step by step."""

import math
import tempfile
import time
from pathlib import Path

import pandas as pd
import torch

from benchmarks.problems.problem import start_box
from benchmarks.problems.registry import find_problem
from benchmarks.runs.metadata import peak_memory
from botorch_ubo import UnboundedOptimizer

ENDURANCE_PROBLEM = "hartmann6"


def measure_endurance(method: str, evaluations: int, seed: int) -> pd.DataFrame:
    """Run, and take the process's seconds and the peak of memory (in MiB) of every step.

    A step is ``suggested`` by a model, or a point of the initial design.
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
        for number in range(1, evaluations + 1):
            began = time.process_time()
            trial = optimizer.ask()
            seconds = time.process_time() - began
            optimizer.tell(trial, float(problem(torch.tensor([trial.X], dtype=torch.double))))
            suggested = number > optimizer.num_initial
            steps.append((number, suggested, seconds, peak_memory()))
    columns = ["number", "suggested", "seconds", "peak_memory"]
    return pd.DataFrame(steps, columns=columns).set_index("number")


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
