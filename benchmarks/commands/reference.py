"""Run the paper's method from the same starts as the authors' own runs: as published, and ours.

Reads JSON files `FUNCTION_SEED.json` with keys initial_box (d x 2), X, Y, num_initial and boxes
(values for maximisation), runs `GPUCB-UBO (as published)` and `GPUCB-UBO` from the same box and
initial points for the same number of evaluations, and prints the normalised log-regret

    log10(max(regret / regret of the best initial point, 1e-4))

side by side, each one's difference from the authors' runs paired by seed, and the first
expansion's box compared with theirs. Lower is better.

Finished runs are kept as records in --output and skipped the next time.
"""

import argparse
from pathlib import Path

from benchmarks.commands import run as run_command
from benchmarks.commands.options import parse_seeds
from benchmarks.methods.presets import AS_PUBLISHED
from benchmarks.problems.reference import AUTHORS, NAMES
from benchmarks.report.measures import summarize
from benchmarks.report.reference import write_reference
from benchmarks.runs.table import read_table

HELP = "the paper's method against runs of the authors' code from the same starts"
_AS_RUN = {"suite": [], "jobs": 1, "scheduler": None, "data_dir": None, "preset": "cpu",
           "plugin": [], "pack": None, "retry_failed": False, "dry_run": False,
           "batched": False}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    parser.set_defaults(**_AS_RUN, methods=[AUTHORS, AS_PUBLISHED, "GPUCB-UBO"])
    add("--reference", type=Path, required=True, metavar="DIR", help="the authors' runs")
    add("--problems", nargs="+", default=[*NAMES], choices=NAMES, help="default: all")
    add("--seeds", type=parse_seeds, default="0-5", help="default: %(default)s")
    add("--output", type=Path, required=True, metavar="DIR", help="of the records")
    add("--budget", type=int, metavar="N", help="evaluations; default: the authors'")


def run(arguments: argparse.Namespace) -> int:
    """Run what is missing and print the comparison."""
    status = run_command.run(arguments)
    if status == 0:
        print(write_reference(summarize(read_table([arguments.output]))))
    return status
