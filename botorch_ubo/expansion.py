r"""One move of the box: a strategy's proposal, made nested, capped and limited, and written down.

A pure function of the context: what it decides comes back as a new state and a record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from botorch.exceptions.errors import BotorchError, InputDataError
from torch import Tensor

from botorch_ubo.boxes import (
    cap_growth,
    check_bounds,
    clip,
    contains,
    fit_inside,
    from_model_space,
    hull,
    pad,
)
from botorch_ubo.context import BoxState, Context
from botorch_ubo.records import Certificate, ExpansionRecord, Side, as_box
from botorch_ubo.strategies.base import Strategy

OnExpand = Callable[[ExpansionRecord], Any]
"""Called with a planned move; see :func:`review` for what it may answer."""

_NAMES = ("lower", "upper")


def expand(
    context: Context, strategy: Strategy, reason: str, on_expand: OnExpand | None = None
) -> tuple[BoxState, ExpansionRecord]:
    r"""Move the box as a strategy proposes, within the hard limits and the growth cap.

    Args:
        context: The fitted model and the controller's state.
        strategy: The rule for where to move.
        reason: Why the trigger fired.
        on_expand: May accept, shrink or refuse the move.

    Returns:
        The new state (its counters are the caller's business) and the record of the move.
    """
    state, limits = context.state, context.settings.hard_limits
    proposal = strategy.propose(context)
    wanted = proposal.bounds.to(state.bounds)
    if not wanted.isfinite().all():
        raise BotorchError(
            f"Expected a finite box from {strategy.name}; got {wanted.tolist()}. Check the model's "
            "length-scales and output scale."
        )
    if strategy.nested:
        box, capped = _cap(context, hull(state.bounds, wanted))
    else:
        box, capped = _cap_travel(context, wanted)
    limited = (clip if strategy.nested else fit_inside)(box, limits)
    record = ExpansionRecord(
        iteration=context.t,
        num_observations=context.n,
        strategy=strategy.name,
        trigger=reason,
        regret_bound=context.known_regret_bound,
        epsilon=context.epsilon,
        beta=context.beta,
        old_bounds=as_box(state.bounds),
        new_bounds=as_box(limited),
        stopped_by_limit=_sides(torch.stack([box[0] < limits[0], box[1] > limits[1]])),
        capped=_sides(capped),
        details=dict(proposal.details),
    )
    if on_expand is not None:
        record = review(record, on_expand(record))
        limited = torch.tensor(record.new_bounds, dtype=torch.double)
    boxes = proposal.boxes
    if boxes is not None:
        boxes = torch.stack([fit_inside(part, limited) for part in boxes.to(limited)])
    new = replace(
        state,
        bounds=limited,
        boxes=boxes,
        memory=dict(proposal.memory),
        history=(*state.history, record),
        certificate=certify(context) or state.certificate,
    )
    return new, record


def certify(context: Context) -> Certificate | None:
    """The certificate for the current box, if its regret bound is known and at most epsilon."""
    bound = context.known_regret_bound
    if bound is None or bound > context.epsilon:
        return None
    best = int(context.lcb_at_data.argmax())
    value = float(context.lcb_at_data[best])
    return Certificate(
        bounds=as_box(context.state.bounds),
        epsilon=context.epsilon,
        regret_bound=bound,
        beta=context.beta,
        confidence=context.settings.beta.confidence,
        num_observations=context.n,
        best_X=tuple(context.X[best].tolist()),
        best_value=value if context.settings.maximize else -value,
    )


def whole_box(context: Context) -> Context:
    """The context in which the current box is judged: all of it, with the steps of the run.

    A strategy may search parts of its box only, or move it at every step, so that the steps since
    the last move never get beyond one.
    """
    state = context.state
    start = state.num_at_expansion if state.num_initial is None else state.num_initial
    state = replace(state, boxes=None, num_at_expansion=start)
    return Context(context.model, state, context.settings)


def certify_now(context: Context) -> Certificate | None:
    """The certificate for the current box, whether or not a trigger asked for its regret bound."""
    whole = whole_box(context)
    if whole.slack <= whole.epsilon:
        _ = whole.regret_bound
    return certify(whole)


def review(record: ExpansionRecord, answer: Any) -> ExpansionRecord:
    r"""Apply an answer of ``on_expand`` to a planned move.

    Args:
        record: The planned move.
        answer: ``True`` or ``None`` accepts it, ``False`` refuses it. A box, ``2 x d`` as a tensor
            or as ``(lower, upper)``, shrinks it: what is beyond the planned box is cut off. A
            record is a plan that was reviewed already.

    Returns:
        The record of the move as it is to be made.
    """
    if isinstance(answer, np.bool_):
        answer = bool(answer)
    if answer is None or answer is True:
        return record
    if answer is False:
        return replace(record, new_bounds=record.old_bounds, decision="refused")
    planned = torch.tensor(record.new_bounds, dtype=torch.double)
    if isinstance(answer, ExpansionRecord):
        inside = clip(torch.tensor(answer.new_bounds, dtype=torch.double), planned)
        return replace(answer, new_bounds=as_box(inside))
    try:
        box = torch.as_tensor(answer, dtype=torch.double, device="cpu")
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputDataError(
            f"Expected True, False, None or a 2 x d box from `on_expand`; got {answer!r}."
        ) from error
    box = check_bounds(box, "bounds returned by `on_expand`")
    if box.shape != planned.shape or not (clip(box, planned).diff(dim=0) > 0).all():
        raise InputDataError(
            f"Expected a {tuple(planned.shape)} box from `on_expand` that overlaps the planned one "
            f"{planned.tolist()}; got {box.tolist()}. Return False to refuse the move."
        )
    return replace(record, new_bounds=as_box(clip(box, planned)), decision="shrunk")


def hold(record: ExpansionRecord, sides: Collection[Side]) -> ExpansionRecord:
    r"""Keep some faces from moving outward.

    Args:
        record: The planned move.
        sides: Dimension and ``"lower"`` or ``"upper"`` of the faces.

    Returns:
        The move without what those faces would have gained; ``held`` names those that would have.
        A dimension in which the box has left its old interval behind moves as planned.
    """
    old = torch.tensor(record.old_bounds, dtype=torch.double)
    new = torch.tensor(record.new_bounds, dtype=torch.double)
    box, held = new.clone(), []
    for dim, side in sides:
        row = _NAMES.index(side)
        inner = torch.maximum if row == 0 else torch.minimum
        box[row, dim] = inner(new[row, dim], old[row, dim])
        if not box[0, dim] < box[1, dim]:
            box[row, dim] = new[row, dim]
        elif box[row, dim] != new[row, dim]:
            held.append((dim, side))
    return replace(record, new_bounds=as_box(box), held=tuple(held))


def _cap(context: Context, box: Tensor) -> tuple[Tensor, Tensor]:
    """Cap the growth of a box, never cutting into the old one; also which sides were capped.

    In the model's input space: one decade more of a logarithmic input is one decade, whichever.
    """
    old = context.state.bounds
    wanted = context.to_model(box)
    capped = cap_growth(wanted, context.model_bounds, context.settings.max_growth)
    raw = from_model_space(context.model, capped).to(old)
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
    wanted, old = context.to_model(box), context.model_bounds
    first = context.to_model(context.state.initial_bounds)
    sides = torch.maximum(old[1] - old[0], first[1] - first[0])
    allowed = pad(old, context.settings.max_growth * sides)
    if contains(allowed, wanted).all():
        return box, uncapped
    capped = torch.stack([wanted[0] < allowed[0], wanted[1] > allowed[1]])
    return from_model_space(context.model, fit_inside(wanted, allowed)).to(box), capped.cpu()


def _sides(mask: Tensor) -> tuple[Side, ...]:
    """The sides that a ``2 x d`` mask marks."""
    rows, dims = mask.nonzero(as_tuple=True)
    return tuple((int(dim), _NAMES[int(row)]) for row, dim in zip(rows, dims, strict=True))
