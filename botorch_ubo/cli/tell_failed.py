"""``botorch-ubo tell-failed run.db 3 "no convergence"``: say that a trial has no value."""

from __future__ import annotations

from collections.abc import Sequence

from botorch_ubo.cli.shell import add_json, make_parser, print_json, refusals, trial_to_json
from botorch_ubo.cli.tell import write_outcome

DESCRIPTION = """\
Say that a trial has no value. It stays out of the model, and keeps others away from it. A result
that comes in later replaces the failure.
"""


def main(argv: Sequence[str]) -> None:
    """Tell a failure."""
    parser = make_parser("tell-failed", DESCRIPTION)
    parser.add_argument("id", type=int, help="the trial, as `ask` has printed it")
    parser.add_argument("reason", nargs="?", default="failed", help="why, for the record")
    add_json(parser)
    arguments = parser.parse_args(argv)
    with refusals("tell-failed"):
        trial = write_outcome(
            arguments.path,
            lambda run: run.tell_failed(arguments.id, arguments.reason),
            f"tell-failed {arguments.path} {arguments.id}",
        )
    if arguments.json:
        print_json(trial_to_json(trial))
    else:
        print(f"trial {trial.id} failed: {trial.reason}")
