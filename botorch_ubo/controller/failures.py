"""Failed evaluations hold the box: sides beyond which they repeat do not move outward."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import torch
from torch import Tensor

from botorch_ubo.records import ExpansionRecord, Side, as_box
from botorch_ubo.records.box_values import SIDE_NAMES

FAILURES_THAT_STOP_GROWTH = 2
"""So many failures beyond the successes on one side stop the box from growing there."""


def failing_sides(X: Tensor, X_failed: Tensor | None) -> list[Side]:
    r"""Sides on which several evaluations failed further out than any that succeeded.

    Args:
        X: ``n x d`` points whose evaluation succeeded, in raw units.
        X_failed: ``m x d`` points whose evaluation failed; ``None`` for none.

    Returns:
        Pairs of dimension and ``"lower"`` or ``"upper"``.
    """
    if X_failed is None or not len(X) or not len(X_failed):
        return []
    good, bad = X, X_failed.to(X)
    below = (bad < good.amin(dim=0)).sum(dim=0)
    above = (bad > good.amax(dim=0)).sum(dim=0)
    return [
        (dim, side)
        for side, count in zip(SIDE_NAMES, (below, above), strict=True)
        for dim in (count >= FAILURES_THAT_STOP_GROWTH).nonzero().flatten().tolist()
    ]


def keep_failing_sides(record: ExpansionRecord, sides: Collection[Side]) -> ExpansionRecord:
    r"""Keep some faces from moving outward.

    Args:
        record: The planned move.
        sides: Dimension and ``"lower"`` or ``"upper"`` of the faces.

    Returns:
        The move without what those faces would have gained; ``held`` names those that would have.
        A dimension in which the box has left its old interval behind moves as planned.
    """
    if not sides:
        return record
    old = torch.tensor(record.old_bounds, dtype=torch.double)
    new = torch.tensor(record.new_bounds, dtype=torch.double)
    box, held = new.clone(), []
    for dim, side in sides:
        row = SIDE_NAMES.index(side)
        inner = torch.maximum if row == 0 else torch.minimum
        box[row, dim] = inner(new[row, dim], old[row, dim])
        if not box[0, dim] < box[1, dim]:
            box[row, dim] = new[row, dim]
        elif box[row, dim] != new[row, dim]:
            held.append((dim, side))
    return replace(record, new_bounds=as_box(box), held=tuple(held))
