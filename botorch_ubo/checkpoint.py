"""One JSON file per run: written atomically, read with suspicion. No pickle, no code in it.

The file is an object with the fields ``kind``, ``schema``, ``sha256`` and ``run``. The digest of
``run`` tells an edited or damaged file from a good one, and one process from another: a run never
overwrites what it has not written or read itself.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from botorch.exceptions.errors import BotorchError

from botorch_ubo.json_values import to_json

SCHEMA = 1
KIND = "botorch_ubo run"
_HEAD = re.compile(r'"sha256": "([0-9a-f]{64})"')
_REMEDY = "The file is left as it is: restore a copy, or start anew with another path."


class CheckpointError(BotorchError):
    """A checkpoint file that cannot be used; the file is left as it is."""


def check_path(path: str | os.PathLike[str]) -> Path:
    r"""Find out early whether a checkpoint can be written.

    Args:
        path: A file, which need not exist, in a directory that does.

    Returns:
        The path with symbolic links resolved, so that a link is not replaced by a file.
    """
    resolved = Path(path).resolve()
    if resolved.is_dir() or not resolved.parent.is_dir():
        problem = "is a directory" if resolved.is_dir() else "is in a directory that does not exist"
        raise CheckpointError(
            f"Expected `checkpoint` to be a file in an existing directory; {path} {problem}. "
            "Create the directory, or give another path."
        )
    return resolved


def encode(run: dict[str, Any]) -> tuple[str, str]:
    """The text of a checkpoint and the digest in it."""
    body = _canonical(to_json(run))
    digest = _digest(body)
    return f'{{"kind": "{KIND}", "schema": {SCHEMA}, "sha256": "{digest}", "run": {body}}}', digest


def write_checkpoint(path: Path, text: str, known: Collection[str]) -> None:
    r"""Write a checkpoint so that a crash at any moment leaves the old file or the new one.

    Args:
        path: Where to write.
        text: The first output of :func:`encode`.
        known: Digests of what this run has read from or written to the file: with another
            content, it is not overwritten.
    """
    found = _stored_digest(path)
    if found is not None and found not in known:
        raise CheckpointError(
            f"Expected {path} as this run left it; another process has written to it since. One "
            "checkpoint serves one process at a time: stop one of them, or give each its own path."
        )
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_checkpoint(path: Path) -> tuple[dict[str, Any], str]:
    r"""Read a checkpoint.

    Args:
        path: Where it was written.

    Returns:
        The run in it, whose values the caller checks, and its digest.

    Raises:
        CheckpointError: If the file is not a complete, unedited checkpoint of this schema.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(
            f"Expected {path} to be a complete JSON checkpoint; got {type(error).__name__}: "
            f"{error}. It was truncated or edited. {_REMEDY}"
        ) from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise CheckpointError(
            f"Expected {path} to be a checkpoint of botorch_ubo; it is some other JSON file. "
            f"{_REMEDY}"
        )
    schema = content.get("schema")
    if schema != SCHEMA or not isinstance(schema, int) or isinstance(schema, bool):
        newer = isinstance(schema, int) and schema > SCHEMA
        raise CheckpointError(
            f"Expected checkpoint schema {SCHEMA} in {path}; got {schema!r}. Resume with the "
            f"{'newer' if newer else 'older'} version of botorch_ubo that wrote it. {_REMEDY}"
        )
    run = content.get("run")
    if not isinstance(run, dict) or content.get("sha256") != _digest(_canonical(run)):
        raise CheckpointError(
            f"Expected the content of {path} to match its sha256; it was edited or damaged. "
            f"{_REMEDY}"
        )
    return run, content["sha256"]


def remove_leftovers(path: Path) -> None:
    """Remove what killed processes left half written."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        leftover.unlink(missing_ok=True)


def _canonical(run: Any) -> str:
    return json.dumps(run, sort_keys=True, allow_nan=False)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _stored_digest(path: Path) -> str | None:
    """The digest that a file claims; empty for some other file, ``None`` if there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = _HEAD.search(file.read(256))
    except FileNotFoundError:
        return None
    return match.group(1) if match else ""


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that a checkpoint may hold")
