"""Runs of version 0.1.0: one JSON file with a digest, read and converted."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from botorch_ubo.run.storage.database import Database
from botorch_ubo.run.storage.errors import REMEDY, DamagedFileError
from botorch_ubo.run.storage.events import (
    BOX,
    MOVE,
    OUTCOME,
    RUN,
    STEP,
    TRIAL,
    VERSIONS,
    Event,
    Mark,
)

SCHEMA = 1
KIND = "botorch_ubo run"
KEPT = ".0.1.0.json"
"""Appended to the name of the original, which is kept."""


def read_json(path: Path) -> list[Event] | None:
    r"""A run of 0.1.0 as events.

    Args:
        path: A file.

    Returns:
        The events, or ``None`` if the file is no JSON at all.

    Raises:
        DamagedFileError: If it is JSON, but not a run of 0.1.0 that is complete and unedited.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    if text.lstrip()[:1] not in ("{", "["):
        return None
    return events_of(_check(text, path), path)


def convert(path: Path) -> None:
    """Put an SQLite file in the place of a JSON file of 0.1.0, which is kept beside it."""
    with _alone(path) as still_there:
        events = read_json(path) if still_there else None
        if events is None:  # another process was faster
            return
        handle, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
        os.close(handle)
        converted = Path(name)
        try:
            database = Database(converted)
            with database.writing() as connection:
                database.create(connection)
                database.append(connection, events, Mark())
            shutil.copymode(path, converted)
            with suppress(FileExistsError):
                os.link(path, path.with_name(path.name + KEPT))
            os.replace(converted, path)
        except BaseException:
            converted.unlink(missing_ok=True)
            raise


def events_of(run: dict[str, Any], path: Path) -> list[Event]:
    """The events that would have led to a run of 0.1.0."""
    try:
        config, box = dict(run["config"]), dict(run["box"])
        config["search"] = {
            key: ast.literal_eval(value) for key, value in config.pop("options").items()
        }
        # Whatever was spelled out was written down, defaults too.
        default = {"num_restarts": 4, "raw_samples": 512, "options": None}
        config["search"] = {
            key: value for key, value in config["search"].items() if value != default.get(key)
        }
        trials = list(run["trials"])
        told = sorted((it for it in trials if it["order"] is not None), key=lambda it: it["order"])
        del box["initial_bounds"]
        moves, steps = box.pop("history"), box.pop("trace")
        return [
            Event(RUN, config),
            Event(VERSIONS, run.get("versions")),
            *(Event(TRIAL, {**_pick(it, "id", "X", "asked"), "owner": ""}) for it in trials),
            *(
                Event(
                    OUTCOME,
                    {
                        "trial": it["id"],
                        **_pick(it, "order", "status", "value", "variance", "reason"),
                    },
                )
                for it in told
            ),
            *(Event(MOVE, move) for move in moves),
            *(Event(STEP, step) for step in steps),
            *([Event(BOX, box)] if steps else []),
        ]
    except (KeyError, TypeError, ValueError, AttributeError, SyntaxError) as error:
        raise DamagedFileError(
            f"Expected {path} to hold a complete run of 0.1.0; got {type(error).__name__}: "
            f"{error}. It was edited or damaged. {REMEDY}"
        ) from error


def _pick(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _check(text: str, path: Path) -> dict[str, Any]:
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(
            f"Expected {path} to be a run, or a complete JSON file of 0.1.0; got "
            f"{type(error).__name__}: {error}. It was truncated or edited. {REMEDY}"
        ) from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise DamagedFileError(
            f"Expected {path} to be a run of botorch_ubo; it is some other JSON file. {REMEDY}"
        )
    schema = content.get("schema")
    if schema != SCHEMA or not isinstance(schema, int) or isinstance(schema, bool):
        raise DamagedFileError(
            f"Expected schema {SCHEMA} in the JSON file {path}; got {schema!r}. {REMEDY}"
        )
    run = content.get("run")
    try:
        body = json.dumps(run, sort_keys=True, allow_nan=False)
    except ValueError:  # 1e400 is read as an infinity
        body = ""
    digest = hashlib.sha256(body.encode()).hexdigest()
    if not isinstance(run, dict) or content.get("sha256") != digest:
        raise DamagedFileError(
            f"Expected the content of {path} to match its sha256; it was edited or damaged. "
            f"{REMEDY}"
        )
    return run


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that a run may hold")


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """One process at a time; False if another has replaced the file in the meantime."""
    with open(path, "rb") as file:
        with suppress(ImportError):  # POSIX
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield os.path.samestat(os.fstat(file.fileno()), os.stat(path))
