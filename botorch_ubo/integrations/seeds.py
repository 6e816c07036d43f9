"""The random choices of an adapter: one seed for proposals, and draws for the rest."""

from __future__ import annotations

import zlib

import numpy as np


class Seeds:
    """A seed of proposals, and draws that depend on nothing else than what they are for."""

    def __init__(self, seed: int | None) -> None:
        r"""The choices that go with a seed.

        Args:
            seed: Any integer; ``None`` for one of the system's.
        """
        self.fixed = int(np.random.default_rng(seed).integers(1 << 30))
        """The seed of proposals, always the same."""

    def uniform(self, low: float, high: float, what: tuple[int, str]) -> float:
        r"""A draw between two numbers: always the same one for the same thing.

        Args:
            low: The lower end.
            high: The upper end.
            what: The number of the trial and the name of the parameter.
        """
        number, name = what
        generator = np.random.default_rng([self.fixed, number, zlib.crc32(name.encode())])
        return float(generator.uniform(low, high))
