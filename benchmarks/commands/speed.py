"""Seconds per suggestion, fit included, of the default and of what it is compared with.

Each method makes a whole run of the paper's protocol on Beale (d = 2) and Hartmann (d = 6); their
suggestions are interleaved in one process on one thread, so that all meet the same machine. The
first suggestion of each is left out as warm-up.

  default    the default method with its own model
  expanding  ExpandingBounds.corrected with our default model and BoTorch's fit_gpytorch_mll
  plain      a stock BoTorch iteration: SingleTaskGP, fit_gpytorch_mll, LogEI, optimize_acqf
  optuna     Optuna's GP sampler (with greenlet, which it needs to be fast)

The authors' script took 1.2 s at d = 2 and 2.0 s at d = 6 where a plain iteration took 0.25 s and
0.6 s; its column here is that ratio times the plain iteration measured now. Ratios are what to
read; seconds depend on the machine and on what else it does.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path

from benchmarks.report.measured import format_speed
from benchmarks.runs.metadata import save_json
from benchmarks.runs.timing import measure_speed

HELP = "seconds per suggestion of the default, a stock iteration and Optuna"
PROBLEMS = ("beale", "hartmann6")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--seed", type=int, default=0, help="of start boxes and initial points")
    parser.add_argument("--budget", type=int, help="suggestions; default: 10 d")
    parser.add_argument("--output", type=Path, help="JSON file for all seconds")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the table, write the seconds."""
    if find_spec("greenlet") is None:
        raise SystemExit("expected greenlet, without which Optuna is several times slower: install")
    measured = [measure_speed(name, arguments.seed, arguments.budget) for name in PROBLEMS]
    print(format_speed(measured))
    save_json(arguments.output, problems=measured)
    return 0
