"""A run whose parameters have names: dicts where a person looks, coordinates elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from botorch.exceptions.errors import InputDataError

from botorch_ubo.run.trials import Trial
from botorch_ubo.spaces import Space


@dataclass(frozen=True)
class NamedObjective:
    """An objective of values by name, as one of coordinates; it can be sent to another process."""

    f: Callable[[dict[str, Any]], Any]
    space: Space

    def __call__(self, point: list[float]) -> Any:
        """The objective's own answer."""
        return self.f(self.space.decode(point))


def with_params(space: Space | None, trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Trials with their values by name, if there are names."""
    if space is None:
        return tuple(trials)
    return tuple(replace(trial, params=space.decode(trial.X)) for trial in trials)


def encode_rows(space: Space, X: Any) -> list[tuple[float, ...]]:
    r"""Coordinates of evaluations that were handed in.

    Args:
        space: The parameters.
        X: A sequence of dicts, or a data frame with a column per parameter.

    Returns:
        One tuple of coordinates each.
    """
    rows = X.to_dict("records") if hasattr(X, "to_dict") and not isinstance(X, Mapping) else X
    listed = isinstance(rows, Iterable) and not isinstance(rows, Mapping | str)
    rows = list(rows) if listed else [None]
    if not all(isinstance(row, Mapping) for row in rows):
        raise InputDataError(
            f"Expected a list of dicts or a data frame with columns {list(space.names)}; got "
            f"{type(X).__name__}."
        )
    return [space.encode({name: row.get(name) for name in row}) for row in rows]


def check_no_limits(hard_limits: Any) -> None:
    """Refuse hard limits beside those of parameters with names."""
    if hard_limits is not None:
        raise InputDataError(
            "Expected limits with the parameters, as in `Float(1, 2, limits=(0, None))`; got "
            f"`hard_limits`={hard_limits!r}. Other limits are another run: hand the data of this "
            "one over with `data`."
        )
