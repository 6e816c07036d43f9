"""The newest fit of a run, from which the next one starts.

With one datum more, the hyper-parameters hardly change: a descent from where they were takes a
quarter of the steps, and keeps a maximum of the density that was found once. Every so often the
search goes everywhere again, for a maximum that has become a better one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from botorch.exceptions.errors import InputDataError
from botorch.models.model import Model

from botorch_ubo.models.quick import QuickGP, hyperparameters_of

GROWTH = 1.1
"""How many times the data of the last search everywhere make another one worth its cost."""


@dataclass(frozen=True)
class LastFit:
    """What was found in the newest fit, and from where."""

    num: int
    """Its data."""
    num_searched: int
    """Data of the last fit that searched everywhere."""
    found: tuple[float, ...]
    """Its hyper-parameters; see :func:`botorch_ubo.models.quick.hyperparameters_of`."""
    start: tuple[float, ...] | None = None
    """Those that it started from: with the same data, the same fit comes out again."""

    def next_start(self, n: int) -> tuple[tuple[float, ...] | None, bool]:
        r"""Where to start from.

        Args:
            n: The number of data to fit.

        Returns:
            Hyper-parameters, and whether to search everywhere beside.
        """
        if n == self.num:
            return self.start, self.num_searched == n
        return self.found, n < self.num or n >= GROWTH * self.num_searched

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LastFit:
        """The inverse of :meth:`to_dict`."""
        start = values["start"]
        return cls(
            num=_count(values["num"]),
            num_searched=_count(values["num_searched"]),
            found=tuple(map(float, values["found"])),
            start=None if start is None else tuple(map(float, start)),
        )


def remember_fit(model: Model, n: int, last: LastFit | None) -> LastFit | None:
    r"""What to keep of a fitted model.

    Args:
        model: The model.
        n: The number of its data.
        last: What is known of the fit before it.

    Returns:
        What to start the next fit from; ``None`` for a model that has no such way.
    """
    found = hyperparameters_of(model) if isinstance(model, QuickGP) else None
    if found is None:
        return None
    if last is not None and n == last.num:
        return replace(last, found=found)
    start, everywhere = (None, True) if last is None else last.next_start(n)
    return LastFit(n, n if last is None or everywhere else last.num_searched, found, start)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputDataError(f"Expected a number of data in the state; got {value!r}.")
    return value
