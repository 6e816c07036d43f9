"""A damaged run file says the same as before, or is refused in words."""

import json
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.torture.kept_run import write_run
from benchmarks.torture.tally import Tally, expect
from botorch_ubo import UnboundedOptimizer
from botorch_ubo.run.storage.events import Mark
from botorch_ubo.run.storage.run_file import RunFile


def mutate(content: bytes, chance: random.Random) -> bytes:
    """A file with one to three places overwritten, cut out or filled in."""
    for _ in range(chance.randint(1, 3)):
        first = chance.randrange(len(content) + 1)
        last = min(len(content), first + chance.choice([0, 1, 1, 1, 2, 4, 40]))
        new = chance.randbytes(chance.choice([0, last - first, last - first, 1, 8]))
        content = content[:first] + new + content[last:]
    return content


def flip(content: bytes, chance: random.Random) -> bytes:
    """A file of the same size with one to four bits flipped, as by bad memory or a bad disk."""
    flipped = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


def tear(content: bytes, chance: random.Random) -> bytes:
    """A file that ends early, lacks a piece, or has two pages exchanged."""
    size, kind = 4096, chance.randrange(3)
    if kind == 0:
        return content[: chance.randrange(len(content))]
    first, second = (size * chance.randrange(len(content) // size) for _ in range(2))
    if kind == 1:
        return content[:first] + bytes(size) + content[first + size :]
    pages = [content[at : at + size] for at in range(0, len(content), size)]
    pages[first // size], pages[second // size] = pages[second // size], pages[first // size]
    return b"".join(pages)


def attack_bytes(count: int, seed: int) -> Tally:
    """Bytes changed; the file must stay as it is, with nothing beside it."""
    tally, chance = Tally("run file: bytes changed"), random.Random(seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.db"
        content = write_run(path)
        events = RunFile(path).load()
        for number in range(count):
            damaged = chance.choice((mutate, mutate, flip, flip, tear))(content, chance)
            path.write_bytes(damaged)
            with tally.attempt(f"mutation {number} of seed {seed}"):
                try:
                    found = RunFile(path, read_only=True).load()
                    # An empty file is one in which nothing has begun.
                    expect(found == events or not damaged, "the file says something else")
                    if number % 20 == 0:
                        UnboundedOptimizer.open(path)
                finally:
                    expect(path.read_bytes() == damaged, "reading has changed the file")
                    expect(os.listdir(folder) == ["run.db"], f"there are {os.listdir(folder)}")
    return tally


def attack_values(count: int, seed: int) -> Tally:
    """Values changed in rows whose checksums are right: used, or refused in words."""
    tally, chance = Tally("run file: values changed, checksums right"), random.Random(seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.db"
        content = write_run(path)
        for number in range(count):
            path.write_bytes(content)
            what = _forge(path, chance)
            with tally.attempt(f"forgery {number} of seed {seed}: {what}"):
                run = UnboundedOptimizer.open(path, writable=True)
                if run.pending:
                    run.tell(run.pending[0], 1.0)
                UnboundedOptimizer.open(path)
    return tally


_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**70, 0.5, -0.0, 1e308, 5e-324, "", "x", "nan", "1e400", [], [[]], {},
    [None], {"x": 1}, "inf", "-inf", [1.0, 2.0, 3.0], ["a", "b"], "pending", "completed",
)  # fmt: skip


def _forge(path: Path, chance: random.Random) -> str:
    """Change one value of one row, and put all checksums right; says what."""
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute("SELECT number, time, kind, body FROM events").fetchall()
        at = chance.randrange(len(rows))
        number, time, kind, text = rows[at]
        if chance.random() < 0.1:
            kind = chance.choice(["run", "box", "step", "outcome", "claim", "death", "none"])
        body = [json.loads(text)]  # in a list, so that the whole can be replaced too
        places = list(_places(body))
        holder, key = chance.choice(places)
        what = f"{kind} row {number}: {key} of {str(holder)[:60]}"
        if isinstance(holder, dict) and chance.random() < 0.2:
            del holder[key]
        else:
            holder[key] = chance.choice(_ODD)
        text = json.dumps(body[0]) if chance.random() < 0.95 else text[: len(text) // 2]
        rows[at] = number, time, kind, text
        mark = Mark()
        for number, time, kind, text in rows:
            mark = mark.after(kind, text, time)
            connection.execute(
                "UPDATE events SET kind = ?, body = ?, checksum = ? WHERE number = ?",
                (kind, text, mark.checksum, number),
            )
    return what


def _places(value: Any) -> Any:
    """All places of nested JSON values, as holder and key."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)
