r"""The file of many runs: that of one run (:mod:`botorch_ubo.run.storage`), with other events.

Why an SQLite file of events and not a snapshot of all tensors: a step appends what it has added, so
that it costs the same at the end of the runs as at the beginning, it is on disk or it is not, and
rows have checksums; and there is one format to look after. Numbers are written with all digits, so
that a process that takes over goes on exactly as the last one would have.
"""

from __future__ import annotations

import os
from typing import Any

from botorch_ubo.records.json_values import to_json
from botorch_ubo.run.storage import CheckpointError, RunFile
from botorch_ubo.run.storage.events import ASKED, RUN, STOPPED, TOLD, Event

__all__ = ["ASKED", "STOPPED", "TOLD", "BatchFile"]


class BatchFile:
    """Events of many runs, written by one process at a time; or none, without a path."""

    def __init__(self, path: str | os.PathLike[str] | None, config: dict[str, Any]) -> None:
        r"""A file, or its absence.

        Args:
            path: Where to keep the runs; ``None`` for nowhere.
            config: The arguments of the runs, as JSON values.
        """
        self._file = None if path is None else RunFile(path)
        self.config = to_json(config)

    @property
    def is_kept(self) -> bool:
        """Whether there is a file, for which a state must leave its device."""
        return self._file is not None

    def open(self) -> list[Event]:
        """Events so far, after the first; a new file gets the first."""
        if self._file is None:
            return []
        events = self._file.load()
        if events:
            self._check_same(events[0].body)
            return events[1:]
        self.append(Event(RUN, self.config))
        return []

    def append(self, event: Event) -> None:
        """Write one event; it is on disk when this returns."""
        if self._file is None:
            return
        with self._file.writing() as session:
            if session.news:
                raise CheckpointError(
                    f"Expected no other process to write to {self._file.path}; one has. Let one "
                    "process own the file of a batch of runs."
                )
            if session.is_new and event.kind != RUN:
                raise CheckpointError(
                    f"Expected {self._file.path} to hold the runs so far; it is gone. Put it back."
                )
            session.append([event])

    def _check_same(self, known: Any) -> None:
        assert self._file is not None
        path = self._file.path
        if not isinstance(known, dict) or "batch" not in known:
            raise CheckpointError(
                f"Expected {path} to hold a batch of runs; it holds one run. Open it with "
                "`UnboundedOptimizer`, or give another path."
            )
        differing = sorted(
            key for key in {*known, *self.config} if known.get(key) != self.config.get(key)
        )
        if differing:
            raise CheckpointError(
                f"Expected the runs in {path} to be resumed with the arguments they were started "
                f"with; these differ: {', '.join(differing)}. Pass the same ones, or another path."
            )
