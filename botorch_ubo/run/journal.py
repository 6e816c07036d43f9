"""The run as it is now, trials and box, changed in one place: in the file first, then in memory.

Without a file, the same in memory alone. With one, several processes may share it: each change
begins with what the others have added, and is one transaction.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from botorch.exceptions.errors import BotorchError, InputDataError
from botorch.exceptions.warnings import BotorchWarning

from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.policies.state import BoxState
from botorch_ubo.run.claims import Claims
from botorch_ubo.run.goals import RunGoal
from botorch_ubo.run.ledger import Ledger
from botorch_ubo.run.owner import is_elsewhere, may_be_at_work, new_owner
from botorch_ubo.run.replay import Replay, box_events, claim_events, trial_events
from botorch_ubo.run.storage import CheckpointError, RunFile
from botorch_ubo.run.storage.errors import REMEDY, DamagedFileError
from botorch_ubo.run.storage.events import BOX, CLAIM, DEATH, RUN, TRIAL, VERSIONS, Event, Mark
from botorch_ubo.run.trials import Trial
from botorch_ubo.spaces.display import show_box, show_point

Change = Callable[[Ledger], Ledger]
Plan = Callable[[Ledger], Sequence[Sequence[float]]]
"""From the trials so far to new points; it may move the box."""

ATTEMPTS = 3
"""To compute a proposal without keeping others waiting; the one after that keeps them waiting."""


class Journal:
    """Trials, claims and box of one run, and the file that they are kept in."""

    def __init__(
        self,
        box: ExpandingBounds,
        file: RunFile | None = None,
        config: dict[str, Any] | None = None,
        versions: dict[str, str] | None = None,
        read_only: bool = False,
    ) -> None:
        r"""A run that has not begun; :meth:`start` or :meth:`resume` it.

        Args:
            box: The controller.
            file: Where the run is kept, if anywhere.
            config: What it was started with, as JSON values.
            versions: Of the packages on which proposals depend.
            read_only: Whether to refuse every change.
        """
        self.box, self.file, self.read_only = box, file, read_only
        self.config, self.versions = config or {}, versions or {}
        self.ledger, self.claims = Ledger(), Claims()
        self.file_versions: Any = None
        self._kept = Ledger()  # the trials as the file has them
        self._unsaved: list[Change] = []
        self._owner = new_owner(), os.getpid()

    @property
    def owner(self) -> str:
        """Whose the trials are that are asked for here."""
        if self._owner[1] != os.getpid():  # forked since
            self._owner = new_owner(), os.getpid()
        return self._owner[0]

    @property
    def num_unsaved(self) -> int:
        """How many results are in memory only, since they could not be written."""
        return len(self._unsaved)

    def start(self, ledger: Ledger) -> bool:
        """Begin with some trials; False if another process has begun first, whose run it is."""
        with self._writing() as session:
            if session.news:
                self._take_in(session.news, session.mark)
                return False
            session.append(self._whole(ledger))
        self._kept = self.ledger = ledger
        self.file_versions = self.versions
        return True

    def resume(self, events: Iterable[Event]) -> None:
        """Begin with what a file holds."""
        self._take_in(events, None)

    def refresh(self) -> None:
        """Take in what others have added to the file."""
        if self.file is not None:
            self._take_in(*self.file.read_news())

    def save(self) -> None:
        """Write what could not be written when it came in; nothing to do, normally."""
        if self._unsaved:
            self._write(self._unsaved)

    def change(self, change: Change, keep: bool = True) -> None:
        r"""Change the ledger.

        Args:
            change: From the ledger, as it is by then in the file, to the next. What it raises is
                raised, and nothing changes.
            keep: Whether to change memory though the file cannot be written now, and to write
                later. The change must do no harm if it is made twice.
        """
        try:
            self._write([*self._unsaved, change])
        except CheckpointError as error:
            if not keep or self.read_only:
                raise
            ledger = change(self.ledger)
            if ledger is not self.ledger:
                self.ledger = ledger
                self._unsaved.append(change)
            told = ledger.told_since(self._kept)
            values = "; ".join(f"trial {it.id}: {it.reason or it.value}" for it in told)
            raise type(error)(
                f"{error} Nothing is lost: {len(self._unsaved)} result(s) are kept in memory "
                f"({values}), and `save()`, or the next call that writes, writes them."
            ) from error

    def propose(self, plan: Plan) -> tuple[Trial, ...]:
        r"""Add new trials, and what became of the box on the way.

        Args:
            plan: Computes points. It may be called again: if another process has proposed
                something meanwhile, the points must keep away from that.

        Returns:
            The new trials.
        """
        for _ in range(ATTEMPTS if self.file is not None else 1):
            trials = self._propose_unlocked(plan)
            if trials is not None:
                return trials
        with self._moving() as (session, before):
            ledger = self._add(session, plan(self.ledger), before)
        return self._added(ledger)

    def _propose_unlocked(self, plan: Plan) -> tuple[Trial, ...] | None:
        """Compute while others may write; ``None`` if that has made it void."""
        self.refresh()
        before = self.box.state
        try:
            points = plan(self.ledger)
            with self._writing() as session:
                overtaken = any(event.kind in (TRIAL, BOX) for event in session.news)
                if overtaken:
                    self.box.restore(before)
                self._take_in(session.news, session.mark)
                if overtaken:
                    before = self.box.state
                else:
                    ledger = self._add(session, points, before)
        except BaseException:
            self.box.restore(before)
            raise
        return None if overtaken else self._added(ledger)

    def set_hard_limits(self, hard_limits: Any) -> None:
        """Change the hard limits, in the file too."""
        with self._moving() as (session, before):
            self.box.set_hard_limits(hard_limits)
            ledger = self._add(session, [], before)
        self._wrote(ledger)

    def adopt(self, take_over: bool = False) -> list[Trial]:
        r"""Claim pending trials that nobody evaluates: of a process that is gone, most likely.

        Args:
            take_over: Also those of other machines, of which nobody knows here.

        Returns:
            The trials that were asked for, oldest first.
        """
        if not self.ledger.pending:
            return []
        with self._writing() as session:
            self._take_in(session.news, session.mark)
            owners = self.claims.owners
            mine = [
                trial
                for trial in self.ledger.pending
                if trial.asked and not _is_busy(owners.get(trial.id, ""), take_over)
            ]
            events = [Event(CLAIM, {"trial": trial.id, "owner": self.owner}) for trial in mine]
            session.append(events)
        self._note(events)
        return mine

    def elsewhere(self) -> list[Trial]:
        """Pending trials of processes that cannot be looked at from here."""
        owners = self.claims.owners
        return [trial for trial in self.ledger.pending if is_elsewhere(owners.get(trial.id, ""))]

    def release(self) -> None:
        """Leave pending trials of one's own to whoever adopts them."""
        owners = self.claims.owners
        mine = [trial.id for trial in self.ledger.pending if owners.get(trial.id) == self.owner]
        self._append([Event(CLAIM, {"trial": trial, "owner": ""}) for trial in mine])

    def died(self, trial: Trial, reason: str) -> int:
        """Note that a worker died of a trial, and tell how often that has happened."""
        self._append([Event(DEATH, {"trial": trial.id, "reason": reason})])
        return self.claims.deaths[trial.id]

    def _append(self, events: list[Event]) -> None:
        """Write claims."""
        if not events:
            return
        with self._writing() as session:
            self._take_in(session.news, session.mark)
            session.append(events)
        self._note(events)

    def _note(self, events: Iterable[Event]) -> None:
        self.claims = Replay.of(self._kept, self.claims, events).claims

    def _write(self, changes: list[Change]) -> None:
        """Make changes to the ledger of the file, and to the one in memory."""
        with self._writing() as session:
            self._take_in(session.news, session.mark)
            ledger = self._changed(changes)
            session.append(self._events(session, ledger))
        self._wrote(ledger)

    def _add(self, session: Any, points: Sequence[Sequence[float]], before: BoxState) -> Ledger:
        """Write new trials and the steps of the box, and what was left unsaved."""
        ledger = self._changed(self._unsaved)
        for point in points:
            ledger = ledger.propose(point)
        session.append([*self._events(session, ledger), *box_events(before, self.box.state)])
        return ledger

    def _added(self, ledger: Ledger) -> tuple[Trial, ...]:
        count = len(self._kept)
        self._wrote(ledger)
        new = ledger.trials[count:]
        self._note(
            Event(CLAIM, {"trial": trial.id, "owner": self.owner}) for trial in new if trial.asked
        )
        return new

    def _wrote(self, ledger: Ledger) -> None:
        for trial in ledger.told_since(self._kept):
            self.claims = self.claims.settle(trial.id)
        self._kept = self.ledger = ledger
        self._unsaved = []
        self.file_versions = self.versions

    def _changed(self, changes: list[Change]) -> Ledger:
        """The ledger of the file after some changes, of which a bad one is forgotten."""
        ledger = self._kept
        for change in changes:
            try:
                ledger = change(ledger)
            except InputDataError:
                if change in self._unsaved:
                    self._unsaved.remove(change)
                raise
        return ledger

    def _events(self, session: Any, ledger: Ledger) -> list[Event]:
        if session.is_new:  # somebody has removed the file: write all of it again
            return self._whole(ledger)
        events = trial_events(self._kept, ledger, self.owner)
        other = self.file_versions != self.versions and bool(events)
        return [Event(VERSIONS, self.versions), *events] if other else events

    def _whole(self, ledger: Ledger) -> list[Event]:
        """The run from its beginning, as far as memory goes back."""
        state = self.box.state
        first = BoxState(state.initial_bounds, state.initial_bounds)
        return [
            Event(RUN, self.config),
            Event(VERSIONS, self.versions),
            *trial_events(Ledger(), ledger, ""),
            *claim_events(self.claims, ledger),
            *(box_events(first, state) if state.trace or state.limits else []),
        ]

    def _take_in(self, events: Iterable[Event], mark: Mark | None) -> None:
        """Bring ledger, claims and box up to date."""
        events = list(events)
        if events:
            before = self.box.state
            try:
                run = Replay.of(self._kept, self.claims, events)
                if run.head is not None:
                    self._load_box(run)
                self._kept = Ledger(tuple(run.trials)).check(self.box.data_limits)
            except (BotorchError, KeyError, TypeError, AttributeError) as error:
                self.box.restore(before)
                where = "the run" if self.file is None else self.file.path
                raise DamagedFileError(
                    f"Expected {where} to hold a complete run; got {type(error).__name__}: {error} "
                    f"It was edited or damaged. {REMEDY}"
                ) from error
            self.claims = run.claims
            self.file_versions = run.versions or self.file_versions
            self.ledger = self._changed(self._unsaved)
            if self.file is not None and mark is not None:
                self.file.mark = mark

    def _load_box(self, run: Replay) -> None:
        state = self.box.state
        self.box.load_state_dict(
            {
                **(run.head or {}),
                "initial_bounds": state.initial_bounds.tolist(),
                "history": [*state.history, *run.moves],
                "trace": [*state.trace, *run.steps],
            }
        )

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        if self.read_only:
            raise CheckpointError(
                "Expected a run that was opened for writing; this one is read only. Use "
                "`UnboundedOptimizer.open(path, writable=True)`."
            )
        if self.file is None:
            yield _InMemory()
        else:
            with self.file.writing() as session:
                yield session

    @contextmanager
    def _moving(self) -> Iterator[tuple[Any, BoxState]]:
        """A session in which the box may move; whatever is raised, it is where the file has it."""
        before = self.box.state
        try:
            with self._writing() as session:
                self._take_in(session.news, session.mark)
                before = self.box.state
                yield session, before
        except BaseException:
            self.box.restore(before)
            raise


class _InMemory:
    """A session without a file."""

    news: tuple[Event, ...] = ()
    mark = None
    is_new = False

    def append(self, events: Iterable[Event]) -> None:
        """Nothing to write to."""


def _is_busy(owner: str, take_over: bool) -> bool:
    return may_be_at_work(owner) and not (take_over and is_elsewhere(owner))


def warn_of_versions(journal: Journal) -> None:
    """Say so if other versions have written the file than would go on with it."""
    if journal.file is not None and journal.file_versions != journal.versions:
        warnings.warn(
            f"The run in {journal.file.path} was last written with {journal.file_versions}; now it "
            f"is {journal.versions}. Proposals may differ from what they would have been.",
            BotorchWarning,
            stacklevel=4,
        )


def describe_run(journal: Journal, method: str, goal: RunGoal) -> list[tuple[str, str]]:
    """Names and values for a person."""
    ledger, space = journal.ledger, journal.box.settings.space
    counts = f"{len(ledger.completed)} completed, {len(ledger.pending)} pending"
    rows = [
        ("method", f"{method}, {', '.join(goal.directions)}"),
        ("trials", f"{counts}, {len(ledger.failed)} failed"),
        ("box", show_box(space, journal.box.bounds.tolist())),
    ]
    if ledger.completed:
        X, Y, _ = ledger.data()
        found = goal.describe_best(Y)
        if found.startswith("best"):
            found += f" at {show_point(space, X[goal.best(Y)].tolist())}"
        rows.insert(2, ("best", found))
    return rows if journal.file is None else [*rows, ("file", str(journal.file.path))]
