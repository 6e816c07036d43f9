"""A run to events and back: what was appended to a file, put together again and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from botorch.exceptions.errors import InputDataError

from botorch_ubo.controller.saved_state import head_to_dict
from botorch_ubo.policies.state import BoxState
from botorch_ubo.records.json_values import read_count, read_fields, read_text
from botorch_ubo.run.claims import Claims
from botorch_ubo.run.ledger import Ledger
from botorch_ubo.run.storage.events import (
    BOX,
    CLAIM,
    DEATH,
    MOVE,
    OUTCOME,
    STEP,
    TRIAL,
    VERSIONS,
    Event,
)
from botorch_ubo.run.trials import PENDING, Trial


def trial_events(before: Ledger, after: Ledger, owner: str = "") -> list[Event]:
    """What leads from one ledger to a later one; new trials that were asked for are an owner's."""
    events = [
        Event(TRIAL, {**trial.point_to_dict(), "owner": owner if trial.asked else ""})
        for trial in after.trials[len(before) :]
    ]
    told = after.told_since(before)
    return events + [Event(OUTCOME, trial.outcome_to_dict()) for trial in told]


def claim_events(claims: Claims, ledger: Ledger) -> list[Event]:
    """All claims of pending trials."""
    return [
        event
        for trial in (trial.id for trial in ledger.pending)
        for event in (
            Event(CLAIM, {"trial": trial, "owner": claims.owners.get(trial, "")}),
            *[Event(DEATH, {"trial": trial, "reason": ""})] * claims.deaths.get(trial, 0),
        )
    ]


def box_events(before: BoxState, after: BoxState) -> list[Event]:
    """What leads from one state of the controller to a later one."""
    if after is before:
        return []
    head = head_to_dict(after)
    del head["initial_bounds"]  # the first argument of the run
    return [
        *(Event(MOVE, move.to_dict()) for move in after.history[len(before.history) :]),
        *(Event(STEP, list(astuple(step))) for step in after.trace[len(before.trace) :]),
        Event(BOX, head),
    ]


@dataclass
class Replay:
    """A run, brought forward event by event."""

    trials: list[Trial]
    claims: Claims
    last_order: int
    moves: list[Any] = field(default_factory=list)
    """New moves of the box, as JSON values like the next two."""
    steps: list[Any] = field(default_factory=list)
    head: Mapping[str, Any] | None = None
    """The rest of the box's newest state, if it has changed."""
    versions: Any = None
    """Of the packages that wrote last, if told."""

    @classmethod
    def of(cls, ledger: Ledger, claims: Claims, events: Iterable[Event]) -> Replay:
        """The run after some events."""
        run = cls(list(ledger.trials), claims, ledger.last_order)
        for event in events:
            run.take(event.kind, event.body)
        return run

    def take(self, kind: str, body: Any) -> None:
        """Take in one event."""
        if kind == TRIAL:
            body = dict(body) if isinstance(body, Mapping) else body
            owner = read_text(body.pop("owner", None)) if isinstance(body, dict) else ""
            trial = Trial.from_point_dict(body)
            if trial.id != len(self.trials):
                raise InputDataError(f"Expected trial {len(self.trials)}; got {trial.id}.")
            self.trials.append(trial)
            self.claims = self.claims.claim(trial.id, owner) if owner else self.claims
        elif kind == OUTCOME:
            self._tell(body)
        elif kind == CLAIM:
            body = read_fields(body, {"trial", "owner"}, "claim")
            self.claims = self.claims.claim(self._pending(body), read_text(body["owner"]))
        elif kind == DEATH:
            self.claims = self.claims.die(self._pending(body))
        elif kind == MOVE:
            self.moves.append(body)
        elif kind == STEP:
            self.steps.append(body)
        elif kind == BOX:
            if not isinstance(body, Mapping):
                raise InputDataError(f"Expected the state of a box; got {body!r}.")
            self.head = body
        elif kind == VERSIONS:
            self.versions = body

    def _tell(self, body: Any) -> None:
        index, outcome = Trial.outcome_from_dict(body)
        known = self._find(index)
        if known.value is not None:
            raise InputDataError(f"Expected one value for trial {index}; got two.")
        told = replace(known, **outcome)
        if not outcome["order"] > self.last_order:
            raise InputDataError(f"Expected outcomes in their order; got trial {index} too late.")
        self.last_order = outcome["order"]
        told.check()
        self.trials[index] = told
        self.claims = self.claims.settle(index)

    def _pending(self, body: Mapping[str, Any]) -> int:
        index = read_count(body["trial"])
        if self._find(index).status != PENDING:
            raise InputDataError(f"Expected trial {index} to be pending when it was claimed.")
        return index

    def _find(self, index: int) -> Trial:
        if not index < len(self.trials):
            raise InputDataError(f"Expected one of {len(self.trials)} trials; got {index}.")
        return self.trials[index]
