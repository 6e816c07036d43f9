r"""A sampler for Optuna: the ranges of a trial are limits, and ``start`` is the box.

    >>> def objective(trial):
    >>>     lr = trial.suggest_float("lr", 1e-12, 1e6, log=True)  # limits that nobody will miss
    >>>     return train(lr)
    >>> study = optuna.create_study(sampler=UBOSampler(start={"lr": (1e-4, 1e-2)}))
    >>> study.optimize(objective, n_trials=40)

Ranges may be widened in mid-study: what was evaluated within narrower ones is kept. Workers in
several threads or processes on one storage see each other's proposals before they are evaluated.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from botorch.exceptions.warnings import BotorchWarning
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.controller import DEFAULT_METHOD, Method
from botorch_ubo.controller.method import get_method
from botorch_ubo.controller.rebuilding import check_rebuildable
from botorch_ubo.integrations.optuna_storage import (
    read_proposal,
    settle_proposal,
    unsettled_numbers,
    write_proposal,
)
from botorch_ubo.integrations.seeds import Seeds
from botorch_ubo.integrations.translate import Start, check_start, number
from botorch_ubo.run import Outcome, propose
from botorch_ubo.spaces import Categorical, Parameter, Space

_ATTEMPTS = 8  # at a point that no other process proposes at the same time
_LOOKS, _PAUSE = 50, 0.02  # at a trial that is to give way, and seconds between them
SearchSpace = dict[str, BaseDistribution]


class UBOSampler(BaseSampler):
    """A sampler whose box grows; see the module."""

    def __init__(
        self,
        start: Start | None = None,
        *,
        n_startup_trials: int | None = None,
        method: str | Method = DEFAULT_METHOD,
        independent_sampler: BaseSampler | None = None,
        consider_pruned_trials: bool = False,
        search: SearchSettings | None = None,
        seed: int | None = None,
    ) -> None:
        r"""A sampler whose box grows.

        Args:
            start: First boxes by name; a parameter without one starts from its range.
            n_startup_trials: Space-filling trials before the first model; three per parameter by
                default.
            method: A method whose box follows from the data alone; see
                :func:`botorch_ubo.propose`.
            independent_sampler: For parameters that not every trial has, and for the first trial,
                where there is no ``start``; uniform draws by default.
            consider_pruned_trials: Whether the last intermediate value of a pruned trial counts as
                its value; pruned trials are left out otherwise.
            search: How hard to search for the maximum of an acquisition function.
            seed: Seed of all random choices.
        """
        self._start = check_start(start)
        self._method = get_method(method)
        check_rebuildable(self._method)
        self._n_startup_trials = n_startup_trials
        self._independent = independent_sampler or RandomSampler(seed=seed)
        self._consider_pruned_trials = consider_pruned_trials
        self._search = search
        self._seeds = Seeds(seed)
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the lock, which cannot be sent to another process."""
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """With a lock of its own."""
        self.__dict__.update(state, _lock=threading.Lock())

    def reseed_rng(self) -> None:
        """New seeds; Optuna calls this from the threads of ``n_jobs``, on one sampler."""
        with self._lock:
            self._seeds = Seeds(None)
            self._independent.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> SearchSpace:
        """Parameters that all completed trials have, with the ranges of the latest."""
        space: SearchSpace | None = None
        done = study._get_trials(deepcopy=False, states=(TrialState.COMPLETE,), use_cache=True)
        for other in reversed(done):
            known = other.distributions
            if space is None:
                space = dict(known)
            space = {n: d for n, d in space.items() if n in known and _alike(d, known[n])}
        return {n: d for n, d in sorted((space or {}).items()) if not d.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: SearchSpace
    ) -> dict[str, Any]:
        """The next values; other workers know of them before they are evaluated."""
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        with self._lock:  # a thread must see what the one before it has proposed
            for _ in range(_ATTEMPTS):
                known = self._record(study, trial, search_space)
                point = self._propose(study, trial, search_space, list(known.values()))
                write_proposal(study, trial, point)
                if not self._taken_meanwhile(study, trial, search_space, point, known):
                    break
            settle_proposal(study, trial)
        return {
            name: d.to_external_repr(point[name])
            if isinstance(d, CategoricalDistribution)
            else point[name]
            for name, d in search_space.items()
        }

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Uniform in the first box, if there is one."""
        self._raise_error_if_multi_objective(study)
        start = self._start.get(param_name)
        if start is None or isinstance(param_distribution, CategoricalDistribution):
            return self._independent.sample_independent(
                study, trial, param_name, param_distribution
            )
        parameter = _parameter(param_name, param_distribution, start)
        with self._lock:
            return parameter.decode(self._seeds.uniform(*parameter.drawn))

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """See ``BaseSampler``."""
        self._independent.before_trial(study, trial)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """See ``BaseSampler``."""
        self._independent.after_trial(study, trial, state, values)

    def _propose(
        self,
        study: Study,
        trial: FrozenTrial,
        search_space: SearchSpace,
        record: list[Outcome],
    ) -> dict[str, Any]:
        space = Space({n: _parameter(n, d, self._start.get(n)) for n, d in search_space.items()})
        (point,) = propose(
            space,
            record,
            direction="maximize" if study.direction == StudyDirection.MAXIMIZE else "minimize",
            method=self._method,
            num_initial=self._n_startup_trials,
            search=self._search,
            seed=self._seeds.fixed,
            index=trial.number,
        )
        return dict(point)

    def _taken_meanwhile(
        self,
        study: Study,
        trial: FrozenTrial,
        search_space: SearchSpace,
        point: dict[str, Any],
        known: Mapping[int, Outcome],
    ) -> bool:
        """Whether another process has proposed the same point, and this trial is to give way.

        It gives way to a proposal that is settled, and of two that are not the later trial does;
        the earlier one waits until it has.
        """
        for _ in range(_LOOKS):
            record = self._record(study, trial, search_space)
            same = {
                number
                for number, other in record.items()
                if other.point == point
                and (number not in known or known[number].point != other.point)
            }
            if not same:
                return False
            waiting = unsettled_numbers(study, same)
            if same - waiting or min(waiting) < trial.number:
                return True
            time.sleep(_PAUSE)
        return False

    def _record(
        self, study: Study, trial: FrozenTrial, search_space: SearchSpace
    ) -> dict[int, Outcome]:
        """All other trials by number, as far as they are within today's ranges."""
        record: dict[int, Outcome] = {}
        for other in study._get_trials(deepcopy=False, use_cache=False):
            if other._trial_id == trial._trial_id:
                continue
            point = _known_point(other, search_space)
            if point is None:
                continue
            if other.state == TrialState.PRUNED:
                if self._consider_pruned_trials and other.intermediate_values:
                    last = other.intermediate_values[max(other.intermediate_values)]
                    record[other.number] = Outcome(point, last)
            elif other.state == TrialState.COMPLETE:
                record[other.number] = Outcome(point, other.values[0])
            elif other.state == TrialState.RUNNING:
                record[other.number] = Outcome(point)
            elif other.state == TrialState.FAIL:
                record[other.number] = Outcome(point, failed=True)
        return record


def _parameter(
    name: str, distribution: BaseDistribution, start: tuple[float, float] | None
) -> Parameter:
    if isinstance(distribution, CategoricalDistribution):
        if start is not None:
            warnings.warn(
                f"The start of {name!r} is left aside: categories have no box.",
                BotorchWarning,
                stacklevel=2,
            )
        return Categorical(range(len(distribution.choices)))
    assert isinstance(distribution, IntDistribution | FloatDistribution)
    return number(
        name,
        (distribution.low, distribution.high),
        start,
        log=distribution.log,
        integer=isinstance(distribution, IntDistribution),
        step=None if distribution.log else distribution.step,
    )


def _known_point(trial: FrozenTrial, search_space: SearchSpace) -> dict[str, Any] | None:
    """Numbers and codes of categories by name, or ``None`` if some are missing or out of range."""
    written = {} if trial.state.is_finished() else read_proposal(trial)
    point: dict[str, Any] = {}
    for name, d in search_space.items():
        if name in trial.params:
            value = trial.params[name]
            if isinstance(d, CategoricalDistribution):
                value = int(d.to_internal_repr(value))
        elif name in written:
            value = written[name]
        else:
            return None
        if isinstance(d, FloatDistribution | IntDistribution) and not d.low <= value <= d.high:
            return None
        point[name] = value
    return point


def _alike(one: BaseDistribution, other: BaseDistribution) -> bool:
    """Whether two ranges are of one parameter: of one kind, whatever their ends."""
    if isinstance(one, CategoricalDistribution):
        return one == other
    return type(one) is type(other) and getattr(one, "log", None) == getattr(other, "log", None)
