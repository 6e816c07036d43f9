r"""HD-HuBO: of HuBO's box, search only a few small cubes at random places [TranThe2020].

For many dimensions, where the acquisition function cannot be maximised in the whole box. The
cubes grow in number, ``ceil(N_0 t^lambda)``, not in size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal
from botorch_ubo.strategies.hyperharmonic import HyperharmonicBox


@dataclass(frozen=True)
class HypercubeBoxes(HyperharmonicBox):
    r"""Cubes drawn anew at each step, uniformly from HuBO's box.

    The defaults are those recalled, not quoted, of the experiments in [TranThe2020].

    Args:
        alpha: See :class:`HyperharmonicBox`.
        center_span: See :class:`HyperharmonicBox`.
        count: Number of cubes at the first step, ``N_0``.
        count_growth: Exponent ``lambda`` of their number; the theory asks for more than
            ``d (alpha + 1)``.
        side: Side of a cube, in sides of the first box.
    """

    count: int = 1
    count_growth: float = 1.0
    side: float = 0.1

    def __post_init__(self) -> None:
        """Validate."""
        super().__post_init__()
        if self.count < 1 or self.count_growth < 0 or not 0 < self.side < math.inf:
            raise InputDataError(
                "Expected count >= 1, count_growth >= 0 and a positive finite side; got "
                f"count={self.count}, count_growth={self.count_growth}, side={self.side}."
            )

    def propose(self, context: Context) -> Proposal:
        """HuBO's box, and the cubes of this step in it."""
        box, details = self.box(context)
        # Centres beyond a hard limit would all be moved onto it, and crowd the limit.
        cubes = self._cubes(context, context.within_limits(box))
        return Proposal(bounds=box, boxes=cubes, details={**details, "num_boxes": len(cubes)})

    def _cubes(self, context: Context, box: Tensor) -> Tensor:
        """``N_t x 2 x d`` cubes within a box."""
        number = math.ceil(self.count * context.t**self.count_growth)
        generator = torch.Generator().manual_seed(context.seed)
        uniform = torch.rand(number, box.shape[-1], generator=generator, dtype=torch.double)
        centers = box[0] + (box[1] - box[0]) * uniform.to(box)
        first = context.first_box
        half = self.side / 2 * (first[1] - first[0])
        return torch.stack([centers - half, centers + half], dim=1).clamp(box[0], box[1])
