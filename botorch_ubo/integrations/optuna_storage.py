"""What is in Optuna's storage: the record of trials, and proposals before they are evaluated.

Optuna stores a value when the objective asks for it. A proposal is therefore written to system
attributes of its trial, in chunks that every storage takes, and marked when it is settled.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from botorch_ubo.run import Outcome

SearchSpace = dict[str, BaseDistribution]

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


def is_settled(trial: FrozenTrial) -> bool:
    """Whether a trial has a proposal that will not change any more."""
    return bool(trial.system_attrs.get(_SETTLED))


def unsettled_numbers(study: Study, numbers: Collection[int]) -> set[int]:
    """Those of some trials that run with a proposal that may change yet."""
    running = study._get_trials(deepcopy=False, states=(TrialState.RUNNING,), use_cache=False)
    return {trial.number for trial in running if trial.number in numbers and not is_settled(trial)}


def read_record(
    study: Study, trial: FrozenTrial, search_space: SearchSpace, pruned_have_values: bool
) -> dict[int, Outcome]:
    r"""All other trials by number, as far as they are within today's ranges.

    Args:
        study: The study.
        trial: The trial that is to be left out.
        search_space: The parameters that count.
        pruned_have_values: Whether the last intermediate value of a pruned trial is its value; a
            pruned trial is a failed one otherwise, and so is one that breaks a constraint.

    Returns:
        Numbers and codes of categories by name, with what is known of them.
    """
    record: dict[int, Outcome] = {}
    for other in study._get_trials(deepcopy=False, use_cache=False):
        point = _known_point(other, search_space)
        if other._trial_id == trial._trial_id or point is None:
            continue
        outcome = Outcome(point, failed=True)
        if not other.state.is_finished():
            outcome = Outcome(point)
        elif other.state == TrialState.COMPLETE:
            if all(excess <= 0 for excess in other.constraints.values()):
                outcome = Outcome(point, other.values[0])
        elif other.state == TrialState.PRUNED and pruned_have_values and other.intermediate_values:
            last = other.intermediate_values[max(other.intermediate_values)]
            outcome = Outcome(point, last)
        record[other.number] = outcome
    return record


def code_of(distribution: BaseDistribution, value: Any) -> Any:
    """A value as this package has it: that of a category is its place in the list."""
    if isinstance(distribution, CategoricalDistribution):
        return int(distribution.to_internal_repr(value))
    return value


def _known_point(trial: FrozenTrial, search_space: SearchSpace) -> dict[str, Any] | None:
    """Numbers and codes of categories by name, or ``None`` if some are missing or out of range.

    A trial that is not finished has values that it was asked with, that were enqueued for it, and
    that were proposed, in this order.
    """
    finished = trial.state.is_finished()
    written = {} if finished else read_proposal(trial)
    known = trial.params if finished else {**_enqueued(trial), **trial.params}
    point: dict[str, Any] = {}
    for name, d in search_space.items():
        if name not in known and name not in written:
            return None
        try:
            value = code_of(d, known[name]) if name in known else written[name]
            if isinstance(d, FloatDistribution | IntDistribution) and not d.low <= value <= d.high:
                return None
        except (TypeError, ValueError):  # of another kind, or no category any more
            return None
        point[name] = value
    return point


def _enqueued(trial: FrozenTrial) -> dict[str, Any]:
    return dict(trial.system_attrs.get("fixed_params", {}))
