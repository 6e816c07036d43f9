"""One record per run of a method on a problem, kept as JSON Lines.

A directory holds ``<problem>/<method>.jsonl``, one line per seed, appended and never rewritten. A
line counts once its newline is on disk: a writer that is killed half-way leaves a line without
one, which readers skip and the next writer removes. Of several records of one run the last counts.
"""

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

SCHEMA = 1
THINKING = ("fit", "geometry", "acquisition")
PHASES = (*THINKING, "evaluate")

Key = tuple[str, str, int]  # problem, method and seed


@dataclass(kw_only=True)
class Record:
    """What one method did on one problem from one start.

    Attributes:
        problem: Its name.
        method: Its name.
        seed: Of start box, initial points, noise and method.
        dim: Of the problem.
        num_initial: How many of the points are the initial ones.
        budget: How many further evaluations were allowed.
        start_box: ``2 x d``.
        X: All evaluated points, the initial ones first.
        Y: Their values without noise, for maximisation; ``None`` where the evaluation failed.
        Y_observed: What the method saw, likewise; ``None`` if that is ``Y``.
        inside: Whether each point is inside the nominal domain.
        scored_inside_only: Whether larger values than the optimum exist outside, so that only
            points inside count.
        optimal_value: ``None`` if not known.
        start_value: From which gains count: the problem's, or the best initial value of the other
            methods of the seed; ``None`` if it is the best initial value of this one.
        distance: From the start box to the optimum, in sides of the start box.
        target: A value at which the run ended early.
        boxes: ``{"t": t, "bounds": 2 x d}``: the box of suggestion ``t``, where it changed.
        seconds: By the clock, of every suggestion, by phase.
        status: ``"ok"`` or ``"failed"``; a failed run has the points up to its failure.
        error: The traceback of a failed run.
        metadata: The problem's, and what must be known of machine and code.
        schema: Of this class.
    """

    problem: str
    method: str
    seed: int
    dim: int
    num_initial: int
    budget: int
    start_box: list[list[float]]
    X: list[list[float]] = field(default_factory=list)
    Y: list[float | None] = field(default_factory=list)
    Y_observed: list[float | None] | None = None
    inside: list[bool] = field(default_factory=list)
    scored_inside_only: bool = False
    optimal_value: float | None = None
    start_value: float | None = None
    distance: float | None = None
    target: float | None = None
    boxes: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    status: str = "ok"
    error: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        self.inside = self.inside or [True] * len(self.X)

    @property
    def key(self) -> Key:
        return self.problem, self.method, self.seed

    @property
    def best(self) -> float:
        """The best value so far."""
        return max((y for y in self.Y if y is not None), default=-math.inf)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read one line, or say what is wrong with it."""
        values = json.loads(text)
        if not isinstance(values, dict) or values.get("schema") != SCHEMA:
            raise ValueError(f"Expected a record of schema {SCHEMA}; got {text[:80]!r}.")
        known = {f.name for f in fields(cls)}  # other versions may know more
        return cls(**{name: value for name, value in values.items() if name in known})

    def to_json(self) -> str:
        """One line without its newline; infinities and NaN are refused."""
        return json.dumps(asdict(self), allow_nan=False, separators=(",", ":"))


def slug(name: str) -> str:
    """A name as a file name: ``GPUCB-UBO (as published)`` to ``gpucb-ubo-as-published``."""
    return re.sub(r"[^a-z0-9_.]+", "-", name.lower()).strip("-")


def write_record(directory: Path, record: Record) -> Path:
    """Append a record to the file of its problem and method, and be sure that it is on disk."""
    line = record.to_json() + "\n"
    path = directory / slug(record.problem) / f"{slug(record.method)}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        file.seek(0)
        file.truncate(_whole_lines(file.read()))
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())
    return path


def read_records(path: Path) -> Iterator[Record]:
    """The records of a directory or a ``.jsonl``, one of each run."""
    if not path.exists():
        raise FileNotFoundError(f"Expected records; {path} does not exist.")
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    records = {record.key: record for file in files for record in _read_file(file)}
    yield from records.values()


def _read_file(path: Path) -> Iterator[Record]:
    content = path.read_bytes()
    lines = content[: _whole_lines(content)].decode().splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            yield Record.from_json(line)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}, line {number}: {error}") from error


def _whole_lines(content: bytes) -> int:
    """The length up to and with the last newline."""
    return content.rfind(b"\n") + 1
