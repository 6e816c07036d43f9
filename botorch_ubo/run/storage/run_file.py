"""The file that a run is kept in, as its processes use it: read what is new, append."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from botorch_ubo.run.storage.database import Database
from botorch_ubo.run.storage.errors import DamagedFileError
from botorch_ubo.run.storage.events import RUN, Event, Mark
from botorch_ubo.run.storage.legacy_json import convert, read_json
from botorch_ubo.run.storage.paths import check_path


@dataclass
class Session:
    """A transaction: what others have added is read, what is appended is there for all or none."""

    news: list[Event]
    """What this process has not seen yet."""
    mark: Mark
    """Behind them."""
    is_new: bool
    """Whether there is nothing in the file: not even what this process has written to it."""
    written: list[Event] = field(default_factory=list)

    def append(self, events: Iterable[Event]) -> None:
        """Write with the transaction."""
        self.written += events


class RunFile:
    """A file of events, and how far this process has read it."""

    def __init__(self, path: str | os.PathLike[str], read_only: bool = False) -> None:
        r"""A file of events.

        Args:
            path: The file; its directory must exist.
            read_only: Whether to leave even a file of 0.1.0 as it is.
        """
        self.read_only, self.is_old = read_only, False
        self.path = check_path(path)
        self.database = Database(self.path)
        self.mark = Mark()

    def load(self) -> list[Event]:
        """All events, with the file checked for damage; none if there is no run in it yet.

        A JSON file of version 0.1.0 is converted first; the original stays beside it.
        """
        if not self.path.exists():
            return []
        try:
            return self._load()
        except DamagedFileError as error:
            if not isinstance(error.__cause__, sqlite3.DatabaseError):
                raise
            old = read_json(self.path)
            if old is None:
                raise
            if self.read_only:
                self.is_old = True
                return old
        convert(self.path)
        return self._load()

    def read_news(self) -> tuple[list[Event], Mark]:
        """What others have added, and the mark to set once it has been taken in."""
        if not self.path.exists() or self.is_old:  # which nobody adds to
            return [], self.mark
        with self.database.reading() as connection:
            if self.database.is_empty(connection):
                return [], self.mark
            return self.database.read(connection, self.mark)

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that begins with what others have added."""
        database = self.database
        with database.writing() as connection:
            is_new = database.is_empty(connection)
            if is_new:
                database.create(connection)
            # A file that has been removed begins anew.
            news, mark = ([], Mark()) if is_new else database.read(connection, self.mark)
            session = Session(news, mark, is_new)
            yield session
            mark = database.append(connection, session.written, session.mark)
        self.mark = mark

    def _load(self) -> list[Event]:
        with self.database.reading() as connection:
            if self.database.is_empty(connection):
                return []
            self.database.check(connection)
            events, self.mark = self.database.read(connection, Mark())
        if not events or events[0].kind != RUN:
            raise DamagedFileError(f"Expected {self.path} to begin with the arguments of a run.")
        return events
