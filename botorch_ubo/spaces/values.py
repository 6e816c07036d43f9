"""Listed values as parameters: in an order that means something, or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from botorch.exceptions.errors import InputDataError

from botorch_ubo.spaces.parameter import Parameter

_OF_JSON = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class _Listed(Parameter):
    values: Sequence[Any]

    def __post_init__(self) -> None:
        """Validate, and keep a copy that does not change."""
        if isinstance(self.values, Mapping) or any(isinstance(v, Mapping) for v in self.values):
            raise InputDataError(
                f"Expected a list of values; got {self.values!r}. Parameters that exist only for "
                "some value of another are not supported: search each branch by itself, or give "
                "every parameter a value in all branches."
            )
        if isinstance(self.values, str | bytes):
            raise InputDataError(f"Expected a list of values; got the text {self.values!r}.")
        values = tuple(self.values)
        object.__setattr__(self, "values", values)
        if len(values) < 2 or len({_key(v) for v in values}) != len(values):
            raise InputDataError(
                f"Expected at least two values, all different; got {list(values)}. Leave a "
                "parameter that is fixed out of the search."
            )

    @property
    def interval(self) -> tuple[float, float]:
        """All indices."""
        return 0.0, float(len(self.values) - 1)

    @property
    def drawn(self) -> tuple[float, float]:
        """Half an index more on either side, where rounding is the same for all."""
        return -0.5, len(self.values) - 0.5

    @property
    def walls(self) -> tuple[float, float]:
        """All indices: there is nothing beyond the list."""
        return self.interval

    def encode(self, value: Any) -> float:
        """The index of a value."""
        keys = [_key(v) for v in self.values]
        if _key(value) in keys:
            return float(keys.index(_key(value)))
        if value in self.values:  # 1 for 1.0, as after a trip through JSON
            return float(list(self.values).index(value))
        raise InputDataError(f"Expected one of {list(self.values)}; got {value!r}.")

    def decode(self, u: float) -> Any:
        """The value at the nearest index."""
        return self.values[min(max(round(u), 0), len(self.values) - 1)]

    def describe(self) -> dict[str, Any]:
        """The parameter as JSON values."""
        values = [v if type(v) in _OF_JSON else {"not_json": repr(v)} for v in self.values]
        return {"type": type(self).__name__.lower(), "values": values}


@dataclass(frozen=True)
class Ordinal(_Listed):
    r"""A value of a list whose order means something: sizes 16, 32, 64.

    Its coordinate is the index. The box of an ordinal does not grow beyond the list.

    Args:
        values: At least two, in order.
    """

    def beside(self, u: float) -> list[float]:
        """The indices on either side."""
        near = (round(u) - 1, round(u) + 1)
        return [float(i) for i in near if 0 <= i < len(self.values)]


@dataclass(frozen=True)
class Categorical(_Listed):
    r"""A value of a list whose order means nothing: names of optimisers.

    Its coordinate is a code, of which the model sees only whether it is the same. Categories do
    not grow, and are one dimension however many there are.

    Args:
        values: At least two.
    """

    categorical: ClassVar[bool] = True

    def beside(self, u: float) -> list[float]:
        """All other categories."""
        return [float(i) for i in range(len(self.values)) if i != round(u)]


def _key(value: Any) -> Any:
    """Two values are one if they are equal and of one kind: True is not 1, and NaN is itself."""
    return type(value).__name__, repr(value)
