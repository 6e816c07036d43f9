"""Readers beside a writer: each sees a run as it was at some moment."""

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.torture.processes import fork, wait_for
from benchmarks.torture.small import BOX, bowl
from benchmarks.torture.tally import Tally, expect
from botorch_ubo import UnboundedOptimizer


def attack_reads(count: int, seed: int) -> Tally:
    """Several readers that open the file anew or refresh, ``count`` times in all."""
    tally = Tally("readers beside a writer")
    with TemporaryDirectory() as folder:
        path, over = Path(folder) / "run.db", Path(folder) / "over"
        run = UnboundedOptimizer(BOX, checkpoint=path, num_initial=100_000, seed=seed)
        writer = fork(lambda: _write(path, over, seed))
        other = fork(lambda: _read_beside(path, over))
        seen = len(run.completed)
        reader = UnboundedOptimizer.open(path)
        for number in range(count):
            with tally.attempt(f"read {number}", may_refuse=False):
                if number % 2:
                    reader.refresh()
                else:
                    reader = UnboundedOptimizer.open(path)
                _check(reader, seen)
                seen = len(reader.completed)
        over.touch()
        with tally.attempt("the writer", may_refuse=False):
            expect(wait_for(writer) == 0, "the writer failed")
        with tally.attempt("the other reader", may_refuse=False):
            expect(wait_for(other) == 0, "the other reader failed")
        with tally.attempt("the run afterwards", may_refuse=False):
            run = UnboundedOptimizer.open(path)
            _check(run, seen)
            expect(len(run.completed) > 1, "nothing was written")
            left = set(os.listdir(folder))
            expect(left == {"run.db", "over"}, f"there are {left}")
    return tally


def _write(path: Path, over: Path, seed: int) -> None:
    """Ask and tell until the readers have read enough."""
    run = UnboundedOptimizer(BOX, checkpoint=path, num_initial=100_000, seed=seed)
    while not over.exists():
        trial = run.ask()
        run.tell(trial, bowl(trial.X))
        time.sleep(0.002)


def _read_beside(path: Path, over: Path) -> None:
    """A second reader, so that readers meet each other too."""
    seen = 0
    while not over.exists():
        reader = UnboundedOptimizer.open(path)
        _check(reader, seen)
        seen = len(reader.completed)


def _check(reader: UnboundedOptimizer, seen: int) -> None:
    """Whether a run is one that there was: all results so far, and at most one trial under way."""
    expect(len(reader.completed) >= seen, f"{len(reader.completed)} results after {seen}")
    expect(len(reader.pending) <= 1, f"{len(reader.pending)} pending trials of one writer")
    ids = [trial.id for trial in reader.trials]
    expect(ids == list(range(len(ids))), f"the trials are {ids}")
    for trial in reader.completed:
        expect(trial.value == bowl(trial.X), f"{trial} has another's value")
