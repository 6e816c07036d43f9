"""The random choices of an adapter: one seed for proposals, and draws for the rest."""

from __future__ import annotations

import numpy as np


class Seeds:
    """A generator and a seed made of it; unlike a generator of torch, it can be pickled."""

    def __init__(self, seed: int | None) -> None:
        r"""A generator.

        Args:
            seed: Its seed; ``None`` for one of the system's.
        """
        self._generator = np.random.default_rng(seed)
        self.fixed = int(self._generator.integers(1 << 30))
        """The seed of proposals, always the same."""

    def uniform(self, low: float, high: float) -> float:
        """A draw between two numbers."""
        return float(self._generator.uniform(low, high))
