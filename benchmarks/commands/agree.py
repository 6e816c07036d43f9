"""Whether two directories of records of the same runs agree: L, paired by problem and seed.

Made for many runs at once against one after the other:

  python -m benchmarks run --problems beale levy3 --methods EI-Turns --seeds 0-29 --output one
  python -m benchmarks run --problems beale levy3 --methods EI-Turns --seeds 0-29 --batched \\
      --output many
  python -m benchmarks agree one many

L is log10(max(regret / regret of the best initial point, 1e-4)), lower is better. Both start from
the same points, but are different runs from then on. Intervals resample seeds, not functions.
"""

import argparse
from pathlib import Path

from benchmarks.runs.table import read_table

HELP = "whether two directories of records of the same runs agree"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("first", type=Path, help="records, a directory or a packed file")
    parser.add_argument("second", type=Path, help="the same runs, made in another way")


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    # Here, since statistics take seconds to import and workers of other commands need none.
    from benchmarks.report.agreement import write_agreement

    print(write_agreement(read_table([arguments.first]), read_table([arguments.second])))
    return 0
