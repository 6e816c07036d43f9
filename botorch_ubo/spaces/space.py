"""Parameters under their names: from dicts of values to points of a box, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.spaces.numbers import Float, Integer
from botorch_ubo.spaces.parameter import Parameter
from botorch_ubo.spaces.values import Categorical, Ordinal


class Space:
    r"""Parameters under their names, one coordinate each.

    Example:
        >>> space = Space({
        >>>     "lr": Float(1e-4, 1e-2, log=True),
        >>>     "layers": Integer(1, 3, limits=(1, None)),
        >>>     "act": Categorical(["relu", "tanh"]),
        >>>     "x": (-1.0, 1.0),
        >>> })
        >>> space.decode(space.encode({"lr": 1e-3, "layers": 2, "act": "tanh", "x": 0.0}))
    """

    def __init__(self, parameters: Mapping[str, Parameter | Sequence[float]]) -> None:
        r"""Parameters under their names.

        Args:
            parameters: By name; a plain pair ``(low, high)`` is ``Float(low, high)``.
        """
        if not isinstance(parameters, Mapping) or not parameters:
            raise InputDataError(
                f"Expected a mapping of at least one name to a parameter; got {parameters!r}."
            )
        self.parameters = {name: _parameter(name, value) for name, value in parameters.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of the coordinates."""
        return tuple(self.parameters)

    def __len__(self) -> int:
        """The number of parameters, which is that of coordinates."""
        return len(self.parameters)

    def __eq__(self, other: object) -> bool:
        """Whether names, parameters and their order are the same."""
        return isinstance(other, Space) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        """As it was made."""
        return f"Space({self.parameters!r})"

    @cached_property
    def bounds(self) -> Tensor:
        """The first ``2 x d`` box, in coordinates."""
        return _columns([p.interval for p in self.parameters.values()])

    @cached_property
    def limits(self) -> Tensor:
        """``2 x d`` hard limits in coordinates, infinite on free sides."""
        return _columns([p.walls for p in self.parameters.values()])

    @cached_property
    def categories(self) -> tuple[tuple[int, int], ...]:
        """Column and number of values of each categorical parameter."""
        return tuple(
            (i, int(p.interval[1]) + 1)
            for i, p in enumerate(self.parameters.values())
            if p.categorical
        )

    @cached_property
    def grid(self) -> tuple[int, ...]:
        """Columns of the parameters whose values are apart from each other."""
        return tuple(i for i, p in enumerate(self.parameters.values()) if p.grid)

    @cached_property
    def listed(self) -> tuple[int, ...]:
        """Columns of the parameters that are a value of a list, and have no box that grows."""
        parameters = enumerate(self.parameters.values())
        return tuple(i for i, p in parameters if isinstance(p, Ordinal | Categorical))

    def encode(self, params: Mapping[str, Any]) -> tuple[float, ...]:
        """The coordinates of a dict of values."""
        if not isinstance(params, Mapping) or params.keys() != self.parameters.keys():
            got = sorted(map(str, params)) if isinstance(params, Mapping) else repr(params)
            raise InputDataError(
                f"Expected a value for each of {sorted(self.parameters)}, and no other; got {got}."
            )
        return tuple(_encode(name, p, params[name]) for name, p in self.parameters.items())

    def decode(self, point: Sequence[float]) -> dict[str, Any]:
        """The values nearest to a point, within the limits and on the grid."""
        pairs = zip(self.parameters.items(), point, strict=True)
        return {name: p.decode(u) for (name, p), u in pairs}

    def snap(self, point: Sequence[float]) -> tuple[float, ...]:
        """The coordinates of the values nearest to a point."""
        pairs = zip(self.parameters.values(), point, strict=True)
        return tuple(p.snap(u) for p, u in pairs)

    def beside(self, point: tuple[float, ...]) -> list[tuple[float, ...]]:
        """Points that differ in one parameter, by one step of its grid or in the category."""
        return [
            (*point[:i], u, *point[i + 1 :])
            for i, p in enumerate(self.parameters.values())
            for u in p.beside(point[i])
        ]

    def show(self, point: Sequence[float]) -> str:
        """A point in words, for a person."""
        pairs = zip(self.parameters.items(), point, strict=True)
        return ", ".join(f"{name} = {p.show(u)}" for (name, p), u in pairs)

    def show_box(self, box: Sequence[Sequence[float]], most: int | None = None) -> str:
        """A box in words: what of it can grow, ``most`` parameters at most."""
        ends = [
            f"{name} {p.show(a)} to {p.show(b)}"
            for i, ((name, p), a, b) in enumerate(zip(self.parameters.items(), *box, strict=True))
            if i not in self.listed
        ]
        shown = ends if most is None else ends[:most]
        return ", ".join(shown) + (", ..." if len(shown) < len(ends) else "")

    def in_names(self, text: str) -> str:
        """A text that speaks of ``x0``, ``x1`` and so on, in names."""
        return re.sub(r"\bx(\d+)\b", lambda match: self.names[int(match[1])], text)

    def describe(self) -> list[dict[str, Any]]:
        """The space as JSON values, to tell whether another is the same, or to make it again."""
        return [{"name": name, **p.describe()} for name, p in self.parameters.items()]

    @classmethod
    def from_description(cls, values: Any) -> Space:
        """The inverse of :meth:`describe`."""
        return cls({value["name"]: _described(value) for value in values})


Named = Space | Mapping[str, Parameter | Sequence[float]]
"""Parameters by name."""


def as_space(value: Any) -> Space | None:
    """A space made of a mapping, a space itself, or ``None`` for bounds in another form."""
    if isinstance(value, Space):
        return value
    return Space(value) if isinstance(value, Mapping) else None


def _parameter(name: Any, value: Any) -> Parameter:
    if not isinstance(name, str) or not name:
        raise InputDataError(f"Expected names of parameters as texts; got {name!r}.")
    if isinstance(value, Parameter):
        return value
    if isinstance(value, Mapping):
        raise InputDataError(
            f"Expected parameter {name!r} to be a pair, Float, Integer, Ordinal or Categorical; "
            f"got {value!r}. Parameters that exist only for some value of another are not "
            "supported: search each branch by itself, or give every parameter a value in all of "
            "them."
        )
    try:
        low, high = value
        return Float(low, high)
    except (TypeError, ValueError) as error:
        raise InputDataError(
            f"Expected parameter {name!r} to be a pair (low, high), Float, Integer, Ordinal or "
            f"Categorical; got {value!r}."
        ) from error
    except InputDataError as error:
        raise InputDataError(f"Parameter {name!r}: {error}") from error


def _described(value: Mapping[str, Any]) -> Parameter:
    fields = {key: item for key, item in value.items() if key not in ("name", "type")}
    if value["type"] in ("ordinal", "categorical"):
        if any(isinstance(item, Mapping) for item in fields["values"]):
            raise InputDataError(
                f"Expected values of {value['name']!r} that a file can hold; it has "
                f"{fields['values']}. Pass the parameters themselves."
            )
        return (Ordinal if value["type"] == "ordinal" else Categorical)(fields["values"])
    limits = fields["limits"]
    fields["limits"] = None if limits is None else tuple(limits)
    return (Float if value["type"] == "float" else Integer)(**fields)


def _encode(name: str, parameter: Parameter, value: Any) -> float:
    try:
        u = parameter.encode(value)
    except InputDataError as error:
        raise InputDataError(f"Parameter {name!r}: {error}") from error
    lower, upper = parameter.walls
    if not lower <= u <= upper:
        raise InputDataError(
            f"Expected parameter {name!r} within its limits {getattr(parameter, 'limits', None)}; "
            f"got {value!r}. Correct the value, or relax `limits`."
        )
    return u


def _columns(pairs: list[tuple[float, float]]) -> Tensor:
    return torch.tensor(pairs, dtype=torch.double).T.contiguous()
