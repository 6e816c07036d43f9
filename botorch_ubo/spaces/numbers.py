"""Numbers as parameters: real ones and integers, on a linear or a logarithmic scale."""

from __future__ import annotations

import math
import operator
from dataclasses import asdict, dataclass
from typing import Any

from botorch.exceptions.errors import InputDataError

from botorch_ubo.spaces.parameter import Parameter

Limits = tuple[float | None, float | None] | None
_LEAST_LOG, _MOST_LOG = -744.4, 709.7  # whose exponentials are numbers, and not 0


@dataclass(frozen=True)
class Float(Parameter):
    r"""A real number.

    Args:
        low: Lower end of the first box: a rough guess.
        high: Upper end of it.
        log: Whether the scale is logarithmic: ``u = log x``, and the box grows by factors.
        limits: ``(lower, upper)`` that no value crosses, ``None`` for a free side. A logarithmic
            parameter is positive without being told.
        step: If given, values are ``step`` apart, counted from the lower limit, or from ``low`` if
            there is none.
    """

    low: float
    high: float
    log: bool = False
    limits: Limits = None
    step: float | None = None

    def __post_init__(self) -> None:
        """Validate."""
        low, high = _number(self.low, "low"), _number(self.high, "high")
        least, most = self.range
        if not (math.isfinite(low) and math.isfinite(high)):
            raise InputDataError(
                f"Expected a finite first box; got ({low}, {high}). Give a rough guess: it grows "
                "by itself, and `limits` says what it must not cross."
            )
        if not low < high:
            raise InputDataError(
                f"Expected low < high; got ({low}, {high}). Swap them, or leave a parameter that "
                "is fixed out of the search."
            )
        if not least <= low or not high <= most:
            raise InputDataError(
                f"Expected the first box ({low}, {high}) within the limits {self.limits}. Narrow "
                "the box, or relax the limits."
            )
        if self.log and low <= 0:
            raise InputDataError(
                f"Expected positive numbers with log=True; got low={low}. Leave the logarithm out, "
                "or give the least value that makes sense."
            )
        if self.step is not None and (self.log or not 0 < self.step < math.inf):
            raise InputDataError(
                f"Expected a positive `step`, and none with log=True; got {self.step} with "
                f"log={self.log}."
            )
        if self.step is not None and self._index(high) <= self._index(low):
            raise InputDataError(
                f"Expected at least two values {self.step} apart in the first box ({low}, {high})."
            )

    @property
    def range(self) -> tuple[float, float]:
        """The limits in the user's units, infinite on free sides."""
        lower, upper = (None, None) if self.limits is None else self.limits
        least = -math.inf if lower is None else _number(lower, "limits")
        most = math.inf if upper is None else _number(upper, "limits")
        if not least < most:
            raise InputDataError(
                f"Expected lower < upper in `limits`; got {self.limits}. Use None for a free side."
            )
        return least, most

    @property
    def grid(self) -> bool:
        """Whether there is a step."""
        return self.step is not None

    @property
    def interval(self) -> tuple[float, float]:
        """The first box in coordinates."""
        return self._to(self.low), self._to(self.high)

    @property
    def walls(self) -> tuple[float, float]:
        """The limits in coordinates."""
        least, most = self.range
        if self.log:
            return (math.log(least) if least > 0 else -math.inf), self._to(most)
        return least, most

    def encode(self, value: Any) -> float:
        """``x``, or its logarithm."""
        x = _number(value, "a value")
        if not math.isfinite(x) or (self.log and x <= 0):
            kind = "a positive finite number" if self.log else "a finite number"
            raise InputDataError(f"Expected {kind}; got {value!r}.")
        return self._to(x)

    def decode(self, u: float) -> float:
        """The number at a coordinate."""
        least, most = self.range
        x = _exp(u) if self.log else float(u)
        if self.step is not None:
            x = self._anchor + self._index(x) * self.step
        return min(max(x, least), most)  # e^(log x) may be beyond x by a rounding

    def beside(self, u: float) -> list[float]:
        """The grid's values on either side."""
        if self.step is None:
            return []
        here = self.snap(u)
        index = self._index(self.decode(here))
        near = [
            self.encode(self.decode(self._anchor + k * self.step)) for k in (index - 1, index + 1)
        ]
        return [v for v in near if v != here]

    def describe(self) -> dict[str, Any]:
        """The parameter as JSON values."""
        limits = None if self.limits is None else list(self.limits)
        return {"type": "float", **asdict(self), "limits": limits}

    @property
    def _anchor(self) -> float:
        least = self.range[0]
        return least if math.isfinite(least) else float(self.low)

    def _index(self, x: float) -> int:
        """Which value of the grid is nearest."""
        assert self.step is not None
        least, most = self.range
        k = round((x - self._anchor) / self.step)
        if math.isfinite(least):
            k = max(k, 0)
        if math.isfinite(most):
            k = min(k, math.floor((most - self._anchor) / self.step + 1e-9))
        return k

    def _to(self, x: float) -> float:
        return math.log(x) if self.log else float(x)


@dataclass(frozen=True)
class Integer(Parameter):
    r"""An integer: real to the model, rounded before it is evaluated.

    Args:
        low: Least integer of the first box: a rough guess.
        high: Greatest integer of it.
        log: Whether the scale is logarithmic; integers are then at least 1.
        limits: ``(lower, upper)``, both allowed values, that no value crosses; ``None`` for a free
            side.
        step: Values are ``step`` apart, counted from the lower limit, or from ``low`` if there is
            none.
    """

    low: int
    high: int
    log: bool = False
    limits: tuple[int | None, int | None] | None = None
    step: int = 1

    def __post_init__(self) -> None:
        """Validate."""
        low, high, step = _integer(self.low), _integer(self.high), _integer(self.step)
        least, most = self.range
        if not low < high or not least <= low or not high <= most:
            raise InputDataError(
                f"Expected low < high, within the limits {self.limits}; got ({low}, {high}). Leave "
                "a parameter that is fixed out of the search."
            )
        if self.log and low < 1:
            raise InputDataError(
                f"Expected integers of at least 1 with log=True; got low={low}. Leave the "
                "logarithm out."
            )
        if step < 1 or self._nearest(high) <= self._nearest(low):
            raise InputDataError(
                f"Expected a `step` of at least 1, and two values in the first box; got {step} for "
                f"({low}, {high})."
            )
        if not self._to(low) < self._to(high):
            raise InputDataError(
                f"Expected integers that differ as floating-point numbers; got ({low}, {high}). "
                "Subtract what they have in common."
            )

    @property
    def range(self) -> tuple[float, float]:
        """The limits in the user's units, infinite on free sides."""
        lower, upper = (None, None) if self.limits is None else self.limits
        least: float = -math.inf if lower is None else _integer(lower)
        most: float = math.inf if upper is None else _integer(upper)
        if not least < most:
            raise InputDataError(
                f"Expected lower < upper in `limits`; got {self.limits}. Use None for a free side."
            )
        return (max(least, 1) if self.log else least), most

    @property
    def interval(self) -> tuple[float, float]:
        """The first box in coordinates."""
        return self._to(self.low), self._to(self.high)

    @property
    def drawn(self) -> tuple[float, float]:
        """Half a step more on either side, where rounding is the same for all."""
        half = 0.0 if self.log else self.step / 2
        return self.interval[0] - half, self.interval[1] + half

    @property
    def walls(self) -> tuple[float, float]:
        """The limits in coordinates."""
        least, most = self.range
        return self._to(least), self._to(most)

    def encode(self, value: Any) -> float:
        """The integer as a number, or its logarithm."""
        n = _integer(value)
        if self.log and n < 1:
            raise InputDataError(f"Expected an integer of at least 1; got {value!r}.")
        return self._to(n)

    def decode(self, u: float) -> int:
        """The integer nearest to a coordinate."""
        x = _exp(u) if self.log else u
        return self._nearest(x)

    def beside(self, u: float) -> list[float]:
        """The integers on either side."""
        here = self.decode(u)
        near = {self._nearest(here - self.step), self._nearest(here + self.step)}
        return [self._to(n) for n in sorted(near) if n != here]

    def describe(self) -> dict[str, Any]:
        """The parameter as JSON values."""
        limits = None if self.limits is None else list(self.limits)
        return {"type": "integer", **asdict(self), "limits": limits}

    def _nearest(self, x: float) -> int:
        least, most = self.range
        anchor = 0
        if self.step != 1:
            lower = None if self.limits is None else self.limits[0]
            anchor = self.low if lower is None else lower
        k = round((x - anchor) / self.step) if self.step != 1 else round(x)
        if math.isfinite(least):
            k = max(k, -((anchor - int(least)) // self.step))
        if math.isfinite(most):
            k = min(k, (int(most) - anchor) // self.step)
        return anchor + k * self.step

    def _to(self, x: float) -> float:
        return math.log(x) if self.log and x < math.inf else float(x)


def _exp(u: float) -> float:
    return math.exp(min(max(u, _LEAST_LOG), _MOST_LOG))


def _number(value: Any, name: str) -> float:
    try:
        if isinstance(value, str | bytes | bool):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputDataError(f"Expected {name} to be a number; got {value!r}.") from error


def _integer(value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return operator.index(value)
    except TypeError as error:
        raise InputDataError(
            f"Expected an integer; got {value!r}. Use Float for real numbers."
        ) from error
