r"""When to move the box: conditions without memory, combined with ``|`` and ``&``.

Example:
    >>> trigger = FirstStep() | RegretBound()       # the paper's
    >>> trigger = RegretBound() & EveryEvaluations(5)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch

from botorch_ubo.context import Context


class Trigger(ABC):
    """A condition on the state of a run."""

    @abstractmethod
    def __call__(self, context: Context) -> str | None:
        r"""Decide.

        Args:
            context: The fitted model and the controller's state.

        Returns:
            The reason to move the box, in words, or ``None`` to leave it.
        """

    def __or__(self, other: Trigger) -> Trigger:
        """Fire when either does; the second is not asked if the first fires."""
        return _Either(self, other)

    def __and__(self, other: Trigger) -> Trigger:
        """Fire when both do; the second is not asked if the first does not."""
        return _Both(self, other)


@dataclass(frozen=True)
class RegretBound(Trigger):
    r"""Fire when the regret bound has come down to epsilon (Section 4).

    ``max_S UCB - max_D LCB + 1/t^2 <= epsilon`` says that the best evaluated point is within
    epsilon of the best in the box, which is then exhausted. Only evaluated points count, never
    pending ones.

    Args:
        include_candidate: Also take the lower bound at the maximiser of UCB, which is not
            evaluated yet. The paper does; the promise above can then fail.
    """

    include_candidate: bool = False

    def __call__(self, context: Context) -> str | None:
        """See :class:`Trigger`."""
        # max UCB >= max LCB, so the slack alone can rule it out, without optimising.
        if context.slack > context.epsilon:
            return None
        bound = context.regret_bound
        if self.include_candidate:
            X, value = context.ucb_maximizer
            with torch.no_grad():
                lower = float(context.lcb(X.unsqueeze(-2)))
            bound = min(bound, value - lower + context.slack)
        return "regret bound at or below epsilon" if bound <= context.epsilon else None


@dataclass(frozen=True)
class FirstStep(Trigger):
    """Fire at the first update of a run."""

    def __call__(self, context: Context) -> str | None:
        """See :class:`Trigger`."""
        return "first step" if context.state.num_initial is None else None


@dataclass(frozen=True)
class EveryEvaluations(Trigger):
    """Fire once ``count`` evaluations (times ``d`` if so said) came in since the last move."""

    count: int
    times_dimension: bool = False

    def __call__(self, context: Context) -> str | None:
        """See :class:`Trigger`."""
        if context.state.num_initial is None:
            return None
        period = self.count * (context.X.shape[-1] if self.times_dimension else 1)
        done = context.n - context.state.num_at_expansion
        return f"{period} evaluations since the last move" if done >= period else None


@dataclass(frozen=True)
class Always(Trigger):
    """Fire at every update."""

    def __call__(self, context: Context) -> str | None:
        """See :class:`Trigger`."""
        return "every step"


@dataclass(frozen=True)
class Never(Trigger):
    """Never fire."""

    def __call__(self, context: Context) -> str | None:
        """See :class:`Trigger`."""
        return None


@dataclass(frozen=True)
class _Either(Trigger):
    first: Trigger
    second: Trigger

    def __call__(self, context: Context) -> str | None:
        return self.first(context) or self.second(context)


@dataclass(frozen=True)
class _Both(Trigger):
    first: Trigger
    second: Trigger

    def __call__(self, context: Context) -> str | None:
        first = self.first(context)
        second = self.second(context) if first else None
        return f"{first} and {second}" if first and second else None
