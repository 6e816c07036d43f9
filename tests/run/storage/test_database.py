"""The table of events: appended, checked when read, and nothing else taken for it."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.storage.database import Database
from botorch_ubo.run.storage.errors import CheckpointError, DamagedFileError
from botorch_ubo.run.storage.events import Event, Mark
from tests.support.trouble import locked

EVENTS = [
    Event("run", {"seed": 0}),
    Event("step", [0.1, 1e-320, -0.0, 2**60]),
    Event("box", {"text": "caf\u00e9 \ud800"}),
]


@pytest.fixture
def database(tmp_path: Path) -> Database:
    database = Database(tmp_path / "run #1?%.db")
    with database.writing() as connection:
        assert database.is_empty(connection)
        database.create(connection)
        database.append(connection, EVENTS, Mark())
    return database


def edit(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement, values)
        connection.commit()


def read(database: Database, mark: Mark) -> tuple[list[Event], Mark]:
    with database.reading() as connection:
        return database.read(connection, mark)


class TestEvents:
    def test_round_trip(self, database: Database) -> None:
        events, mark = read(database, Mark())
        assert events == EVENTS
        assert mark.number == 3
        assert str(events[1].body[2]) == "-0.0"

    def test_only_what_is_new_is_read(self, database: Database) -> None:
        _, mark = read(database, Mark())
        with database.writing() as connection:
            database.append(connection, [Event("step", [4])], mark)
        events, later = read(database, mark)
        assert events == [Event("step", [4])]
        assert read(database, later) == ([], later)

    def test_infinities_become_text(self, database: Database) -> None:
        _, mark = read(database, Mark())
        with database.writing() as connection:
            database.append(connection, [Event("step", [float("inf"), float("nan")])], mark)
        assert read(database, mark)[0] == [Event("step", ["inf", "nan"])]

    def test_what_is_raised_undoes_the_transaction(self, database: Database) -> None:
        _, mark = read(database, Mark())
        with pytest.raises(KeyboardInterrupt), database.writing() as connection:
            database.append(connection, [Event("step", [4])], mark)
            raise KeyboardInterrupt
        assert read(database, mark) == ([], mark)

    def test_nothing_lies_around(self, database: Database) -> None:
        assert [file.name for file in database.path.parent.iterdir()] == [database.path.name]


class TestDamage:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE events SET body = '[0.1, 2]' WHERE number = 2",
            "UPDATE events SET kind = 'move' WHERE number = 2",
            "UPDATE events SET time = 'now' WHERE number = 2",
            "UPDATE events SET checksum = 7 WHERE number = 2",
            "UPDATE events SET number = 9 WHERE number = 3",
            "UPDATE events SET body = x'ff' WHERE number = 2",
            "DELETE FROM events WHERE number = 2",
            "DELETE FROM events WHERE number = 1",
        ],
    )
    def test_an_edited_row_is_told(self, database: Database, statement: str) -> None:
        edit(database.path, statement)
        with pytest.raises(DamagedFileError, match=r"row \d .* edited or damaged"):
            read(database, Mark())

    @pytest.mark.parametrize("statement", ["DELETE FROM events WHERE number = 3", ""])
    def test_a_file_that_was_exchanged_is_told(self, database: Database, statement: str) -> None:
        _, mark = read(database, Mark())
        if statement:
            edit(database.path, statement)
        else:
            mark = Mark(mark.number, mark.checksum + 1)
        with pytest.raises(DamagedFileError, match="another file now, or an older copy"):
            read(database, mark)

    @pytest.mark.parametrize(
        ("statement", "message"),
        [
            ("PRAGMA application_id = 7", "some other database"),
            ("PRAGMA user_version = 1", "older version"),
            ("PRAGMA user_version = 3", "got 3.*newer version"),
            ("DROP VIEW moves", "Expected the tables"),
            ("CREATE TABLE more (x)", "Expected the tables"),
            (
                "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END",
                "Expected the tables",
            ),
        ],
    )
    def test_another_database_is_not_taken_for_a_run(
        self, database: Database, statement: str, message: str
    ) -> None:
        edit(database.path, statement)
        before = database.path.read_bytes()
        with pytest.raises(CheckpointError, match=message):
            UnboundedOptimizer([(0, 1)], checkpoint=database.path)
        assert database.path.read_bytes() == before

    @pytest.mark.parametrize(
        "content",
        ["not json", "\x00", "[" * 100_000, "{}", "[]", '{"kind": "botorch_ubo run"}', "SQLite "],
    )
    def test_a_bad_file_is_named_and_left_alone(self, tmp_path: Path, content: str) -> None:
        path = tmp_path / "run.db"
        path.write_text(content)
        with pytest.raises(CheckpointError, match="Expected") as error:
            UnboundedOptimizer([(0, 1)], checkpoint=path)
        assert str(path) in str(error.value)
        assert path.read_text() == content

    def test_what_a_process_leaves_that_is_killed_at_once(self, tmp_path: Path) -> None:
        """SQLite makes an empty file before it writes the first page."""
        path = tmp_path / "run.db"
        path.touch()
        UnboundedOptimizer([(0, 1)], checkpoint=path).ask()
        assert len(UnboundedOptimizer.open(path).trials) == 1


@pytest.mark.slow
def test_a_reader_is_patient_with_a_lock(database: Database) -> None:
    """It waits for as long as a writer does, not only for SQLite's own timeout of a second."""
    with ThreadPoolExecutor() as threads:
        with locked(database.path):
            reading = threads.submit(read, database, Mark())
            time.sleep(2.5)
            assert not reading.done()
        assert reading.result(timeout=30)[0] == EVENTS


def test_a_lost_end_of_the_table_is_noticed(database: Database) -> None:
    """The root page is overwritten with the first leaf: rows and checksums there are in order."""
    many = [Event("step", ["x" * 500]) for _ in range(20)]
    with database.writing() as connection:
        _, mark = database.read(connection, Mark())
        database.append(connection, many, mark)
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'events'"
        ).fetchone()
    size, content = 4096, bytearray(database.path.read_bytes())
    interior = content[size * (root - 1) : size * root]
    assert interior[0] == 5  # an interior page of a table, in SQLite's file format
    cell = int.from_bytes(interior[12:14])
    leaf = int.from_bytes(interior[cell : cell + 4])
    content[size * (root - 1) : size * root] = content[size * (leaf - 1) : size * leaf]
    database.path.write_bytes(content)
    with database.reading() as connection:
        assert 3 < len(database.read(connection, Mark())[0]) < 23  # which nobody would notice
        with pytest.raises(DamagedFileError, match="never used"):
            database.check(connection)


def test_people_may_look_at_it_with_sql(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    optimizer = UnboundedOptimizer([(0, 1)], checkpoint=path)
    first, second, _ = optimizer.ask(3)
    optimizer.tell_failed(first, "cold")
    optimizer.tell(first, 2.5)
    optimizer.tell_failed(second, "broke")
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT id, status, value, reason FROM trials").fetchall()
    assert rows == [
        (0, "completed", 2.5, ""),
        (1, "failed", None, "broke"),
        (2, "pending", None, None),
    ]
