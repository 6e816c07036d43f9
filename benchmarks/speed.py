"""Seconds per suggestion, fit included, of the default and of what it is compared with.

Each method makes a whole run of the paper's protocol on Beale (d = 2) and Hartmann (d = 6); their
suggestions are interleaved in one process on one thread, so that all meet the same machine. The
first suggestion of each is left out as warm-up.

  default    the default method with its own model
  plain      a stock BoTorch iteration: SingleTaskGP, fit_gpytorch_mll, LogEI, optimize_acqf
  optuna     Optuna's GP sampler (with greenlet, which it needs to be fast)

The authors' script took 1.2 s at d = 2 and 2.0 s at d = 6 where a plain iteration took 0.25 s and
0.6 s; its column here is that ratio times the plain iteration measured now. Ratios are what to
read; seconds depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import json
import warnings
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median
from typing import Any

from tqdm import tqdm

from benchmarks.catalog import find_problem, make_start
from benchmarks.contender import Clock
from benchmarks.contenders import make_contender
from benchmarks.loop import Trace
from benchmarks.metadata import collect_metadata
from botorch_ubo.methods import DEFAULT_METHOD

NAME = "speed"
HELP = "seconds per suggestion of the default, a stock iteration and Optuna"

METHODS = {"default": DEFAULT_METHOD, "plain": "LogEI-oracle-stock", "optuna": "Optuna-GP-wide5"}
PROBLEMS = ("beale", "hartmann6")
AUTHORS_OVER_PLAIN = {2: 1.2 / 0.25, 6: 2.0 / 0.6}
AUTHORS_TARGET = 8.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="of start boxes and initial points")
    parser.add_argument("--budget", type=int, default=None, help="suggestions; default: 10 d")
    parser.add_argument("--output", type=Path, default=None, help="JSON file for all seconds")


def run(arguments: argparse.Namespace) -> int:
    if find_spec("greenlet") is None:
        raise SystemExit("expected greenlet, without which Optuna is several times slower: install")
    measured = [measure(name, arguments.seed, arguments.budget) for name in PROBLEMS]
    print(format_table(measured))
    if arguments.output is not None:
        content = {"metadata": collect_metadata(), "problems": measured}
        arguments.output.write_text(json.dumps(content, indent=1) + "\n")
    return 0


def measure(name: str, seed: int, budget: int | None = None) -> dict[str, Any]:
    """Seconds of every suggestion of every method on one problem, interleaved."""
    problem = find_problem(name, seed)
    start = make_start(problem, seed, budget)
    runs = {key: make_contender(method, problem, start, seed) for key, method in METHODS.items()}
    traces = {key: Trace(problem, start, seed) for key in runs}
    seconds: dict[str, list[float]] = {key: [] for key in runs}
    for trace in traces.values():
        trace.evaluate(start.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of all three; they are about points out of the unit cube
        for _ in tqdm(range(start.budget), desc=name, unit="suggestion"):
            for key, contender in runs.items():
                trace, clock = traces[key], Clock()
                Y = trace.X.new_tensor(trace.observed).unsqueeze(-1)
                trace.evaluate(contender.suggest(trace.X, Y, clock))
                seconds[key].append(sum(clock.seconds.values()))
    return {"problem": name, "dim": problem.dim, "seconds": seconds}


def format_table(measured: list[dict[str, Any]]) -> str:
    """Medians and means in milliseconds, ratios, and whether the targets are met."""
    lines = [
        "| problem | d | default | plain | optuna | authors (scaled) | optuna / default "
        "| authors / default |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in measured:
        times = {key: values[1:] or values for key, values in row["seconds"].items()}
        typical = {key: median(values) for key, values in times.items()}
        authors = AUTHORS_OVER_PLAIN[row["dim"]] * typical["plain"]
        cells = [f"{1e3 * typical[key]:.0f} ({1e3 * mean(times[key]):.0f})" for key in METHODS]
        optuna, script = typical["optuna"] / typical["default"], authors / typical["default"]
        lines.append(
            f"| {row['problem']} | {row['dim']} | {' | '.join(cells)} | {1e3 * authors:.0f} | "
            f"{optuna:.2f} {'met' if optuna >= 1 else 'MISSED'} | "
            f"{script:.1f} {'met' if script >= AUTHORS_TARGET else 'MISSED'} |"
        )
    lines.append("")
    lines.append(
        "Milliseconds per suggestion, median (mean). Targets: optuna / default at least 1, "
        f"authors / default at least {AUTHORS_TARGET:.0f}."
    )
    return "\n".join(lines)
