"""One JSON file per run: written atomically, read with suspicion. No pickle, no code in it."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from botorch.exceptions.errors import BotorchError

SCHEMA = 1
KIND = "botorch_ubo run"


class CheckpointError(BotorchError):
    """A checkpoint file that cannot be used; the file is left as it is."""


def write_checkpoint(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    r"""Write a checkpoint so that a crash at any moment leaves the old file or the new one.

    Args:
        path: Where to write.
        content: JSON values without NaN or infinities.
    """
    path = Path(path)
    text = json.dumps({"kind": KIND, "schema": SCHEMA, **content}, allow_nan=False)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_checkpoint(path: str | os.PathLike[str]) -> dict[str, Any]:
    r"""Read a checkpoint.

    Args:
        path: Where it was written.

    Returns:
        Its content; the caller checks the values.

    Raises:
        CheckpointError: If the file is not a complete checkpoint of this schema.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(
            f"Expected {path} to be a complete JSON checkpoint; got {type(error).__name__}: "
            f"{error}. It was truncated or edited: restore a copy, or start anew with another path."
        ) from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise CheckpointError(
            f"Expected {path} to be a checkpoint of botorch_ubo; it is some other JSON file. Give "
            "another path: it is not overwritten."
        )
    schema = content.get("schema")
    if schema != SCHEMA or isinstance(schema, bool):
        raise CheckpointError(
            f"Expected checkpoint schema {SCHEMA} in {path}; got {schema!r}. Resume with the "
            "version of botorch_ubo that wrote it."
        )
    return content


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that a checkpoint may hold")
