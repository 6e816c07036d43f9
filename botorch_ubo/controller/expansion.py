r"""One move of the box: a strategy's proposal, made nested, capped and limited, and written down.

A pure function of the context: what it decides comes back as a new state and a record.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import torch
from botorch.exceptions.errors import BotorchError
from torch import Tensor

from botorch_ubo.boxes import cap_growth, clip, contains, fit_inside, hull, pad
from botorch_ubo.controller.certify import certify
from botorch_ubo.controller.failures import keep_failing_sides
from botorch_ubo.controller.guard import guard
from botorch_ubo.controller.review import OnExpand, apply_answer
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.state import BoxState
from botorch_ubo.policies.triggers import Verdict
from botorch_ubo.records import ExpansionRecord, Side, as_box
from botorch_ubo.records.box_values import SIDE_NAMES


def expand(
    context: Context,
    verdict: Verdict,
    failing: Collection[Side] = (),
    on_expand: OnExpand | None = None,
) -> tuple[BoxState, ExpansionRecord]:
    r"""Move the box as the strategy proposes, within the hard limits and the growth cap.

    Args:
        context: The fitted model and the controller's state.
        verdict: Why the trigger fired.
        failing: Sides beyond which evaluations keep failing; they do not move outward.
        on_expand: May accept, shrink or refuse the move.

    Returns:
        The new state (its counters are the caller's business) and the record of the move.
    """
    state, limits = context.state, context.settings.hard_limits
    strategy = context.settings.strategy
    proposal = strategy.propose(context)
    stays = proposal.bounds is context.box  # to the last digit, without a way through the transform
    wanted = state.bounds if stays else context.to_raw(proposal.bounds).to(state.bounds)
    if not wanted.isfinite().all():
        raise BotorchError(
            f"Expected a finite box from {strategy.name}; got {wanted.tolist()}. Check the model's "
            "length-scales and output scale."
        )
    if strategy.nested:
        box, capped = _cap(context, hull(state.bounds, wanted))
    else:
        box, capped = _cap_travel(context, wanted)
    details = dict(proposal.details)
    box, guarded = guard(context, box)
    if guarded is not None:
        details["guard"] = guarded
        details["why"] = f"{details['why']}; {guarded}" if "why" in details else guarded
    limited = (clip if strategy.nested else fit_inside)(box, limits)
    record = ExpansionRecord(
        iteration=context.t,
        num_observations=context.n,
        strategy=strategy.name,
        trigger=verdict.reason,
        regret_bound=raw_regret_bound(context, verdict),
        epsilon=context.view.to_raw_difference(context.epsilon),
        beta=verdict.compared.get("beta"),
        old_bounds=as_box(state.bounds),
        new_bounds=as_box(limited),
        stopped_by_limit=_growing(context, torch.stack([box[0] < limits[0], box[1] > limits[1]])),
        capped=_sides(capped),
        details=_in_names(context, {**details, **context.view.explain()}),
    )
    record = keep_failing_sides(record, failing)
    if on_expand is not None:
        record = apply_answer(record, on_expand(record))
    bounds = torch.tensor(record.new_bounds, dtype=torch.double)
    boxes = proposal.boxes
    if boxes is not None:
        boxes = fit_inside(context.to_raw(boxes).to(bounds), bounds)
    new = replace(
        state,
        bounds=bounds,
        boxes=boxes,
        memory=dict(proposal.memory),
        history=(*state.history, record),
    )
    if "regret_bound" in verdict.compared:
        new = replace(new, certificate=certify(context) or state.certificate)
    return new, record


def raw_regret_bound(context: Context, verdict: Verdict) -> float | None:
    """The regret bound that a trigger compared, in raw units; ``None`` if it compared none."""
    bound = verdict.compared.get("regret_bound")
    return None if bound is None else context.view.to_raw_difference(bound)


def _cap(context: Context, box: Tensor) -> tuple[Tensor, Tensor]:
    """Cap the growth of a box, never cutting into the old one; also which sides were capped.

    In the model's input space: one decade more of a logarithmic input is one decade, whichever.
    """
    old = context.state.bounds
    wanted = context.to_model(box)
    capped = cap_growth(wanted, context.box, context.settings.max_growth)
    raw = context.to_raw(capped).to(old)
    inner = hull(old, torch.stack([raw[0].maximum(box[0]), raw[1].minimum(box[1])]))
    # Rounding on the way through the input transform is not a cap.
    return inner, ((wanted - capped).abs() > 1e-9 * (wanted[1] - wanted[0])).cpu()


def _cap_travel(context: Context, box: Tensor) -> tuple[Tensor, Tensor]:
    """The same for a box that may leave its old place behind.

    It may have shrunk, and be about to start anew: sides count as no shorter than the first ones.
    """
    uncapped = torch.zeros_like(box, dtype=torch.bool)
    if context.settings.max_growth == math.inf:
        return box, uncapped
    wanted, old = context.to_model(box), context.box
    first = context.first_box
    sides = torch.maximum(old[1] - old[0], first[1] - first[0])
    allowed = pad(old, context.settings.max_growth * sides)
    if contains(allowed, wanted).all():
        return box, uncapped
    capped = torch.stack([wanted[0] < allowed[0], wanted[1] > allowed[1]])
    return context.to_raw(fit_inside(wanted, allowed)).to(box), capped.cpu()


def _growing(context: Context, mask: Tensor) -> tuple[Side, ...]:
    """The sides that a ``2 x d`` mask marks, but for those of lists, which end where they end."""
    space = context.settings.space
    return tuple(side for side in _sides(mask) if space is None or side[0] not in space.listed)


def _in_names(context: Context, details: dict[str, Any]) -> dict[str, Any]:
    """Details whose words are of the parameters' names, if they have any."""
    space = context.settings.space
    if space is None:
        return details
    named = {
        key: space.in_names(value) if key in ("why", "constrained") else value
        for key, value in details.items()
    }
    return {**named, "names": list(space.names)}


def _sides(mask: Tensor) -> tuple[Side, ...]:
    """The sides that a ``2 x d`` mask marks."""
    return tuple(
        (dim, name)
        for name, row in zip(SIDE_NAMES, mask.tolist(), strict=True)
        for dim, marked in enumerate(row)
        if marked
    )
