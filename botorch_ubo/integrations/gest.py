r"""A generator of gest-api, which runs in Xopt, libEnsemble and others.

Domains of the VOCS are limits, and ``start`` is the box:

    >>> vocs = VOCS(variables={"x": [-1e6, 1e6]}, objectives={"f": "MINIMIZE"})
    >>> generator = UBOGenerator(vocs, start={"x": (-1.0, 1.0)})
    >>> Xopt(generator=generator, evaluator=Evaluator(function=f)).step()
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

from botorch.exceptions.errors import BotorchError, InputDataError
from gest_api.generator import Generator
from gest_api.vocs import (
    VOCS,
    ContextualVariable,
    ContinuousVariable,
    DiscreteVariable,
    MaximizeObjective,
    MinimizeObjective,
)

from botorch_ubo.acquisition.search import SearchSettings, SpaceExhaustedError
from botorch_ubo.controller import DEFAULT_METHOD, Method
from botorch_ubo.integrations.translate import Start, check_start, number
from botorch_ubo.run import Outcome, propose
from botorch_ubo.spaces import Categorical, Ordinal, Parameter, Space

_INTEGERS = (int, "int", "i4", "i8", "int32", "int64")


class UBOGenerator(Generator):
    """Points from a box that grows; see the module."""

    returns_id: ClassVar[bool] = True

    def __init__(
        self,
        vocs: VOCS,
        start: Start | None = None,
        *,
        log: tuple[str, ...] = (),
        num_initial: int | None = None,
        batch_size: int = 1,
        method: str | Method = DEFAULT_METHOD,
        search: SearchSettings | None = None,
        seed: int = 0,
    ) -> None:
        r"""A generator whose box grows.

        Args:
            vocs: Variables, one objective, constants; no constraints.
            start: First boxes by name; a variable without one starts from its domain.
            log: Names of variables on a logarithmic scale.
            num_initial: Space-filling points before the first model; ``3 d``, but no more than
                30, by default.
            batch_size: How many points ``suggest`` returns if it is not told.
            method: A method whose box follows from the data alone; see
                :func:`botorch_ubo.propose`.
            search: How hard to search for the maximum of an acquisition function.
            seed: Seed of all random choices.
        """
        super().__init__(vocs)
        boxes = check_start(start)
        unknown = {*boxes, *log} - set(vocs.variables)
        if unknown:
            raise ValueError(
                f"Expected variables of the VOCS in `start` and `log`; got {sorted(unknown)}."
            )
        self._single = {
            name: next(iter(variable.values))
            for name, variable in vocs.variables.items()
            if isinstance(variable, DiscreteVariable) and len(variable.values) == 1
        }
        try:
            self.space = Space(
                {
                    name: _parameter(name, variable, boxes.get(name), name in log)
                    for name, variable in vocs.variables.items()
                    if name not in self._single
                }
            )
        except BotorchError as error:
            raise ValueError(str(error)) from error
        self.vocs = vocs
        self.batch_size = batch_size
        self._objective, kind = next(iter(vocs.objectives.items()))
        self._settings: dict[str, Any] = {
            "direction": "maximize" if isinstance(kind, MaximizeObjective) else "minimize",
            "method": method,
            "num_initial": num_initial,
            "search": search,
            "seed": seed,
        }
        self._record: list[Outcome] = []
        self._places: dict[int, int | None] = {}

    @property
    def record(self) -> tuple[Outcome, ...]:
        """All points that were suggested or ingested, in that order."""
        return tuple(self._record)

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        r"""The next points to evaluate.

        Args:
            num_points: How many; ``batch_size`` if omitted.

        Returns:
            Values by name, constants and an ``_id``.

        Raises:
            ValueError: If discrete variables have fewer points that are not known.
        """
        count = self.batch_size if num_points is None else num_points
        if count < 0:
            raise ValueError(f"Expected `num_points` >= 0; got {count}.")
        if count == 0:
            return []
        constants = {name: constant.value for name, constant in self.vocs.constants.items()}
        constants |= self._single
        try:
            proposed = propose(self.space, self._record, count, **self._settings)
        except SpaceExhaustedError as error:
            raise ValueError(str(error)) from error
        points = []
        for point in proposed:
            key = len(self._places)
            self._places[key] = len(self._record)
            self._record.append(Outcome(point))
            points.append({**point, **constants, "_id": key})
        return points

    def ingest(self, results: list[dict[str, Any]]) -> None:
        r"""Take in evaluations, of suggested points or of others.

        Args:
            results: Values by name, with the objective; one that is missing, NaN or infinite is a
                failure. Nothing is taken in if one of them is malformed.

        Raises:
            ValueError: For an ``_id`` that was never given out, or values beyond the domains.
        """
        record = list(self._record)
        for result in results:
            value = result.get(self._objective)
            value = math.nan if value is None else float(value)
            key = result.get("_id")
            if key is None or key != key:  # points of others have none, or NaN in a data frame
                record.append(Outcome(self._point(result), value))
                continue
            if int(key) not in self._places:
                raise ValueError(f"Expected an `_id` that was suggested; got {key!r}.")
            place = self._places[int(key)]
            if place is None:  # it came after `finalize`
                record.append(Outcome(self._point(result), value))
            else:
                record[place] = replace(record[place], value=value)
        self._record = record

    def finalize(self) -> None:
        """Nothing more is expected: points that are under way are forgotten."""
        self._record = [outcome for outcome in self._record if not outcome.pending]
        self._places = dict.fromkeys(self._places)

    def _point(self, result: dict[str, Any]) -> dict[str, Any]:
        missing = [name for name in self.space.names if name not in result]
        if missing:
            raise ValueError(f"Expected values of all variables; got none of {missing}.")
        point = {name: result[name] for name in self.space.names}
        try:
            self.space.encode(point)
        except BotorchError as error:
            raise ValueError(str(error)) from error
        return point

    def _validate_vocs(self, vocs: VOCS) -> None:
        kinds = MinimizeObjective | MaximizeObjective
        if len(vocs.objectives) != 1 or not isinstance(next(iter(vocs.objectives.values())), kinds):
            raise ValueError(
                f"Expected one objective to be minimised or maximised; got {vocs.objectives}."
            )
        if vocs.constraints:
            raise ValueError(
                "Constraints are not supported: return NaN where a result is of no use."
            )
        for name, variable in vocs.variables.items():
            if isinstance(variable, ContextualVariable) or not isinstance(
                variable, ContinuousVariable | DiscreteVariable
            ):
                raise ValueError(
                    f"Expected continuous or discrete variables; {name!r} is a "
                    f"{type(variable).__name__}."
                )


def _parameter(name: str, variable: Any, start: tuple[float, float] | None, log: bool) -> Parameter:
    if isinstance(variable, DiscreteVariable):
        if start is not None or log:
            raise InputDataError(
                f"Expected `start` and `log` of continuous variables; {name!r} is discrete, and "
                "all of its values are searched from the first. Leave it out."
            )
        values = list(variable.values)
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
            return Ordinal(sorted(values))
        return Categorical(sorted(values, key=repr))
    low, high = variable.domain
    integer = variable.dtype in _INTEGERS
    return number(name, (low, high), start, log=log, integer=integer)
