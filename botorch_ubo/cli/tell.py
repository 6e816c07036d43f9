"""``botorch-ubo tell run.db 3 0.25``: hand in the result of a trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from botorch.exceptions.errors import InputDataError

from botorch_ubo.cli.shell import (
    PROGRAM,
    add_json,
    keep_negative_numbers,
    make_parser,
    print_json,
    refusals,
    trial_to_json,
)
from botorch_ubo.run import Trial, UnboundedOptimizer
from botorch_ubo.run.storage import CheckpointError

DESCRIPTION = """\
Hand in the result of a trial, in the run's own sense: what is to be minimised as it is. The same
result twice is taken once. NaN and infinities make the trial a failed one.
"""


def main(argv: Sequence[str]) -> None:
    """Tell a result."""
    parser = make_parser("tell", DESCRIPTION)
    parser.add_argument("id", type=int, help="the trial, as `ask` has printed it")
    parser.add_argument(
        "value", nargs="+", help="the outcome; all objectives, then all constraints, of several"
    )
    parser.add_argument(
        "--variance", nargs="+", metavar="V", help="of the noise, if known for all results"
    )
    add_json(parser)
    arguments = parser.parse_args(keep_negative_numbers(argv))
    with refusals("tell"):
        values = [_number(text) for text in arguments.value]
        variances = [_number(text) for text in arguments.variance or []]
        trial = write_outcome(
            arguments.path,
            lambda run: run.tell(arguments.id, _one(values), _one(variances)),
            f"tell {arguments.path} {arguments.id} {' '.join(map(repr, values))}",
        )
    if arguments.json:
        print_json(trial_to_json(trial))
    elif trial.reason:
        print(f"trial {trial.id} failed: {trial.reason}")
    else:
        print(f"trial {trial.id}: {trial.value}")


def write_outcome(path: str, write: Callable[[UnboundedOptimizer], Trial], command: str) -> Trial:
    r"""Write what became of a trial.

    Args:
        path: The run file.
        write: What to do with the run.
        command: What to call again if the file cannot be written now.

    Returns:
        The trial as it is now.
    """
    optimizer = UnboundedOptimizer.open(path, writable=True)
    try:
        return write(optimizer)
    except CheckpointError as error:
        # The optimizer keeps the result in memory, which ends with this process.
        reason = error.__cause__ or error
        raise CheckpointError(
            f"{reason} The file is as it was. Say it again later: {PROGRAM} {command}"
        ) from error


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputDataError(
            f"Expected a number; got {text!r}. The trial is still pending: tell its value, or say "
            "`tell-failed` if it has none."
        ) from error


def _one(values: list[float]) -> float | list[float] | None:
    if not values:
        return None
    return values[0] if len(values) == 1 else values
