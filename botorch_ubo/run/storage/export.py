"""Runs as JSON Lines, for people and their scripts: a header, then one event per line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from botorch.exceptions.errors import InputDataError

from botorch_ubo.run.storage.database import SCHEMA
from botorch_ubo.run.storage.errors import CheckpointError, DamagedFileError
from botorch_ubo.run.storage.events import RUN, Event
from botorch_ubo.run.storage.run_file import RunFile

KIND = "botorch_ubo run"


def export_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    r"""A run as lines of JSON; a live one too, which is not disturbed.

    Args:
        path: A run file.

    Returns:
        The lines, without line ends.
    """
    file = RunFile(path, read_only=True)
    events = file.load()
    if not events:
        raise CheckpointError(f"Expected a run in {path}; there is none.")
    yield json.dumps({"kind": KIND, "schema": SCHEMA})
    for event in events:
        yield f'{{"event": {json.dumps(event.kind)}, "body": {event.to_text()}}}'


def import_lines(lines: Iterable[str], path: str | os.PathLike[str]) -> int:
    r"""Write a run that was exported to a new file.

    Args:
        lines: What :func:`export_lines` returned, in a whole; blank lines are skipped.
        path: A file that does not exist.

    Returns:
        The number of events.
    """
    file = RunFile(path)
    if file.path.exists():
        raise CheckpointError(
            f"Expected a new file to import to; {path} exists. Give another path, or remove it."
        )
    events = list(_parse(lines))
    if not events or events[0].kind != RUN:
        raise DamagedFileError("Expected an exported run to begin with its arguments.")
    with file.writing() as session:
        session.append(events)
    return len(events)


def _parse(lines: Iterable[str]) -> Iterator[Event]:
    header: Any = None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            if header is None:
                header = values
                if (values["kind"], values["schema"]) != (KIND, SCHEMA):
                    raise InputDataError(f"Expected {KIND!r} of schema {SCHEMA}; got {values}.")
                continue
            yield Event.from_text(values["event"], json.dumps(values["body"], allow_nan=False))
        except (InputDataError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise DamagedFileError(
                f"Expected line {number} to be an event of an exported run; got "
                f"{type(error).__name__}: {error}. Import what `export` wrote, unchanged."
            ) from error
    if header is None:
        raise DamagedFileError("Expected an exported run; got no lines.")
