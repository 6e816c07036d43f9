"""Who has which pending trial in hand, and how often a worker died of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MOST_DEATHS = 2
"""A trial whose worker has died so often is not tried again."""


@dataclass(frozen=True)
class Claims:
    """Of pending trials only; every change is a new value."""

    owners: Mapping[int, str] = field(default_factory=dict)
    deaths: Mapping[int, int] = field(default_factory=dict)

    def claim(self, trial: int, owner: str) -> Claims:
        """A trial is somebody's; nobody's, for an empty owner."""
        return Claims({**self.owners, trial: owner}, self.deaths)

    def die(self, trial: int) -> Claims:
        """A worker died while it evaluated a trial."""
        return Claims(self.owners, {**self.deaths, trial: self.deaths.get(trial, 0) + 1})

    def settle(self, trial: int) -> Claims:
        """A trial has its outcome."""
        if trial not in self.owners and trial not in self.deaths:
            return self
        return Claims(
            {key: value for key, value in self.owners.items() if key != trial},
            {key: value for key, value in self.deaths.items() if key != trial},
        )
