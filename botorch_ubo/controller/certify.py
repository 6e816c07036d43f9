"""Whether a box is exhausted to the accuracy epsilon, as far as the model holds."""

from __future__ import annotations

from dataclasses import replace

from botorch_ubo.policies.context import Context
from botorch_ubo.records import Certificate, as_box


def certify(context: Context) -> Certificate | None:
    r"""The certificate for the current box.

    Args:
        context: The fitted model and the controller's state.

    Returns:
        The certificate, or ``None`` if the regret bound is above epsilon, or if all outcomes are
        equal, which says nothing of any box.

    Raises:
        UnsupportedError: If the theorem does not cover the model, so that nothing can be promised.
    """
    context.view.require_theorem()
    if context.view.flat:
        return None
    confidence, epsilon = context.confidence, context.epsilon
    # The regret bound is at least its slack, which costs nothing.
    if confidence.slack > epsilon or confidence.regret_bound > epsilon:
        return None
    best = int(confidence.lcb_at_data.argmax())
    view = context.view
    return Certificate(
        bounds=as_box(context.state.bounds),
        epsilon=view.to_raw_difference(epsilon),
        regret_bound=view.to_raw_difference(confidence.regret_bound),
        beta=confidence.beta,
        confidence=context.settings.beta.confidence,
        num_observations=context.n,
        best_X=tuple(view.X_raw[best].tolist()),
        best_value=view.to_raw_value(float(confidence.lcb_at_data[best])),
    )


def as_whole_box(context: Context) -> Context:
    """The context in which the current box is judged: all of it, with the steps of the run.

    A strategy may search parts of its box only, or move it at every step, so that the steps since
    the last move never get beyond one.
    """
    state = context.state
    start = state.num_at_expansion if state.num_initial is None else state.num_initial
    return context.with_state(replace(state, boxes=None, num_at_expansion=start))
