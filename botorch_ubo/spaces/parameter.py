"""What a parameter is to a search: one coordinate, a first interval of it, limits, and a grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar


class Parameter(ABC):
    r"""One parameter of a search: its values in the user's units, and its coordinate ``u``.

    A box lives, grows and is modelled in coordinates. What is evaluated is a value, and the model
    is shown the coordinate of that value.
    """

    categorical: ClassVar[bool] = False
    """Whether only equality of coordinates means anything."""

    @property
    def grid(self) -> bool:
        """Whether values are apart from each other, so that a point can come up twice."""
        return True

    @property
    @abstractmethod
    def interval(self) -> tuple[float, float]:
        """The first box, in coordinates."""

    @property
    def drawn(self) -> tuple[float, float]:
        """Where uniform draws make all values of the first box equally likely."""
        return self.interval

    @property
    @abstractmethod
    def walls(self) -> tuple[float, float]:
        """The hard limits, in coordinates; infinite on free sides."""

    @abstractmethod
    def encode(self, value: Any) -> float:
        """The coordinate of a value; refuses one that is not of this parameter."""

    @abstractmethod
    def decode(self, u: float) -> Any:
        """The value nearest to a coordinate, within the limits and on the grid."""

    @abstractmethod
    def beside(self, u: float) -> list[float]:
        """Coordinates of the values next to one on the grid; none without a grid."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The parameter as JSON values."""

    def snap(self, u: float) -> float:
        """The coordinate of the value nearest to ``u``, the same when it is encoded again."""
        for _ in range(8):  # log(exp(u)) may be a rounding away from u, once or twice
            again = self.encode(self.decode(u))
            if again == u:
                break
            u = again
        return u

    def show(self, u: float) -> str:
        """The value at a coordinate, for a person."""
        value = self.decode(u)
        return f"{value:.6g}" if isinstance(value, float) else str(value)
