"""Whether the search gets anywhere: what counts as an improvement, and since when none came."""

from __future__ import annotations

from botorch_ubo.policies.context import Context


def notable_improvement(context: Context) -> float:
    """An improvement that counts: more than epsilon, and than what noise makes of nothing."""
    return context.epsilon + context.view.noise_std


def evaluations_without_improvement(context: Context) -> int:
    """Evaluations of the run since a value about as good as the best was first seen."""
    first = context.view.last_improvement(notable_improvement(context))
    return min(context.n - 1 - first, context.t - 1)
