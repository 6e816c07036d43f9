"""``botorch-ubo export run.db > run.jsonl``: a run file as text."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence

from botorch_ubo.cli.shell import make_parser, params_of, print_json, refusals, trial_to_json
from botorch_ubo.run.recorded import RecordedRun, as_run
from botorch_ubo.run.storage import export_lines

DESCRIPTION = """\
Write a run to the standard output. By default as JSON Lines, all of it: the first line says what it
is, each other line is an event, in the order in which they happened; `import` reads it. A run that
is going on is not disturbed, and a file of version 0.1.0 will do, too.
"""


def main(argv: Sequence[str]) -> None:
    """Write a run to the standard output."""
    parser = make_parser("export", DESCRIPTION)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--json", action="store_true", help="all trials as one JSON list")
    kinds.add_argument("--csv", action="store_true", help="all trials as a table")
    arguments = parser.parse_args(argv)
    with refusals("export"):
        if arguments.json:
            print_json([trial_to_json(trial) for trial in as_run(arguments.path).trials])
        elif arguments.csv:
            csv.writer(sys.stdout, lineterminator="\n").writerows(_table(as_run(arguments.path)))
        else:
            for line in export_lines(arguments.path):
                sys.stdout.write(line + "\n")


def _table(run: RecordedRun) -> Iterable[list[object]]:
    """Names of the columns, then a row per trial."""
    goal = run.goal
    outcomes = [f"objective {i}" for i in range(goal.num_objectives)]
    outcomes += [f"constraint {i}" for i in range(goal.num_constraints)]
    names = ["value"] if goal.is_plain else outcomes
    yield ["id", "status", *run.space.names, *names, "reason"]
    for trial in run.trials:
        values = trial.value if isinstance(trial.value, tuple) else (trial.value,)
        row = [*values] if trial.value is not None else [""] * len(names)
        params = [it if isinstance(it, str) else json.dumps(it) for it in params_of(trial).values()]
        yield [trial.id, trial.status, *params, *row, trial.reason]
