"""One record per run of a method on a problem, kept as JSON Lines.

A directory holds ``<problem>/<method>.jsonl``, one line per seed, appended and never rewritten. A
line counts once its newline is on disk: a writer that is killed half-way leaves a line without
one, which readers skip and the next writer removes. Of several records of one run the last counts.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

SCHEMA = 1
PHASES = ("fit", "geometry", "acquisition", "evaluate")
_REQUIRED = ("problem", "method", "seed", "dim", "num_initial", "budget", "start_box", "X", "Y")

Key = tuple[str, str, int]
"""Problem, method and seed."""


@dataclass(kw_only=True)
class Record:
    """What one method did on one problem from one start."""

    problem: str
    method: str
    seed: int
    dim: int
    num_initial: int
    """How many of the points are the initial ones."""
    budget: int
    """How many further evaluations were allowed."""
    start_box: list[list[float]]
    """``2 x d``."""
    X: list[list[float]]
    """All evaluated points, the initial ones first."""
    Y: list[float]
    """Their values without noise, for maximisation."""
    Y_observed: list[float] | None = None
    """What the method saw; ``None`` if that is ``Y``."""
    inside: list[bool] = field(default_factory=list)
    """Whether each point is inside the nominal domain."""
    scored_inside_only: bool = False
    """Whether larger values than the optimum exist outside, so that only points inside count."""
    optimal_value: float | None = None
    domain: list[list[float]] | None = None
    """``2 x d``, the nominal domain, if there is one."""
    distance: float | None = None
    """From the start box to the optimum, in sides of the start box."""
    target: float | None = None
    """A value at which the run ended early."""
    boxes: list[dict[str, Any]] = field(default_factory=list)
    """``{"t": t, "bounds": 2 x d}``: the box of suggestion ``t``, where it changed."""
    seconds: dict[str, list[float]] = field(default_factory=dict)
    """By the clock, of every suggestion, by phase."""
    process_seconds: dict[str, list[float]] = field(default_factory=dict)
    """The same in processor time, in which other processes have no say."""
    status: str = "ok"
    """``"ok"`` or ``"failed"``; a failed run has the points up to its failure."""
    error: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    """The problem's, and what must be known of machine and code."""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if len(self.X) != len(self.Y) or (
            self.Y_observed is not None and len(self.Y_observed) != len(self.Y)
        ):
            raise ValueError(
                f"Expected as many values as points; got {len(self.X)} points, {len(self.Y)} "
                f"values and {None if self.Y_observed is None else len(self.Y_observed)} observed."
            )
        if not self.inside:
            self.inside = [True] * len(self.X)

    @property
    def key(self) -> Key:
        return self.problem, self.method, self.seed

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read one line, or say what is wrong with it."""
        values = json.loads(text)
        if not isinstance(values, dict) or values.get("schema") != SCHEMA:
            raise ValueError(f"Expected a record of schema {SCHEMA}; got {text[:80]!r}.")
        missing = [name for name in _REQUIRED if name not in values]
        if missing:
            raise ValueError(f"Expected a record; it lacks {missing}.")
        known = {f.name for f in fields(cls)}  # later versions may know more
        return cls(**{name: value for name, value in values.items() if name in known})

    def to_json(self) -> str:
        """One line without its newline; infinities and NaN are refused."""
        return json.dumps(asdict(self), allow_nan=False, separators=(",", ":"))


def slug(name: str) -> str:
    """A name as a file name: ``GPUCB-UBO (as published)`` to ``gpucb-ubo-as-published``."""
    return re.sub(r"[^a-z0-9_.]+", "-", name.lower()).strip("-")


def record_path(directory: Path, problem: str, method: str) -> Path:
    """The file of a method's records on a problem."""
    return directory / slug(problem) / f"{slug(method)}.jsonl"


def write_record(directory: Path, record: Record) -> Path:
    """Append a record to its file, and be sure that it is on disk."""
    line = record.to_json() + "\n"
    path = record_path(directory, record.problem, record.method)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        file.seek(0)
        file.truncate(_whole_lines(file.read()))
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())
    return path


def read_records(path: Path) -> Iterator[Record]:
    """The records of a directory, a ``.jsonl`` or a ``.jsonl.gz``, one of each run."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(
            f"Expected a directory of records, a .jsonl or a .jsonl.gz; {path} does not exist."
        )
    names = [path]
    if path.is_dir():
        names = sorted([*path.rglob("*.jsonl"), *path.rglob("*.jsonl.gz")])
    records = {record.key: record for file in names for record in _read_file(file)}
    yield from records.values()


def finished_keys(directory: Path, count_failed: bool = True) -> set[Key]:
    """The runs that a directory has a record of; none if there is no directory yet."""
    if not directory.exists():
        return set()
    return {r.key for r in read_records(directory) if count_failed or r.status == "ok"}


def pack(source: Path, target: Path) -> int:
    """Write the records of ``source`` into one ``.jsonl.gz``; returns how many there are."""
    return write_packed(read_records(source), target)


def write_packed(records: Iterable[Record], target: Path) -> int:
    """Write records into one ``.jsonl.gz``, in a fixed order; the same bytes for the same ones.

    Points and boxes have seven digits there, seconds three, which is what reports need; outcomes
    have all of theirs.
    """
    ordered = sorted(records, key=lambda record: record.key)
    content = "".join(_shortened(record).to_json() + "\n" for record in ordered).encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(target.name + ".tmp")
    temporary.write_bytes(gzip.compress(content, mtime=0))
    os.replace(temporary, target)
    return len(ordered)


def _shortened(record: Record) -> Record:
    return replace(
        record,
        X=_rounded(record.X, 7),
        boxes=_rounded(record.boxes, 7),
        seconds=_rounded(record.seconds, 3),
        process_seconds=_rounded(record.process_seconds, 3),
    )


def _rounded(value: Any, digits: int) -> Any:
    """Numbers in lists and dicts to so many significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, list):
        return [_rounded(item, digits) for item in value]
    if isinstance(value, dict):
        return {key: _rounded(item, digits) for key, item in value.items()}
    return value


def _read_file(path: Path) -> Iterator[Record]:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    lines = content[: _whole_lines(content)].decode().splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            yield Record.from_json(line)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}, line {number}: {error}") from error


def _whole_lines(content: bytes) -> int:
    """The length up to and with the last newline."""
    return content.rfind(b"\n") + 1
