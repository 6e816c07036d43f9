r"""A generation node for Ax: the search space of the experiment is the limit, ``start`` the box.

    >>> client.configure_experiment(parameters=[
    >>>     RangeParameterConfig(name="x", bounds=(-1e6, 1e6), parameter_type="float")])
    >>> client.configure_optimization(objective="-loss")
    >>> client.set_generation_strategy(expanding_strategy(start={"x": (-1.0, 1.0)}))

No candidate leaves the search space: Ax would take it, and then leave it out of its answers.
Importing this module makes the node known to Ax's storage: ``client.save_to_json_file`` works, and
:func:`storage_config` is for databases.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.parameter import ChoiceParameter, FixedParameter, ParameterType, RangeParameter
from ax.core.search_space import SearchSpace
from ax.core.trial_status import TrialStatus
from ax.core.types import TParameterization
from ax.exceptions.core import SearchSpaceExhausted
from ax.generation_strategy.external_generation_node import ExternalGenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.storage.json_store.registry import CORE_DECODER_REGISTRY, CORE_ENCODER_REGISTRY
from botorch.exceptions.errors import UnsupportedError
from botorch.exceptions.warnings import BotorchWarning

from botorch_ubo.acquisition.search import SearchSettings, SpaceExhaustedError
from botorch_ubo.controller import DEFAULT_METHOD
from botorch_ubo.controller.method import get_method
from botorch_ubo.controller.rebuilding import check_rebuildable
from botorch_ubo.integrations.translate import Start, check_start, number
from botorch_ubo.run import Outcome, propose
from botorch_ubo.spaces import Categorical, Ordinal, Parameter, Space

# An early-stopped trial has been found to be of no use.
_LOST = (
    TrialStatus.FAILED,
    TrialStatus.ABANDONED,
    TrialStatus.EARLY_STOPPED,
    TrialStatus.STALE,
)


class UBONode(ExternalGenerationNode):
    """Candidates from a box that grows; see the module."""

    def __init__(
        self,
        start: Start | None = None,
        *,
        num_initial: int | None = None,
        method: str = DEFAULT_METHOD,
        seed: int = 0,
        name: str = "UBO",
        search: Mapping[str, Any] | None = None,
    ) -> None:
        r"""Candidates from a box that grows.

        Args:
            start: First boxes by name; a parameter without one starts from its range.
            num_initial: Space-filling trials before the first model; three per
                parameter, but no more than 30, by default.
            method: The name of a method whose box follows from the data alone; see
                :func:`botorch_ubo.propose`.
            seed: Seed of all random choices.
            name: Of the node.
            search: Arguments of :class:`botorch_ubo.SearchSettings`.
        """
        # A repetition is proposed under noise only, where it is worth something.
        super().__init__(name=name, should_deduplicate=False)
        self.start = check_start(start)
        check_rebuildable(get_method(method))
        self.num_initial, self.method, self.seed = num_initial, method, seed
        self.search = dict(search or {})
        self._settings = SearchSettings(**self.search)
        self._space: Space | None = None
        self._fixed: dict[str, Any] = {}
        self._record: list[Outcome] = []
        self._direction = "minimize"

    def update_generator_state(self, experiment: Experiment, data: Data) -> None:
        r"""Read all trials.

        Args:
            experiment: The experiment.
            data: Its data.
        """
        self._space, self._fixed = translate(experiment.search_space, self.start)
        metric, self._direction = _objective(experiment)
        self._record = _record(experiment, data, metric, self._space)

    def get_next_candidate(self, pending_parameters: list[TParameterization]) -> TParameterization:
        r"""The next candidate.

        Args:
            pending_parameters: Candidates that are being evaluated, or were given out just now.

        Returns:
            Values by name.
        """
        assert self._space is not None  # Ax has called `update_generator_state`
        known = [outcome.point for outcome in self._record]
        pending = [{name: p[name] for name in self._space.names} for p in pending_parameters]
        new = [Outcome(point) for point in pending if point not in known]
        try:
            (point,) = propose(
                self._space,
                [*self._record, *new],
                direction=self._direction,  # type: ignore[arg-type]  # one of the two
                method=self.method,
                num_initial=self.num_initial,
                search=self._settings,
                seed=self.seed,
            )
        except SpaceExhaustedError as error:
            raise SearchSpaceExhausted(str(error)) from error
        return {**point, **self._fixed}


def expanding_strategy(start: Start | None = None, **options: Any) -> GenerationStrategy:
    r"""A generation strategy of one node.

    Args:
        start: First boxes by name.
        options: Further arguments of :class:`UBONode`.

    Returns:
        The strategy, for ``client.set_generation_strategy``.
    """
    return GenerationStrategy(nodes=[UBONode(start, **options)], name="UBO")


def translate(space: SearchSpace, start: Start) -> tuple[Space, dict[str, Any]]:
    r"""The parameters of a search space.

    Args:
        space: The search space, without constraints.
        start: First boxes by name.

    Returns:
        Those to be searched, and the values of those that are fixed.
    """
    if space.parameter_constraints:
        raise UnsupportedError(
            f"Expected a search space without constraints; got {space.parameter_constraints}. "
            "Leave them out, and let evaluations fail where they are broken."
        )
    unknown = set(start) - set(space.parameters)
    if unknown:
        raise UnsupportedError(f"Expected parameters of the experiment; got {sorted(unknown)}.")
    parameters: dict[str, Parameter] = {}
    fixed: dict[str, Any] = {}
    for name, p in space.parameters.items():
        if getattr(p, "is_hierarchical", False):
            raise UnsupportedError(
                f"Expected parameters that every trial has; {name!r} decides on others. Search "
                "each branch by itself."
            )
        if isinstance(p, RangeParameter):
            integer = p.parameter_type == ParameterType.INT
            parameters[name] = number(
                name, (p.lower, p.upper), start.get(name), log=p.log_scale, integer=integer
            )
            continue
        if name in start:
            warnings.warn(
                f"The start of {name!r} is left aside: it is a {type(p).__name__}, which has no "
                "box. Ax makes one of a range with a `step_size`; leave that out.",
                BotorchWarning,
                stacklevel=2,
            )
        if isinstance(p, FixedParameter):
            fixed[name] = p.value
        elif isinstance(p, ChoiceParameter) and len(p.values) == 1:
            fixed[name] = p.values[0]
        elif isinstance(p, ChoiceParameter):
            parameters[name] = (Ordinal if p.is_ordered else Categorical)(list(p.values))
        else:
            raise UnsupportedError(
                f"Expected ranges, choices and fixed values; {name!r} is a {type(p).__name__}."
            )
    return Space(parameters), fixed


def storage_config(url: str) -> Any:
    r"""A configuration for experiments in a database that hold this node.

    Args:
        url: Of the database, as SQLAlchemy has it.

    Returns:
        What ``Client(storage_config=...)`` takes.
    """
    from ax.api.configs import StorageConfig
    from ax.storage.metric_registry import CORE_METRIC_REGISTRY
    from ax.storage.registry_bundle import RegistryBundle

    bundle = RegistryBundle(
        metric_clss={**CORE_METRIC_REGISTRY},
        runner_clss={},
        json_encoder_registry=dict(CORE_ENCODER_REGISTRY),
        json_decoder_registry=dict(CORE_DECODER_REGISTRY),
    )
    return StorageConfig(url=url, registry_bundle=bundle)


def _objective(experiment: Experiment) -> tuple[str, str]:
    """The metric, and whether to minimise or maximise it."""
    config = experiment.optimization_config
    goal = None if config is None else config.objective
    if config is None or goal is None or goal.is_multi_objective or goal.is_scalarized_objective:
        raise UnsupportedError(
            f"Expected an experiment with one objective, a single metric; got {goal}. Report one "
            "number that weighs the others."
        )
    if config.outcome_constraints:
        raise UnsupportedError(
            f"Expected no outcome constraints; got {config.outcome_constraints}. Mark trials that "
            "break them as failed."
        )
    return goal.metric_names[0], "minimize" if goal.minimize else "maximize"


def _record(experiment: Experiment, data: Data, metric: str, space: Space) -> list[Outcome]:
    """All arms of all trials, in their order."""
    frame = data.df
    frame = frame[frame["metric_name"] == metric] if len(frame) else frame
    values = {
        (row.trial_index, row.arm_name): (float(row.mean), float(row.sem))
        for row in frame.itertuples()
    }
    noisy = all(sem == sem for _, sem in values.values())  # NaN: not known
    record = []
    for index, trial in experiment.trials.items():
        for arm in trial.arms:
            point = {name: arm.parameters.get(name) for name in space.names}
            if not _within(space, point):
                continue
            if trial.status in _LOST:
                record.append(Outcome(point, failed=True))
            elif trial.status != TrialStatus.COMPLETED:
                record.append(Outcome(point))
            elif (index, arm.name) in values:
                mean, sem = values[index, arm.name]
                record.append(Outcome(point, mean, sem**2 if noisy else None))
            else:
                record.append(Outcome(point, failed=True))
    return record


def _within(space: Space, point: dict[str, Any]) -> bool:
    """Whether a point is one of the space: an attached trial need not be."""
    try:
        space.encode(point)
    except Exception:
        return False
    return True


def _to_dict(node: UBONode) -> dict[str, Any]:
    return {
        "__type": "UBONode",
        "start": {name: list(pair) for name, pair in node.start.items()},
        "num_initial": node.num_initial,
        "method": node.method,
        "seed": node.seed,
        "name": node.name,
        "search": node.search,
    }


CORE_ENCODER_REGISTRY[UBONode] = _to_dict
CORE_DECODER_REGISTRY["UBONode"] = UBONode
