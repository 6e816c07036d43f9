"""Proposals in Optuna's storage, where other workers see them before they are evaluated.

Optuna stores a value when the objective asks for it. A proposal is therefore written to system
attributes of its trial, in chunks that every storage takes, and marked when it is settled.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

_KEY = "botorch_ubo:params"
_SETTLED = "botorch_ubo:settled"
_CHUNK = 2045  # characters of a system attribute in an RDBStorage


def write_proposal(study: Study, trial: FrozenTrial, point: Mapping[str, Any]) -> None:
    """Let other workers see a proposal, which may change yet."""
    text = json.dumps(point)
    chunks = [text[i : i + _CHUNK] for i in range(0, len(text), _CHUNK)]
    for i, chunk in enumerate([*chunks, ""]):  # an earlier proposal may have been longer
        study._storage.set_trial_system_attr(trial._trial_id, f"{_KEY}:{i}", chunk)


def settle_proposal(study: Study, trial: FrozenTrial) -> None:
    """The proposal will not change any more."""
    study._storage.set_trial_system_attr(trial._trial_id, _SETTLED, True)


def read_proposal(trial: FrozenTrial) -> dict[str, Any]:
    """The proposal of a trial that is running; empty if there is none."""
    chunks: list[str] = []
    while chunk := trial.system_attrs.get(f"{_KEY}:{len(chunks)}"):
        chunks.append(chunk)
    try:
        return dict(json.loads("".join(chunks))) if chunks else {}
    except ValueError:  # another worker is just writing it
        return {}


def unsettled_numbers(study: Study, numbers: Collection[int]) -> set[int]:
    """Those of some trials that run with a proposal that may change yet."""
    running = study._get_trials(deepcopy=False, states=(TrialState.RUNNING,), use_cache=False)
    return {
        trial.number
        for trial in running
        if trial.number in numbers and not trial.system_attrs.get(_SETTLED)
    }
