r"""A schedule of ``beta`` from the level that the prior exceeds in the box, as measured.

Theorem 5.1 covers all steps and all points of a grid, each by itself, so that its ``beta`` is
several times what certificates need. This one is ``scale`` times the square of the level that the
prior exceeds somewhere in the box with probability ``delta``
(:mod:`botorch_ubo.policies.excursion`). It grows with the box, as it must, and not with the steps.

NOTE: No theorem goes with it. ``scale`` is the smallest of some factors with which nine in ten
certificates were right in every case of one half of a study in which hyper-parameters were known.
What became of it on kernels that the choice did not see, and where hyper-parameters are fitted, is
in ``benchmarks/results/calibration.md``.

NOTE: The level is that of a process with one value of its prior's variance everywhere. A part of
the kernel that is constant adds to the variance and not to the slopes, and so lowers the level a
little; categories have no slope, so that those of one box count as one.
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
        delta: Probability with which the prior exceeds the level, below 1/2.
        scale: Factor on the square of the level; its default is what the study chose.
    """

    delta: float = 0.1
    scale: float = 0.7

    def __post_init__(self) -> None:
        """Validate."""
        if not 0 < self.delta < 0.5 or not (0 < self.scale < math.inf):
            raise InputDataError(
                "Expected 0 < delta < 0.5 and a positive finite scale; got "
                f"delta={self.delta}, scale={self.scale}."
            )

    def __call__(self, t: int, sides: Tensor, view: ModelView) -> float:
        """The level's square times ``scale``; the same at every step in a box."""
        extents = (sides.to(view.relative_slopes) * view.relative_slopes).tolist()
        return self.scale * excursion_level(extents, self.delta) ** 2
