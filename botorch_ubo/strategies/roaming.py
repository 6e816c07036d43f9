r"""The default of 0.1.0: near as careful as HuBO, far as quick as the logarithm of the distance.

The box surrounds the incumbent, the evaluated point with the best posterior mean. On either side
of every dimension it reaches

``max(h_t, beyond, behind)``

from it, where

* ``h_t`` is half the side of HuBO's box, ``side_0 (1 + sum_{j <= t} 1/j) / 2``: the box tends to
  all of space, as slowly as still leaves sub-linear regret, so a search that need not travel is
  not disturbed [TranThe2020];
* ``beyond`` is how far data lie beyond the incumbent on this side: what was looked at stays in
  the box;
* ``behind`` is how far they lie behind it. An incumbent at the edge of the data, the sign that
  the optimum is further out, may go on as far again as it has come, so the data's extent doubles
  with every success and a distance ``D`` takes about ``log2 D`` of them. With an incumbent in the
  middle of the data it adds nothing, and exploration alone cannot make the box run away;
* as long as no evaluation has brought anything notable over the initial ones, or anything that
  is feasible, ``h_t`` doubles with every ``d`` that bring nothing, up to 16 times: there is nothing
  to be careful about.

A limit of the data's extent by the radius of Theorem 4.1 was measured to change nothing, near, far
or under noise, and is left to :class:`~botorch_ubo.strategies.TheoremBox`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from botorch_ubo.policies.context import Context
from botorch_ubo.policies.progress import evaluations_without_improvement
from botorch_ubo.policies.strategy import Proposal, Strategy
from botorch_ubo.strategies.hyperharmonic import hyperharmonic_factor

_MAX_DOUBLINGS = 4.0  # in every direction at once: further out there is too much room to look into


@dataclass(frozen=True)
class RoamingBox(Strategy):
    """A box on the incumbent that grows slowly where it is, and fast where it is led."""

    nested: ClassVar[bool] = False
    rebuildable: ClassVar[bool] = True

    def propose(self, context: Context) -> Proposal:
        """The box around the incumbent."""
        center = context.X[context.incumbent]
        # On the one side the data lie `beyond` the incumbent by as much as `behind` on the other.
        extent = (context.X_leading - center).abs().amax(dim=0)
        first = context.first_box
        least = hyperharmonic_factor(context.t, -1.0) / 2 * (first[1] - first[0])
        idle = evaluations_without_improvement(context)
        # Nothing notable has been found at all, or nothing that is feasible.
        searching = idle == context.t - 1 or not context.view.any_feasible
        if searching:
            least = least * 2 ** min(idle / context.d, _MAX_DOUBLINGS)
        reach = torch.maximum(least, extent)
        return Proposal(
            bounds=torch.stack([center - reach, center + reach]),
            details={
                "why": _explain(least, extent, searching),
                "center": center.tolist(),
                "reach": reach.tolist(),
                "hyperharmonic_half_widths": least.tolist(),
                "extent_of_data": extent.tolist(),
            },
        )


def _explain(least: Tensor, extent: Tensor, searching: bool) -> str:
    led = [f"x{i}" for i in (extent > least).nonzero().flatten().tolist()]
    if led:
        return f"as far again as the data reach in {', '.join(led)}"
    return "wider while nothing notable is found" if searching else "wider with every step"
