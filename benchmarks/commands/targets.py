"""What the default is to reach, target by target, from records of `run`, as Markdown.

A table of the targets with what was found, then the tables of `compare` for every suite that the
records have. Nothing is run.

  python -m benchmarks run --suite families-judge tuning --methods contest --seeds 10 --output DIR
  python -m benchmarks targets DIR > default.md
"""

import argparse
from pathlib import Path

from benchmarks.runs.table import read_table
from botorch_ubo.methods import DEFAULT_METHOD

HELP = "what the default is to reach, from records: found, and whether it is met"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    text = "directories or packed files; of several records of one run the last counts"
    parser.add_argument("records", nargs="+", type=Path, help=text)
    text = "the method in question; default: %(default)s"
    parser.add_argument("--method", default=DEFAULT_METHOD, help=text)


def run(arguments: argparse.Namespace) -> int:
    """Print the tables."""
    # Here, since statistics take seconds to import and workers of other commands need none.
    from benchmarks.report.comparison import write_comparison
    from benchmarks.report.measures import summarize
    from benchmarks.report.targets import write_targets

    frame = summarize(read_table(arguments.records))
    print(write_targets(frame, arguments.method))
    print()
    print(write_comparison(frame, arguments.method))
    return 0
