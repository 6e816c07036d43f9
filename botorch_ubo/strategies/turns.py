r"""The default: a local and a global step take turns.

Every other candidate is sought in a trust region on the incumbent, which doubles with successes and
halves with failures (:class:`~botorch_ubo.strategies.TrustRegionBox`): it follows valleys that a
wide box loses sight of. The others are sought in a box around a centre, which holds the region. On
either side of every dimension it reaches ``max(h_t, extent)`` from it, where

* ``h_t`` is half the side of HuBO's box, ``side_0 (1 + sum_{j <= t} 1/j) / 2``: it tends to all of
  space, as slowly as still leaves sub-linear regret [TranThe2020];
* ``extent`` is how far the data lie from the centre, but no more than four sides, or the way that
  the centre has come from the first box if that is longer. A centre at the edge of the data, the
  sign that the optimum is further out, may go on as far again as it has come, so the data's extent
  doubles with every success and a distance ``D`` takes about ``log2 D`` of them. With a centre in
  the middle of the data it adds nothing;
* as long as no evaluation has brought anything notable over the initial ones, or anything that is
  feasible, or the data are a plateau, ``h_t`` doubles with every ``d`` that bring nothing, up to a
  box of eight sides: there is nothing to be careful about, and further out there is too much room
  to look into.

The centre is, of all evaluated points that are as good as the best (to what noise and epsilon can
tell), the one nearest to the first box. On a plateau of equal values, or in a tail that saturates,
it stays near home; a path that leads on takes it along.

On a plateau (:func:`~botorch_ubo.policies.progress.on_plateau`) a model has nothing to tell, or
tells of what is bad on one side only. Both kinds of candidates are then sought where the data leave
the most room: in a box as wide as the first one, at the emptiest place that ``h_t`` reaches.

With several objectives there is no one incumbent to be near: every other candidate is sought in the
hull of such boxes around all points of the front, and the others in one in which every point of the
front reaches four sides at least (:mod:`botorch_ubo.strategies.front_box`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

import torch
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo.boxes import fit_inside
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.progress import (
    evaluations_without_improvement,
    notable_improvement,
    on_plateau,
)
from botorch_ubo.policies.strategy import Proposal, Strategy
from botorch_ubo.strategies.front_box import boxes_around_front
from botorch_ubo.strategies.hyperharmonic import hyperharmonic_factor
from botorch_ubo.strategies.trust_region import TrustRegionBox

WIDEST_SEARCH = 8.0  # sides of the first box, while nothing notable is found or around a front
_PLACES = 512  # among which the emptiest is sought


@dataclass(frozen=True)
class TurnsBox(Strategy):
    """A box that grows, and a trust region in it, searched in turn."""

    nested: ClassVar[bool] = False
    rebuildable: ClassVar[bool] = True
    takes_turns: ClassVar[bool] = True

    local: TrustRegionBox = field(default_factory=TrustRegionBox)
    """The region of every other candidate."""

    def propose(self, context: Context) -> Proposal:
        """The box of this step, and the region in it."""
        region = self.local.around(context.X[context.incumbent], context)
        first = context.first_box
        sides = first[1] - first[0]
        widest = WIDEST_SEARCH / 2 * sides
        center = home_among_equals(context)
        come = (center - first.mean(dim=0)).abs() + sides / 2
        extent = (context.X_leading - center).abs().amax(dim=0)
        extent = torch.minimum(extent, torch.maximum(come, widest))
        least = hyperharmonic_factor(context.t, -1.0) / 2 * sides
        idle = evaluations_without_improvement(context)
        plateau = on_plateau(context)
        # Nothing notable has been found at all, or nothing that is feasible.
        searching = idle == context.t - 1 or not context.view.any_feasible or plateau
        if searching:
            least = torch.maximum(least, torch.minimum(least * 2 ** (idle / context.d), widest))
        if context.view.is_multi:
            return boxes_around_front(context, least, widest, searching)
        reach = torch.maximum(least, extent)
        box = torch.stack([center - reach, center + reach])
        boxes = torch.stack([fit_inside(region.bounds, box), box])
        if plateau:
            near = context.within_limits(torch.stack([center - least, center + least]))
            boxes = emptiest(near, context.X, sides).expand_as(boxes)
        return Proposal(
            bounds=box,
            boxes=boxes,
            details={
                "why": explain((extent > least).nonzero().flatten().tolist(), searching, plateau),
                "center": center.tolist(),
                "reach": reach.tolist(),
                "hyperharmonic_half_widths": least.tolist(),
                "extent_of_data": extent.tolist(),
                "trust_region": region.details,
            },
        )


def emptiest(box: Tensor, X: Tensor, sides: Tensor) -> Tensor:
    r"""Where a box leaves the most room between the data, of places that are always the same.

    Args:
        box: ``... x 2 x d``.
        X: ``... x n x d`` data; infinite ones are nowhere.
        sides: ``d``-dim sides of the first box.

    Returns:
        A ``... x 2 x d`` box in it, as wide as the first one where there is room for that.
    """
    half = torch.minimum(sides, box[..., 1, :] - box[..., 0, :]).unsqueeze(-2) / 2
    lower, upper = box[..., :1, :] + half, box[..., 1:, :] - half
    places = lower + _unit_places(box.shape[-1]).to(box) * (upper - lower)
    room = torch.cdist(places / sides, X / sides, p=torch.inf).amin(dim=-1)
    index = room.argmax(dim=-1)[..., None, None].expand_as(lower)
    center = places.gather(-2, index)
    return torch.cat([center - half, center + half], dim=-2)


@cache
def _unit_places(d: int) -> Tensor:
    """Space-filling points of the unit cube."""
    cube = torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.double)
    return draw_sobol_samples(cube, _PLACES, 1, seed=0).squeeze(-2)


def home_among_equals(context: Context) -> Tensor:
    """Of the points that are as good as the best, the one nearest to the first box (``d``-dim)."""
    first = context.first_box
    home = (first[0] + first[1]) / 2
    distance = torch.linalg.vector_norm((context.X - home) / (first[1] - first[0]), dim=-1)
    equal = context.view.as_good_as_best(notable_improvement(context))
    return context.X[int(torch.where(equal, distance, torch.inf).argmin())]


def explain(led: Sequence[int], searching: bool, plateau: bool) -> str:
    r"""Why the box is as wide as it is, and where it is searched.

    Args:
        led: Dimensions in which the data reach further than the steps alone would.
        searching: Whether nothing notable has been found at all.
        plateau: Whether the data are a plateau.

    Returns:
        The words of the record.
    """
    if plateau:
        return "at the emptiest place, for the data are a plateau"
    if led:
        return f"as far again as the data reach in {', '.join(f'x{i}' for i in led)}"
    return "wider while nothing notable is found" if searching else "wider with every step"
