"""Look for the best values of the tuning tasks, and write them with the values to start from.

A space-filling sample of each task's domain, then steps of shrinking length from the best points.
The value to start from is the median over ten seeds of the best initial value. What the file has
already is kept where it is better.

  python -m benchmarks known --samples 512 --steps 512
"""

import argparse
import json
import math

import numpy as np
import torch
from botorch.utils.sampling import draw_sobol_samples
from tqdm import tqdm

from benchmarks.problems.problem import Problem, Sources, make_start
from benchmarks.problems.tuning import KNOWN, TASKS, make_task, read_known

HELP = "look for the best values of the tuning tasks"
SEEDS = range(10)
_ELITE = 8  # points that steps start from
_STEP = 0.15  # sides of the domain, at first


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--problems", nargs="+", default=list(TASKS), choices=TASKS, metavar="NAME")
    add("--samples", type=int, default=512, help="over the domain; default: %(default)s")
    add("--steps", type=int, default=512, help="from the best of them; default: %(default)s")
    add("--seed", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    """Search, and write the file."""
    tasks = dict(read_known())
    for name in tqdm(arguments.problems):
        problem = make_task(name, 0, Sources())
        best, x = _search(problem, arguments.samples, arguments.steps, arguments.seed)
        known = tasks.get(name, {"best": -math.inf})
        if best > known["best"]:
            known = {"best": best, "x": x}
        starts = [
            float(problem(make_start(problem, seed).X).nan_to_num(-math.inf).max())
            for seed in SEEDS
        ]
        tasks[name] = {**known, "start": float(np.median(starts))}
        content = {"command": arguments.command_line, "tasks": tasks}
        KNOWN.write_text(json.dumps(content, indent=1) + "\n")
    return 0


def _search(problem: Problem, samples: int, steps: int, seed: int) -> tuple[float, list[float]]:
    rng = np.random.default_rng(seed)
    X = draw_sobol_samples(problem.bounds, samples, 1, seed=seed).squeeze(-2)
    Y = problem(X).nan_to_num(-math.inf).flatten()
    lower, upper = problem.bounds
    for step in range(steps):
        center = X[Y.topk(_ELITE).indices[step % _ELITE]]
        length = _STEP * 0.02 ** (step / steps)
        move = torch.from_numpy(rng.standard_normal(problem.dim)) * length * (upper - lower)
        # One parameter alone in every other step: some matter and others do not.
        if step % 2:
            move = move * (torch.arange(problem.dim) == rng.integers(problem.dim))
        x = (center + move).clamp(lower, upper).unsqueeze(0)
        X, Y = torch.cat([X, x]), torch.cat([Y, problem(x).nan_to_num(-math.inf).flatten()])
    return float(Y.max()), X[Y.argmax()].tolist()
