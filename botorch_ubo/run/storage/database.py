"""A table of events in an SQLite file: one transaction per change, durable when it returns.

The rollback journal, unlike write-ahead logging, needs no memory shared between processes, so that
the file may live where file locks work, network folders with working locks among them. A
connection lasts for one transaction: nothing is held between calls, and a fork inherits nothing.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from botorch.exceptions.errors import InputDataError

from botorch_ubo.run.storage.errors import REMEDY, DamagedFileError, in_words
from botorch_ubo.run.storage.events import Event, Mark

SCHEMA = 2
APPLICATION_ID = 0x55424F52  # "UBOR"
PATIENCE = 60.0
"""Seconds to wait for another process's lock."""

_TABLES = {
    # For people with an SQL shell; the package reads the events.
    "trials": """CREATE VIEW trials AS SELECT
    json_extract(trial.body, '$.id') AS id,
    json_extract(trial.body, '$.X') AS X,
    coalesce(json_extract(outcome.body, '$.status'), 'pending') AS status,
    json_extract(outcome.body, '$.value') AS value,
    json_extract(outcome.body, '$.variance') AS variance,
    json_extract(outcome.body, '$.reason') AS reason,
    trial.time AS asked_at,
    outcome.time AS told_at
FROM events AS trial LEFT JOIN events AS outcome ON outcome.number = (
    SELECT max(number) FROM events
    WHERE kind = 'outcome' AND json_extract(body, '$.trial') = json_extract(trial.body, '$.id')
) WHERE trial.kind = 'trial'""",
    "moves": """CREATE VIEW moves AS SELECT
    time,
    json_extract(body, '$.num_observations') AS num_observations,
    json_extract(body, '$.trigger') AS trigger,
    json_extract(body, '$.old_bounds') AS old_bounds,
    json_extract(body, '$.new_bounds') AS new_bounds
FROM events WHERE kind = 'move'""",
    # Last: where a view is the newest entry of the schema, SQLite's check does not look for pages
    # that nothing refers to, and a lost end of the table goes unnoticed.
    "events": """CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    checksum INTEGER NOT NULL
)""",
}


class Database:
    """The events of one run in one file."""

    def __init__(self, path: Path) -> None:
        r"""The events of one run.

        Args:
            path: An SQLite file, which need not exist.
        """
        self.path = path

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A consistent look at the file, which changes nothing and keeps no writer waiting long."""
        with in_words(self.path), closing(self._connect("rw")) as connection:
            _patiently(connection, "PRAGMA query_only = ON")
            _patiently(connection, "BEGIN")
            # A transaction takes its lock with the first thing that it reads.
            _patiently(connection, "SELECT count(*) FROM sqlite_master")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction in which nobody else writes; undone if anything is raised in it."""
        with in_words(self.path), closing(self._connect("rwc")) as connection:
            _patiently(connection, "BEGIN IMMEDIATE")
            yield connection  # without a commit, closing undoes all
            _patiently(connection, "COMMIT")

    def is_empty(self, connection: sqlite3.Connection) -> bool:
        """Whether nothing has been written yet; refuses a file that is something else."""
        found = dict(connection.execute("SELECT name, sql FROM sqlite_master").fetchall())
        (identity,) = connection.execute("PRAGMA application_id").fetchone()
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        if not found and not identity and not schema and not self.path.stat().st_size:
            return True
        if identity != APPLICATION_ID:
            raise DamagedFileError(
                f"Expected {self.path} to be a run of botorch_ubo; it is some other database. "
                f"{REMEDY}"
            )
        if schema != SCHEMA:
            raise DamagedFileError(
                f"Expected schema {SCHEMA} in {self.path}; got {schema}. Resume with the "
                f"{'newer' if schema > SCHEMA else 'older'} version of botorch_ubo that wrote it. "
                f"{REMEDY}"
            )
        if found != _TABLES:
            raise DamagedFileError(
                f"Expected the tables {sorted(_TABLES)} in {self.path}, as botorch_ubo makes them; "
                f"got {sorted(map(str, found))}, or others of these names. {REMEDY}"
            )
        return False

    def check(self, connection: sqlite3.Connection) -> None:
        """Let SQLite look for damage in all of the file."""
        (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
        if answer != "ok" or journal != "delete":
            raise DamagedFileError(
                f"Expected {self.path} to be sound, with a rollback journal; SQLite finds: "
                f"{answer}, journal mode {journal}. {REMEDY}"
            )

    def create(self, connection: sqlite3.Connection) -> None:
        """Make the tables."""
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
        for statement in _TABLES.values():
            connection.execute(statement)

    def read(self, connection: sqlite3.Connection, mark: Mark) -> tuple[list[Event], Mark]:
        """The events behind a mark, checked, and the mark behind them."""
        rows = connection.execute(
            "SELECT number, time, kind, body, checksum FROM events WHERE number >= ? "
            "ORDER BY number",
            (mark.number,),
        ).fetchall()
        if mark.number and (not rows or rows.pop(0)[::4] != (mark.number, mark.checksum)):
            raise DamagedFileError(
                f"Expected {self.path} to hold what this process has read from or written to it; "
                "it is another file now, or an older copy. Put the file back, or give each run a "
                "path of its own."
            )
        events = []
        for number, moment, kind, text, checksum in rows:
            mark = mark.after(str(kind), str(text), str(moment))
            if (number, checksum) != (mark.number, mark.checksum):
                raise DamagedFileError(
                    f"Expected row {mark.number} of {self.path} to match its checksum; it was "
                    f"edited or damaged. {REMEDY}"
                )
            try:
                events.append(Event.from_text(kind, text))
            except InputDataError as error:
                raise DamagedFileError(
                    f"In row {number} of {self.path}: {error} {REMEDY}"
                ) from error
        return events, mark

    def append(self, connection: sqlite3.Connection, events: Iterable[Event], mark: Mark) -> Mark:
        """Append events behind a mark, and return the mark behind them."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        for event in events:
            text = event.to_text()
            mark = mark.after(event.kind, text, now)
            connection.execute(
                "INSERT INTO events VALUES (?, ?, ?, ?, ?)",
                (mark.number, now, event.kind, text, mark.checksum),
            )
        return mark

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=min(1.0, PATIENCE),
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            # The folder's entry too: after a power cut a transaction that returned is there.
            _patiently(connection, "PRAGMA synchronous = EXTRA")
            _patiently(connection, "PRAGMA trusted_schema = OFF")
        except BaseException:
            connection.close()
            raise
        return connection


def _patiently(connection: sqlite3.Connection, statement: str) -> None:
    """Wait for a lock in short naps, between which an interrupt gets through."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > end:
                raise
