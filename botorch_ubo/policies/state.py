"""The state of a run and its settings: frozen, and handed to policies to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.records import Certificate, ExpansionRecord, LimitsRecord, StepRecord
from botorch_ubo.spaces import Space

if TYPE_CHECKING:
    from botorch_ubo.policies.beta import BetaSchedule
    from botorch_ubo.policies.goal import Goal
    from botorch_ubo.policies.strategy import Strategy

EpsilonUnit = Literal["std", "range", "raw"]


@dataclass(frozen=True)
class BoxState:
    """The state of a controller. Boxes are double tensors on the CPU, in raw units."""

    initial_bounds: Tensor
    bounds: Tensor
    boxes: Tensor | None = None
    """``b x 2 x d``: where to search, if that is not all of ``bounds``."""
    num_initial: int | None = None
    """Observations at the first update; ``None`` before it."""
    num_at_expansion: int = 0
    num_observed: int = 0
    fingerprint: str = ""
    """Of the data of the last update: an update with the same data changes nothing."""
    memory: Mapping[str, float] = field(default_factory=dict)
    """What the strategy asked to be handed back at its next step."""
    history: tuple[ExpansionRecord, ...] = ()
    trace: tuple[StepRecord, ...] = ()
    certificate: Certificate | None = None
    limits: tuple[LimitsRecord, ...] = ()
    """Hard limits that were set in the course of the run; the newest are in force."""


@dataclass(frozen=True)
class Settings:
    """What stays the same throughout a run."""

    epsilon: float
    epsilon_unit: EpsilonUnit
    strategy: Strategy
    beta: BetaSchedule
    hard_limits: Tensor
    """``2 x d`` double tensor on the CPU, infinite on free sides."""
    max_growth: float
    blind_limit: float
    goal: Goal
    seed: int
    search: SearchSettings
    space: Space | None = None
    """Parameters whose coordinates the columns are, if they have names."""

    @property
    def maximize(self) -> bool:
        """Whether large values of the objective are good."""
        return self.goal.maximize
