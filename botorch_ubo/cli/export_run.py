"""``python -m botorch_ubo export run.db > run.jsonl``: a run file as lines of JSON.

The first line says what it is; each other line is an event, in the order in which they happened.
A run that is going on is not disturbed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from botorch_ubo.run.storage import CheckpointError, export_lines


def main(argv: Sequence[str] | None = None) -> None:
    """Write a run to the standard output."""
    parser = argparse.ArgumentParser(prog="python -m botorch_ubo export", description=__doc__)
    parser.add_argument("path", help="the run file; one of version 0.1.0 will do, too")
    arguments = parser.parse_args(argv)
    try:
        for line in export_lines(arguments.path):
            sys.stdout.write(line + "\n")
    except CheckpointError as error:
        raise SystemExit(str(error)) from error
