r"""When to move the box: conditions without memory, combined with ``|`` and ``&``.

Example:
    >>> trigger = FirstStep() | RegretBound()       # the paper's
    >>> trigger = RegretBound() & EveryEvaluations(5)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from botorch_ubo.policies.context import Context


@dataclass(frozen=True)
class Verdict:
    """Whether to move the box, why, and the numbers that were compared."""

    fires: bool
    reason: str = ""
    """In words, if it fires."""
    compared: Mapping[str, float] = field(default_factory=dict)
    """By name, values in the model's units: ``regret_bound``, ``epsilon`` and ``beta``, say."""


class Trigger(ABC):
    """A condition on the state of a run."""

    @abstractmethod
    def __call__(self, context: Context) -> Verdict:
        r"""Decide.

        Args:
            context: The fitted model and the controller's state.

        Returns:
            Whether to move the box, and why.
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

    def __call__(self, context: Context) -> Verdict:
        """Compare the regret bound with epsilon, unless the slack alone is larger."""
        confidence, epsilon = context.confidence, context.epsilon
        # max UCB >= max LCB, so the slack alone can rule it out, without optimising.
        if confidence.slack > epsilon:
            return Verdict(False, compared={"slack": confidence.slack, "epsilon": epsilon})
        bound = confidence.regret_bound
        compared = {"regret_bound": bound, "epsilon": epsilon, "beta": confidence.beta}
        if self.include_candidate:
            X, value = confidence.ucb_maximizer
            with torch.no_grad():
                lower = float(confidence.lcb(X.unsqueeze(-2)))
            compared["candidate_bound"] = value - lower + confidence.slack
            bound = min(bound, compared["candidate_bound"])
        if bound > epsilon:
            return Verdict(False, compared=compared)
        return Verdict(True, "regret bound at or below epsilon", compared)


@dataclass(frozen=True)
class FirstStep(Trigger):
    """Fire at the first update of a run."""

    def __call__(self, context: Context) -> Verdict:
        """Ask whether there has been an update."""
        first = context.state.num_initial is None
        return Verdict(True, "first step") if first else Verdict(False)


@dataclass(frozen=True)
class EveryEvaluations(Trigger):
    """Fire once ``count`` evaluations (times ``d`` if so said) came in since the last move."""

    count: int
    times_dimension: bool = False

    def __call__(self, context: Context) -> Verdict:
        """Count the evaluations since the last move."""
        if context.state.num_initial is None:
            return Verdict(False)
        period = self.count * (context.d if self.times_dimension else 1)
        done = context.n - context.state.num_at_expansion
        compared = {"evaluations": float(done), "period": float(period)}
        if done < period:
            return Verdict(False, compared=compared)
        return Verdict(True, f"{period} evaluations since the last move", compared)


@dataclass(frozen=True)
class Always(Trigger):
    """Fire at every update."""

    def __call__(self, context: Context) -> Verdict:
        """Fire."""
        return Verdict(True, "every step")


@dataclass(frozen=True)
class Never(Trigger):
    """Never fire."""

    def __call__(self, context: Context) -> Verdict:
        """Do not fire."""
        return Verdict(False)


@dataclass(frozen=True)
class _Either(Trigger):
    first: Trigger
    second: Trigger

    def __call__(self, context: Context) -> Verdict:
        first = self.first(context)
        if first.fires:
            return first
        second = self.second(context)
        return Verdict(second.fires, second.reason, {**first.compared, **second.compared})


@dataclass(frozen=True)
class _Both(Trigger):
    first: Trigger
    second: Trigger

    def __call__(self, context: Context) -> Verdict:
        first = self.first(context)
        if not first.fires:
            return first
        second = self.second(context)
        reason = f"{first.reason} and {second.reason}" if second.fires else ""
        return Verdict(second.fires, reason, {**first.compared, **second.compared})
