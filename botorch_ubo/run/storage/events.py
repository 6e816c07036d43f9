"""What happens in a run, as rows: appended, numbered, and never changed.

A row is a kind and JSON values. The kinds are

* ``run``, once and first: the arguments; ``versions``: of what proposals depend on;
* ``trial``: a point, and who evaluates it; ``claim``: that somebody else does from now on;
* ``outcome``: a value or a failure; ``death``: that a worker died of a trial;
* ``move``, ``step``, ``box``: a move of the box, a step of the controller, and the small rest of
  its state, of which the newest counts;
* ``asked``, ``told``, ``stopped``: the same of many runs at once (:mod:`botorch_ubo.run.batched`).

A row's checksum covers its text and the checksum before it. It tells damage, for which SQLite has
no sums of its own, and a file that was exchanged under a running process.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any, Final

from botorch.exceptions.errors import InputDataError

from botorch_ubo.records.json_values import to_json

RUN: Final = "run"
VERSIONS: Final = "versions"
TRIAL: Final = "trial"
CLAIM: Final = "claim"
OUTCOME: Final = "outcome"
DEATH: Final = "death"
MOVE: Final = "move"
STEP: Final = "step"
BOX: Final = "box"
ASKED: Final = "asked"
TOLD: Final = "told"
STOPPED: Final = "stopped"
KINDS: Final = (
    *(RUN, VERSIONS, TRIAL, CLAIM, OUTCOME, DEATH, MOVE, STEP, BOX),
    *(ASKED, TOLD, STOPPED),
)


@dataclass(frozen=True)
class Event:
    """Something that happened."""

    kind: str
    body: Any
    """JSON values."""

    def to_text(self) -> str:
        """The body as a row holds it; floats keep all digits."""
        return json.dumps(to_json(self.body), allow_nan=False)

    @classmethod
    def from_text(cls, kind: Any, text: Any) -> Event:
        """The inverse of :meth:`to_text`."""
        if kind not in KINDS:
            raise InputDataError(f"Expected an event of a kind among {KINDS}; got {kind!r}.")
        try:
            return cls(kind, json.loads(text, parse_constant=_refuse_constant))
        except (TypeError, ValueError, RecursionError) as error:
            raise InputDataError(f"Expected JSON values in a {kind}; got {error}.") from error


@dataclass(frozen=True)
class Mark:
    """How far a file has been read."""

    number: int = 0
    checksum: int = 0

    def after(self, kind: str, text: str, time: str) -> Mark:
        """The mark behind one more row."""
        row = f"{self.number + 1}\n{kind}\n{time}\n{text}"
        return Mark(self.number + 1, zlib.crc32(row.encode(), self.checksum))


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that a run may hold")
