r"""A schedule of ``beta`` from the level that the prior exceeds in the box, as measured.

Theorem 5.1 covers all steps and all points of a grid, each by itself, so that its ``beta`` is
several times what certificates need. This one is ``scale`` times the square of the level that the
prior exceeds somewhere in the box with probability ``delta``
(:mod:`botorch_ubo.policies.excursion`). It grows with the box, as it must, and not with the steps.

NOTE: No theorem goes with it. ``scale`` is the smallest of some factors with which 90 % of the
certificates were right in every case of one half of a study; what became of it on kernels that the
choice did not see, and on fitted hyper-parameters, is in ``benchmarks/results/calibration.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.policies.beta import BetaSchedule
from botorch_ubo.policies.excursion import excursion_level
from botorch_ubo.policies.view import ModelView


@dataclass(frozen=True)
class CalibratedBeta(BetaSchedule):
    r"""``beta`` by which about 90 % of certificates were right where that was measured.

    Args:
        delta: Probability with which the prior exceeds the level, at most 1/2.
        scale: Factor on the square of the level; its default is what the study chose.
    """

    delta: float = 0.1
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Validate."""
        if not 0 < self.delta <= 0.5 or not (0 < self.scale < math.inf):
            raise InputDataError(
                "Expected 0 < delta <= 0.5 and a positive finite scale; got "
                f"delta={self.delta}, scale={self.scale}."
            )

    def __call__(self, t: int, sides: Tensor, view: ModelView) -> float:
        """The level's square times ``scale``; the same at every step in a box."""
        extents = (sides.to(view.relative_slopes) * view.relative_slopes).tolist()
        return self.scale * excursion_level(extents, self.delta) ** 2
