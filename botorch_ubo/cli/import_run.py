"""``botorch-ubo import run.db < run.jsonl``: a new run file from exported lines."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from botorch_ubo.cli.shell import add_json, make_parser, print_json, refusals
from botorch_ubo.run.storage import import_lines

DESCRIPTION = "Make a run file of the lines that `export` wrote, read from the standard input."


def main(argv: Sequence[str]) -> None:
    """Read a run from the standard input."""
    parser = make_parser("import", DESCRIPTION, path="the run file to write, which must not exist")
    add_json(parser)
    arguments = parser.parse_args(argv)
    with refusals("import"):
        count = import_lines(sys.stdin, arguments.path)
    if arguments.json:
        print_json({"path": arguments.path, "events": count})
    else:
        print(f"{count} events in {arguments.path}")
