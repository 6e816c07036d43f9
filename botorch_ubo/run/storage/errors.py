"""What goes wrong with a run file, in words: what was expected, what came, what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from botorch.exceptions.errors import BotorchError

REMEDY = "The file is left as it is: restore a copy, or start anew with another path."

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_REFUSED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


class CheckpointError(BotorchError):
    """A run file that cannot be used or written now; what is in it stays."""


class DamagedFileError(CheckpointError):
    """What is in the file is not a run, or no longer."""


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Translate what SQLite says of a file; temporary trouble is told from damage."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter of a message about damage
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in _BUSY:
            problem = "another process holds its lock and does not let go"
            remedy = "End or wait for the process that writes to it, and call again."
        elif code in _FULL:
            problem = "it could not be written: the disk is full, or failed"
            remedy = "Make room, and call again."
        elif code in _REFUSED:
            problem = "the file, or one beside it in its folder, may not be opened or written"
            remedy = "Give write permission to both, or another path, and call again."
        else:
            raise DamagedFileError(
                f"Expected {path} to be a run of botorch_ubo; got {type(error).__name__}: {error}. "
                f"It is another file, or was damaged. {REMEDY}"
            ) from error
        raise CheckpointError(
            f"Expected to use {path}; {problem} (SQLite: {error}). {remedy}"
        ) from error
