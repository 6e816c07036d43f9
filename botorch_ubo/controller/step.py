"""One step of a controller: from new data to the next state, and why."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import torch
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo.controller.expansion import expand, raw_regret_bound
from botorch_ubo.controller.failures import failing_sides
from botorch_ubo.controller.method import Method
from botorch_ubo.controller.review import OnExpand
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.state import BoxState
from botorch_ubo.records import ExpansionRecord, StepRecord

logger = logging.getLogger("botorch_ubo")


def take_step(
    context: Context,
    method: Method,
    data: str,
    X_failed: Tensor | None,
    on_expand: OnExpand | None,
) -> tuple[BoxState, ExpansionRecord | None, Context]:
    r"""Ask the method's trigger whether to move the box, move it if so, and write down why.

    Args:
        context: The new model in the light of the state before.
        method: Whose trigger and strategy are asked.
        data: The fingerprint of the model's data.
        X_failed: ``m x d`` points whose evaluation failed.
        on_expand: Who may refuse or shrink a move.

    Returns:
        The new state; the record of the move, or ``None`` if the box stays; and the context in
        which candidates are sought.
    """
    state, view = context.state, context.view
    method.strategy.check(context)
    verdict = method.trigger(context)
    record: ExpansionRecord | None = None
    new, num_data = state, len(view.X_raw)
    if verdict.fires:
        failing = failing_sides(view.X_raw, X_failed)
        new, record = expand(context, verdict, failing, on_expand)
        if record.notable:
            logger.info("%s", record)
    first = state.num_initial is None
    step = StepRecord(
        num_data,
        view.to_raw_difference(context.epsilon),
        verdict.compared.get("beta"),
        raw_regret_bound(context, verdict),
    )
    new = replace(
        new,
        num_initial=num_data if first else state.num_initial,
        num_at_expansion=num_data if first or record else state.num_at_expansion,
        num_observed=num_data,
        fingerprint=data,
        trace=(*state.trace, step),
    )
    # A context of the unmoved box keeps what the trigger computed; its counters are equal.
    return new, record, context.with_state(new) if record is not None or first else context


@dataclass(frozen=True)
class LastStep:
    """The context of a step with all that it has computed, for whoever asks again."""

    data: str
    """The fingerprint of the model's data."""
    parameters: tuple[Tensor, ...]
    """Those of the model, as they were."""
    context: Context

    @classmethod
    def of(cls, context: Context, data: str) -> LastStep:
        """The step that ended in a context."""
        return cls(data, _parameters(context.model), context)

    def is_of(self, model: Model, data: str) -> bool:
        """Whether a model is the one of this step: the same data and the same parameters."""
        return self.data == data and _equal(self.parameters, tuple(model.parameters()))


def _parameters(model: Model) -> tuple[Tensor, ...]:
    return tuple(p.detach().clone() for p in model.parameters())


def _equal(known: tuple[Tensor, ...], now: tuple[Tensor, ...]) -> bool:
    return len(known) == len(now) and all(
        a.device == b.device and torch.equal(a, b) for a, b in zip(known, now, strict=True)
    )
