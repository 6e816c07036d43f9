r"""TuRBO-1 without the clamp: a trust region on the best value that may leave the first box.

The length, in sides of the first box, doubles after successes in a row and halves after failures
in a row [Eriksson2019]. It is a fold over the observations, so the strategy needs no memory.

NOTE: Differences from the reference implementation, for a space without bounds: nothing is
clipped to the first box; the length may grow to 16 sides, not 1.6, and doubles after 2 successes,
not 3; a collapsed region starts again at the best value, not in the first box, and keeps its data.
An improvement counts in standard deviations of the outcomes, not relative to the best of them,
which would change with an offset.

References:
    [Eriksson2019] D. Eriksson, M. Pearce, J. R. Gardner, R. Turner, and M. Poloczek. Scalable
    Global Optimization via Local Bayesian Optimization. Advances in Neural Information Processing
    Systems 32, 2019.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal, Strategy


@dataclass(frozen=True)
class TrustRegionState:
    """Length of the trust region, and successes and failures in a row."""

    length: float
    successes: int = 0
    failures: int = 0


@dataclass(frozen=True)
class TrustRegionBox(Strategy):
    r"""``best_j +- w_j L/2`` sides, ``w`` the length-scales normalised to product 1.

    Args:
        length: First length, in sides of the first box.
        length_min: Length below which the region starts again.
        length_max: Largest length.
        success_tolerance: Successes in a row after which the length doubles.
        failure_tolerance: Failures in a row after which it halves; ``max(4, d)`` by default.
        min_improvement: Improvement that counts as a success, in standard deviations of the
            outcomes.
    """

    nested: ClassVar[bool] = False
    rebuildable: ClassVar[bool] = True

    length: float = 0.8
    length_min: float = 0.5**7
    length_max: float = 16.0
    success_tolerance: int = 2
    failure_tolerance: int | None = None
    min_improvement: float = 1e-3

    def __post_init__(self) -> None:
        """Validate."""
        if not 0 < self.length_min <= self.length <= self.length_max:
            raise InputDataError(
                "Expected 0 < length_min <= length <= length_max; got "
                f"{self.length_min}, {self.length}, {self.length_max}."
            )
        if self.success_tolerance < 1 or (self.failure_tolerance or 1) < 1:
            raise InputDataError(
                "Expected tolerances of at least 1; got "
                f"success_tolerance={self.success_tolerance}, "
                f"failure_tolerance={self.failure_tolerance}."
            )

    def propose(self, context: Context) -> Proposal:
        """The trust region of this step around the best observation."""
        return self.around(context.X[context.best_observed], context)

    def around(self, center: Tensor, context: Context) -> Proposal:
        """The trust region of this step around a point (``d``-dim, in the model's space)."""
        state = self.fold(context.view.scores.tolist(), context.num_initial, context.d)
        first = context.first_box
        sides = first[1] - first[0]
        # Divided by the geometric mean of length-scales in sides.
        mean = float((context.lengthscales / sides).log().mean())
        half = state.length / 2 * math.exp(-mean) * context.lengthscales
        box = torch.stack([center - half, center + half])
        details = {
            "length": state.length,
            "successes": state.successes,
            "failures": state.failures,
        }
        return Proposal(bounds=box, details=details)

    def fold(self, Y: Sequence[float], num_initial: int, d: int) -> TrustRegionState:
        r"""Run the counters over the observations.

        Args:
            Y: All observations in order, to be maximised, in standard deviations.
            num_initial: How many of them came before the first step.
            d: The number of dimensions.

        Returns:
            The state after the last observation.
        """
        patience = max(4, d) if self.failure_tolerance is None else self.failure_tolerance
        state, best = TrustRegionState(self.length), max(Y[:num_initial])
        for y in Y[num_initial:]:
            state = self._count(state, y > best + self.min_improvement, patience)
            best = max(best, y)
        return state

    def _count(self, state: TrustRegionState, success: bool, patience: int) -> TrustRegionState:
        """One observation."""
        successes = state.successes + 1 if success else 0
        failures = 0 if success else state.failures + 1
        if successes == self.success_tolerance:
            return TrustRegionState(min(2 * state.length, self.length_max))
        if failures == patience:
            half = state.length / 2
            return TrustRegionState(half if half >= self.length_min else self.length)
        return TrustRegionState(state.length, successes, failures)
