"""What stays the same throughout many runs, and their coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.controller import Method
from botorch_ubo.policies.state import EpsilonUnit


@dataclass(frozen=True)
class Problem:
    """What stays the same throughout the runs."""

    method: Method
    first: Tensor
    """``R x 2 x d``: the first boxes."""
    hard_limits: Tensor
    """``R x 2 x d``, infinite on free sides."""
    seeds: Tensor
    """``R`` (``int64``)."""
    sign: float
    """1 if large outcomes are good, else -1."""
    epsilon: float
    epsilon_unit: EpsilonUnit
    max_growth: float
    search: SearchSettings

    def take(self, rows: Tensor) -> Problem:
        """Some of the runs, by index."""
        names = ("first", "hard_limits", "seeds")
        parts: dict[str, Any] = {name: getattr(self, name)[rows] for name in names}
        return replace(self, **parts)

    def to_model(self, X: Tensor) -> Tensor:
        """Raw points or boxes (``R x m x d``) in the models' space."""
        return 0.5 + (X - self._center) / (3 * self._sides)

    def to_raw(self, X: Tensor) -> Tensor:
        """The inverse of :meth:`to_model`."""
        return self._center + (X - 0.5) * (3 * self._sides)

    @property
    def _center(self) -> Tensor:
        return self.first.mean(dim=-2, keepdim=True)

    @property
    def _sides(self) -> Tensor:
        return self.first[:, 1:] - self.first[:, :1]
