"""What the command ``endurance`` measures, suggestion by suggestion."""

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
