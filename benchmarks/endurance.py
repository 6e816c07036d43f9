"""One long run: does memory stay flat, and does a suggestion stay as quick as it was?

UnboundedOptimizer on Hartmann6 from a box of a fifth of the domain's side, one thread, with a
checkpoint. A suggestion is `ask`: fit, box, acquisition, file. Initial points are not counted.

Targets: the slowest suggestion takes at most 3 times the median; memory at the end is at most
1.25 times what it was at evaluation 50. Process time is judged, not wall time: other processes
on the machine have a say in the latter.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import torch

from benchmarks.metadata import collect_metadata
from benchmarks.problems import get_problem, start_box
from botorch_ubo import UnboundedOptimizer

NAME = "endurance"
HELP = "memory and seconds per suggestion over one long run"

PROBLEM = "hartmann6"
SLOWEST_TARGET = 3.0
MEMORY_TARGET = 1.25
MEMORY_FROM = 50  # evaluations: by then everything that is loaded once has been


@dataclass(frozen=True)
class Step:
    """One evaluation."""

    number: int
    suggested: bool
    """By a model; else a point of the initial design."""
    process_seconds: float
    wall_seconds: float
    memory: float
    """Resident now, in MiB."""
    peak_memory: float
    """The most that was resident so far, in MiB."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--method", default="EI-UBO")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="write the figures as JSON")


def run(arguments: argparse.Namespace) -> int:
    steps = measure(arguments.method, arguments.evaluations, arguments.seed)
    print(summarize(steps))
    if arguments.output is not None:
        content = {
            "metadata": collect_metadata(),
            "method": arguments.method,
            "seed": arguments.seed,
            "steps": [asdict(step) for step in steps],
        }
        arguments.output.write_text(json.dumps(content, indent=1))
    return 0


def measure(method: str, evaluations: int, seed: int) -> list[Step]:
    """Run, and take the time and the memory of every step."""
    problem = get_problem(PROBLEM)
    steps = []
    with tempfile.TemporaryDirectory() as directory:
        optimizer = UnboundedOptimizer(
            start_box(problem, seed),
            direction="maximize",
            method=method,
            seed=seed,
            checkpoint=Path(directory) / "run.json",
        )
        for number in range(1, evaluations + 1):
            process, wall = time.process_time(), time.perf_counter()
            trial = optimizer.ask()
            process, wall = time.process_time() - process, time.perf_counter() - wall
            optimizer.tell(trial, float(problem(torch.tensor([trial.X], dtype=torch.double))))
            suggested = number > optimizer.num_initial
            steps.append(Step(number, suggested, process, wall, *_memory()))
    return steps


def summarize(steps: Sequence[Step]) -> str:
    """The figures, and whether they meet the targets."""
    lines = ["evaluation  resident MiB  peak MiB"]
    marks = {step.number: step for step in steps}
    for number in sorted({MEMORY_FROM, *range(50, len(steps), 50), len(steps)} & set(marks)):
        step = marks[number]
        lines.append(f"{number:10d}  {step.memory:12.0f}  {step.peak_memory:8.0f}")
    suggested = [step for step in steps if step.suggested]
    for name in ("process_seconds", "wall_seconds"):
        seconds = [getattr(step, name) for step in suggested]
        slowest = max(suggested, key=lambda step: getattr(step, name))
        lines.append(
            f"{name} per suggestion: median {median(seconds):.2f}, slowest {max(seconds):.2f} (at "
            f"evaluation {slowest.number}), ratio {max(seconds) / median(seconds):.2f}"
        )
    half = len(suggested) // 2
    early, late = (
        median(step.process_seconds for step in part)
        for part in (suggested[:half], suggested[half:])
    )
    lines.append(f"median of the first half {early:.2f}, of the second {late:.2f}")
    times = [step.process_seconds for step in suggested]
    lines.append(_verdict("slowest / median", max(times) / median(times), SLOWEST_TARGET))
    if len(steps) > MEMORY_FROM:
        growth = steps[-1].peak_memory / marks[MEMORY_FROM].peak_memory
        lines.append(_verdict("memory at the end / at 50", growth, MEMORY_TARGET))
    return "\n".join(lines)


def _verdict(name: str, value: float, target: float) -> str:
    return f"{name}: {value:.2f}, target {target}: {'met' if value <= target else 'MISSED'}"


def _memory() -> tuple[float, float]:
    """Resident memory now, where the system tells, and its peak, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak, peak
    return pages * resource.getpagesize() / 2**20, peak
