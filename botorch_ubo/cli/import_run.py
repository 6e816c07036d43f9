"""``python -m botorch_ubo import run.db < run.jsonl``: a new run file from exported lines."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from botorch_ubo.run.storage import CheckpointError, import_lines


def main(argv: Sequence[str] | None = None) -> None:
    """Read a run from the standard input."""
    parser = argparse.ArgumentParser(prog="python -m botorch_ubo import", description=__doc__)
    parser.add_argument("path", help="the run file to write, which must not exist")
    arguments = parser.parse_args(argv)
    try:
        count = import_lines(sys.stdin, arguments.path)
    except CheckpointError as error:
        raise SystemExit(str(error)) from error
    print(f"{count} events in {arguments.path}")
