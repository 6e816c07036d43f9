"""What the commands ``speed`` and ``endurance`` measure, suggestion by suggestion."""

import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from tqdm import tqdm

from benchmarks.methods.contender import Clock
from benchmarks.methods.registry import make_contender
from benchmarks.problems.problem import make_start, start_box
from benchmarks.problems.registry import find_problem
from benchmarks.runs.loop import begin_record, evaluate, suggest
from benchmarks.runs.metadata import peak_memory
from botorch_ubo import UnboundedOptimizer
from botorch_ubo.methods import DEFAULT_METHOD

ENDURANCE_PROBLEM = "hartmann6"
SPEED_METHODS = {
    "default": DEFAULT_METHOD,
    "expanding": "corrected",
    "plain": "LogEI-oracle-stock",
    "optuna": "Optuna-GP-wide5",
}


def measure_speed(name: str, seed: int, budget: int | None = None) -> dict[str, Any]:
    """Seconds of every suggestion of every method on one problem."""
    problem = find_problem(name, seed)
    start = make_start(problem, seed, budget)
    runs = {
        key: make_contender(method, problem, start, seed) for key, method in SPEED_METHODS.items()
    }
    records = {key: begin_record(problem, start, key, seed) for key in runs}
    seconds: dict[str, list[float]] = {key: [] for key in runs}
    for record in records.values():
        evaluate(record, problem, start.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are about points out of the unit cube
        for _ in tqdm(range(start.budget), desc=name, unit="suggestion"):
            for key, contender in runs.items():
                clock = Clock()
                evaluate(records[key], problem, suggest(records[key], contender, clock))
                seconds[key].append(sum(clock.seconds.values()))
    return {"problem": name, "dim": problem.dim, "seconds": seconds}


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
