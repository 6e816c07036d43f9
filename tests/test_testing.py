"""A newcomer's strategy passes the conformance suite; strategies that break a rule do not."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from botorch_ubo import Always, Context, ExpandingBounds, Proposal, Strategy
from botorch_ubo.boxes import from_model_space, hull, pad
from botorch_ubo.factories import log_ei, q_log_ei
from botorch_ubo.testing import StrategyConformance


# The tutorial-sized strategy: search as far beyond the data as the data reach.
@dataclass(frozen=True)
class Spread(Strategy):
    """The box around the data, wider by a share of their spread."""

    share: float = 0.5

    def propose(self, context: Context) -> Proposal:
        data = hull(context.summary.X)
        box = pad(data, self.share * (data[1] - data[0]))
        return Proposal(from_model_space(context.model, box).cpu(), details={"share": self.share})


class TestSpread(StrategyConformance):
    def make(self, bounds, **kwargs):
        policy = {"strategy": Spread(), "trigger": Always()}
        acquisition = {"acquisition": log_ei, "batch_acquisition": q_log_ei}
        return ExpandingBounds.corrected(bounds, **policy, **acquisition, **kwargs)


class Forgetful(Spread):
    """Breaks three rules: leaves the incumbent out, keeps history, and is not repeatable."""

    nested = False

    def propose(self, context):
        object.__setattr__(self, "last", context.n)
        far = 3 + torch.rand(1, context.X.shape[-1], dtype=torch.double)
        return Proposal(context.state.initial_bounds + far)


class Broken(StrategyConformance):
    def make(self, bounds, **kwargs):
        return ExpandingBounds.corrected(bounds, strategy=Forgetful(), trigger=Always(), **kwargs)


@pytest.mark.parametrize(
    "case",
    [
        lambda suite: suite.test_box_is_finite_ordered_and_contains_what_it_must(2),
        lambda suite: suite.test_strategy_remembers_nothing(),
        lambda suite: suite.test_runs_repeat(),
    ],
)
def test_broken_rules_are_found(case):
    with pytest.raises(AssertionError):
        case(Broken())


def test_make_must_be_overridden():
    with pytest.raises(NotImplementedError, match=r"override `make\(bounds"):
        StrategyConformance().test_runs_repeat()
