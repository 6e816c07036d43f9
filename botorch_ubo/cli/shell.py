"""What all commands on a run file share: arguments, trials as text and as JSON, refusals."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from botorch.exceptions.errors import BotorchError

from botorch_ubo.run.trials import Trial
from botorch_ubo.spaces import Space

PROGRAM = "botorch-ubo"


def make_parser(
    command: str, description: str, epilog: str = "", path: str = "the run file"
) -> argparse.ArgumentParser:
    """A parser with the path of a run file as its first argument."""
    parser = argparse.ArgumentParser(
        prog=f"{PROGRAM} {command}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", help=path)
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option for programs that read what is printed."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def keep_negative_numbers(argv: Sequence[str]) -> list[str]:
    """Arguments with which argparse does not take ``-1e-5`` or ``-inf`` for an option.

    What has a blank in it is an argument to argparse, and a number to ``float`` all the same.
    """
    return [f" {text}" if text.startswith("-") and _is_number(text) else text for text in argv]


@contextmanager
def refusals(command: str) -> Iterator[None]:
    """Say what was wrong on the standard error, and end with exit code 2."""
    try:
        yield
    except (BotorchError, OSError) as error:
        print(f"{PROGRAM} {command}: error: {error}", file=sys.stderr)
        raise SystemExit(2) from error


def names_of(space: Space | None, d: int) -> tuple[str, ...]:
    """The names of the parameters; ``x0``, ``x1`` and so on where there are none."""
    return tuple(f"x{i}" for i in range(d)) if space is None else space.names


def params_of(trial: Trial) -> dict[str, Any]:
    """The values of a trial by name."""
    if trial.params is None:
        return dict(zip(names_of(None, len(trial.X)), trial.X, strict=True))
    return dict(trial.params)


def trial_to_json(trial: Trial) -> dict[str, Any]:
    """A trial as JSON values."""
    values: dict[str, Any] = {"id": trial.id, "status": trial.status, "params": params_of(trial)}
    if trial.value is not None:
        values["value"] = trial.value
    if trial.variance is not None:
        values["variance"] = trial.variance
    return {**values, "reason": trial.reason} if trial.reason else values


def trial_to_line(trial: Trial, form: str = "{name}={value}") -> str:
    """``ID NAME=VALUE NAME=VALUE``: what ``read -r id params`` takes apart."""
    pairs = params_of(trial).items()
    return " ".join([str(trial.id), *(form.format(name=key, value=it) for key, it in pairs)])


def print_json(values: Mapping[str, Any] | Sequence[Any]) -> None:
    """One line of JSON."""
    print(json.dumps(values, allow_nan=False))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
