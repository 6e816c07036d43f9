"""``botorch-ubo ask run.db``: propose trials."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from botorch_ubo.cli.shell import (
    add_json,
    make_parser,
    print_json,
    refusals,
    trial_to_json,
    trial_to_line,
)
from botorch_ubo.run import Trial, UnboundedOptimizer

NO_BUDGET_LEFT = 3
DESCRIPTION = """\
Propose trials. Each is a line, ID NAME=VALUE NAME=VALUE, and is pending until `tell` or
`tell-failed` says what became of it. Several shells may ask at once.
"""
EPILOG = """\
exit code: 0, or 2 if something is wrong, or 3 if the budget is used up

example: drive a program from bash until 30 trials have been asked for
  while read -r id params < <(botorch-ubo ask run.db --budget 30); do
      if value=$(./program $params); then botorch-ubo tell run.db "$id" $value
      else botorch-ubo tell-failed run.db "$id" "exit code $?"; fi
  done
"""


def main(argv: Sequence[str]) -> None:
    """Propose trials."""
    parser = make_parser("ask", DESCRIPTION, EPILOG)
    parser.add_argument("-n", type=int, default=1, help="how many; 1 by default")
    parser.add_argument(
        "--budget", type=int, metavar="N", help="propose none once N have been asked for in all"
    )
    parser.add_argument(
        "--pending",
        action="store_true",
        help="propose nothing, and print the trials that nobody has told of yet",
    )
    parser.add_argument(
        "--format",
        default="{name}={value}",
        metavar="TEXT",
        help="of a parameter; '--{name}={value}' makes options of them",
    )
    add_json(parser)
    arguments = parser.parse_args(argv)
    if "{value}" not in arguments.format or not _formats(arguments.format):
        parser.error(f"Expected {{name}} and {{value}} in --format; got {arguments.format!r}.")
    with refusals("ask"):
        optimizer = UnboundedOptimizer.open(arguments.path, writable=not arguments.pending)
        trials = list(optimizer.pending)
        if not arguments.pending:
            trials = _propose(optimizer, arguments.n, arguments.budget)
    for trial in trials:
        if arguments.json:
            print_json(trial_to_json(trial))
        else:
            print(trial_to_line(trial, arguments.format))
    if not trials and not arguments.pending:
        told = f"the budget of {arguments.budget} trials is used up"
        print(f"botorch-ubo ask: {told if arguments.n else 'none wanted'}", file=sys.stderr)
        raise SystemExit(NO_BUDGET_LEFT)


def _propose(optimizer: UnboundedOptimizer, n: int, budget: int | None) -> list[Trial]:
    if budget is None:
        return optimizer.ask(n)
    trials = []
    for _ in range(n):
        trial = optimizer.ask_within(budget)
        if trial is None:
            break
        trials.append(trial)
    return trials


def _formats(form: str) -> bool:
    try:
        form.format(name="", value="")
    except (KeyError, IndexError, ValueError):
        return False
    return True
