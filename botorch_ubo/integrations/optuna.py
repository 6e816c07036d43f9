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
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from botorch.exceptions.warnings import BotorchWarning
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from botorch_ubo.acquisition.search import Lattice, SearchSettings, SpaceExhaustedError
from botorch_ubo.controller import DEFAULT_METHOD, Method
from botorch_ubo.controller.method import get_method
from botorch_ubo.controller.rebuilding import check_rebuildable
from botorch_ubo.integrations.optuna_storage import (
    SearchSpace,
    code_of,
    is_settled,
    read_proposal,
    read_record,
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
        warn_independent_sampling: bool = True,
        search: SearchSettings | None = None,
        seed: int | None = None,
    ) -> None:
        r"""A sampler whose box grows.

        Args:
            start: First boxes by name; a parameter without one starts from its range.
            n_startup_trials: Space-filling trials before the first model; three per
                parameter, but no more than 30, by default.
            method: A method whose box follows from the data alone; see
                :func:`botorch_ubo.propose`.
            independent_sampler: For parameters that not every trial has, and for the first trial,
                where there is no ``start``; uniform draws by default.
            consider_pruned_trials: Whether the last intermediate value of a pruned trial counts as
                its value; pruned trials are failed ones otherwise.
            warn_independent_sampling: Whether to warn of parameters that no model is asked for.
            search: How hard to search for the maximum of an acquisition function.
            seed: Seed of all random choices.
        """
        self._start = check_start(start)
        self._method = get_method(method)
        check_rebuildable(self._method)
        self._n_startup_trials = n_startup_trials
        self._independent = independent_sampler
        self._consider_pruned_trials = consider_pruned_trials
        self._warn_independent_sampling = warn_independent_sampling
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
            if self._independent is not None:
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
        space = Space({n: _parameter(n, d, self._start.get(n)) for n, d in search_space.items()})

        def suggest(record: list[Outcome]) -> dict[str, Any]:
            return self._propose(study, trial, space, record)

        with self._lock:  # a thread must see what the one before it has proposed
            point = self._agree(study, trial, search_space, suggest)
            settle_proposal(study, trial)
        return {name: _external(d, point[name]) for name, d in search_space.items()}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Uniform in the first box; in the first trials no point that another has, if possible."""
        self._raise_error_if_multi_objective(study)
        if self._warn_independent_sampling and param_name not in read_proposal(trial):
            self._warn_of_no_model(study, param_name)
        if self._independent is not None and param_name not in self._start:
            return self._independent.sample_independent(
                study, trial, param_name, param_distribution
            )
        space = {n: d for n, d in trial.distributions.items() if not d.single()}
        before = {n: code_of(d, trial.params[n]) for n, d in space.items()}
        space[param_name] = param_distribution
        parameter = _parameter(param_name, param_distribution, self._start.get(param_name))

        def draw(record: list[Outcome]) -> dict[str, Any]:
            u = self._seeds.uniform(*parameter.drawn, (trial.number, param_name))
            known: list[Any] = [other.point for other in record]
            taken = [p[param_name] for p in known if before.items() <= p.items()]
            return {**before, param_name: _new_value(parameter, u, taken)}

        with self._lock:
            # A draw from an interval is no other's, and neither is a point that was agreed upon.
            if is_settled(trial) or not all(map(_has_grid, space.values())):
                point = draw([])
            else:
                point = self._agree(study, trial, space, draw)
        return _external(param_distribution, point[param_name])

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """See ``BaseSampler``."""
        if self._independent is not None:
            self._independent.before_trial(study, trial)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """See ``BaseSampler``."""
        if self._independent is not None:
            self._independent.after_trial(study, trial, state, values)

    def _agree(
        self,
        study: Study,
        trial: FrozenTrial,
        search_space: SearchSpace,
        suggest: Callable[[list[Outcome]], dict[str, Any]],
    ) -> dict[str, Any]:
        """A point that no worker proposes at the same time, for all of them to see."""
        for _ in range(_ATTEMPTS):
            known = self._record(study, trial, search_space)
            point = suggest(list(known.values()))
            write_proposal(study, trial, point)
            if not self._taken_meanwhile(study, trial, search_space, point, known):
                break
        return point

    def _propose(
        self, study: Study, trial: FrozenTrial, space: Space, record: list[Outcome]
    ) -> dict[str, Any]:
        try:
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
        except SpaceExhaustedError:
            warnings.warn(
                f"All points of {list(space.names)} are known: they come again at random. Stop the "
                "study, or widen the ranges.",
                BotorchWarning,
                stacklevel=2,
            )
            return {
                name: p.decode(self._seeds.uniform(*p.drawn, (trial.number, name)))
                for name, p in space.parameters.items()
            }
        return dict(point)

    def _warn_of_no_model(self, study: Study, name: str) -> None:
        states = (TrialState.COMPLETE,)
        done = study._get_trials(deepcopy=False, states=states, use_cache=True)
        if len(done) > (self._n_startup_trials or 3):
            warnings.warn(
                f"{name!r} is drawn at random: not all completed trials have it, with one type and "
                "scale. A parameter that was renamed or changed needs a new study; of one that "
                "only some trials have, warn_independent_sampling=False says no more.",
                BotorchWarning,
                stacklevel=2,
            )

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
        return read_record(study, trial, search_space, self._consider_pruned_trials)


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


def _new_value(parameter: Parameter, u: float, taken: Sequence[Any]) -> Any:
    """The value at a coordinate, or the nearest one of its grid that the fewest have taken."""
    uses: Counter[tuple[float, ...]] = Counter(
        (parameter.snap(parameter.encode(value)),) for value in taken
    )
    point: tuple[float, ...] = (parameter.snap(u),)
    if point in uses:
        others = Lattice(Space({"value": parameter}), frozenset(uses)).nearest_fresh(point)
        point = others[0] if others else min(uses, key=lambda other: (uses[other], other != point))
    return parameter.decode(point[0])


def _external(distribution: BaseDistribution, value: Any) -> Any:
    """A value as Optuna has it."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.to_external_repr(value)
    return value


def _has_grid(distribution: BaseDistribution) -> bool:
    return not isinstance(distribution, FloatDistribution) or distribution.step is not None


def _alike(one: BaseDistribution, other: BaseDistribution) -> bool:
    """Whether two ranges are of one parameter: of one kind, whatever their ends."""
    if isinstance(one, CategoricalDistribution):
        return one == other
    return type(one) is type(other) and getattr(one, "log", None) == getattr(other, "log", None)
