r"""Schedules of the exploration parameter: ``beta_t`` of Theorem 5.1, restarted in each box.

With ``w_j`` the box's sides, ``s_j`` the standard deviation of the partial derivatives in units
of the observed outcomes' standard deviation, and ``b_j = sqrt(2) s_j``, ``a = 1``,

``beta_t = 2 log(2 pi^2 t^2 / (3 delta)) +
2 sum_j log max(1, d t^2 b_j w_j sqrt(log(4 d a / delta)))``.

This is Theorem 5.1 with the grid argument done per dimension, for boxes and length-scales that
differ between dimensions; ``max(1, .)`` because a grid has at least one point per dimension.
Experiments, here as in the paper, multiply the theory's value by ``scale = 1/5``.

NOTE: No probability goes with it, whatever the scale. The theorem asks for ``a`` and ``b`` with
``P(sup |df/dx_j| > L) <= a exp(-(L / b)^2)``, the supremum being over the box; ``a = 1`` and
``b_j = sqrt(2) s_j`` are right at one point of it. The supremum is larger, the more so the more
length-scales the box has. Besides, ``delta`` is that of one box: it is not split over the boxes of
a run, each of which starts with the whole of it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.policies.view import ModelView


class BetaSchedule(ABC):
    """A rule for ``beta`` without memory: a function of the step, the box and the model."""

    @abstractmethod
    def __call__(self, t: int, sides: Tensor, view: ModelView) -> float:
        r"""Compute ``beta`` (BoTorch's: ``UCB = mu + sqrt(beta) sigma``).

        Args:
            t: Steps since the box last moved, counted from 1.
            sides: A ``d``-dim tensor, the sides of the box in the model's input space.
            view: The model, for the slopes of the objective and the unit of its values.
        """

    @property
    def confidence(self) -> float | None:
        """Probability with which the bounds hold at all steps; ``None`` where none is proven."""
        return None


@dataclass(frozen=True)
class TheoremBeta(BetaSchedule):
    r"""``beta_t`` of Theorem 5.1 times ``scale``.

    Args:
        delta: Probability with which the bounds may fail by the theorem, if its ``a`` and ``b``
            were those of a supremum: see the note at the head of this module.
        scale: Factor on the theory's value; 1 keeps its growth, 1/5 is the paper's choice.
    """

    delta: float = 0.1
    scale: float = 0.2

    def __post_init__(self) -> None:
        """Validate."""
        if not 0 < self.delta < 1 or not (0 < self.scale < math.inf):
            raise InputDataError(
                "Expected 0 < delta < 1 and a positive finite scale; got "
                f"delta={self.delta}, scale={self.scale}."
            )

    def __call__(self, t: int, sides: Tensor, view: ModelView) -> float:
        """Theorem 5.1, per dimension."""
        d = sides.numel()
        lipschitz = math.sqrt(2) * view.slopes / view.spread  # b_j
        grid = d * t**2 * lipschitz * sides.to(lipschitz) * math.sqrt(math.log(4 * d / self.delta))
        theory = 2 * math.log(2 * math.pi**2 * t**2 / (3 * self.delta)) + 2 * float(
            grid.clamp_min(1).log().sum()
        )
        return self.scale * theory


@dataclass(frozen=True)
class PublishedBeta(BetaSchedule):
    r"""``beta_t`` as the authors' experiments computed it.

    It differs from :class:`TheoremBeta` in three places: ``b = theta / (sqrt(2) l)`` is half of
    what the tail inequality needs, the largest side stands for all, and ``abs`` takes the place
    of ``max(1, .)``. Outcomes are in units of their range.
    """

    delta: float = 0.1
    scale: float = 0.2

    def __call__(self, t: int, sides: Tensor, view: ModelView) -> float:
        """The authors' formula."""
        d = sides.numel()
        slope = float(view.slopes.max()) / view.range / math.sqrt(2)
        side = float(sides.max())
        root = math.sqrt(math.log(4 * d / self.delta))
        theory = 2 * math.log(2 * math.pi**2 * t**2 / (3 * self.delta)) + 2 * d * math.log(
            t**2 * d * slope * side * root
        )
        return abs(self.scale * theory)


@dataclass(frozen=True)
class HyperharmonicBeta(BetaSchedule):
    r"""``beta_t`` of HuBO [TranThe2020], for a box that moves at every step.

    ``2 log(4 pi_t / delta) + 4 sum_j log max(1, d t b_j w_j sqrt(log(4 d a / delta)))`` with
    ``pi_t = pi^2 t^2 / 6``, times ``scale``. Here ``t`` counts from the start of the run, not from
    the last move: see :func:`botorch_ubo.policies.factories.ucb_of_run`.

    NOTE: Whether the published experiments scaled the theory's value is not known; 1/5 keeps the
    comparison with the other upper confidence bounds fair.

    References:
        [TranThe2020] H. Tran-The, S. Gupta, S. Rana, H. Ha, and S. Venkatesh. Sub-linear Regret
        Bounds for Bayesian Optimisation in Unknown Search Spaces. Advances in Neural Information
        Processing Systems 33, 2020.
    """

    delta: float = 0.1
    scale: float = 0.2

    def __post_init__(self) -> None:
        """Validate."""
        TheoremBeta(self.delta, self.scale)

    def __call__(self, t: int, sides: Tensor, view: ModelView) -> float:
        """The formula above; ``t`` is the step of the run."""
        d = sides.numel()
        lipschitz = math.sqrt(2) * view.slopes / view.spread
        grid = d * t * lipschitz * sides.to(lipschitz) * math.sqrt(math.log(4 * d / self.delta))
        theory = 2 * math.log(4 * math.pi**2 * t**2 / (6 * self.delta)) + 4 * float(
            grid.clamp_min(1).log().sum()
        )
        return self.scale * theory


@dataclass(frozen=True)
class ConstantBeta(BetaSchedule):
    """The same ``beta`` at every step."""

    value: float

    def __post_init__(self) -> None:
        """Validate."""
        if not 0 < self.value < math.inf:
            raise InputDataError(f"Expected a positive finite beta; got {self.value}.")

    def __call__(self, t: int, sides: Tensor, view: ModelView) -> float:
        """The value."""
        return self.value
