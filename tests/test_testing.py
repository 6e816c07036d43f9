"""A newcomer's strategy passes the conformance suite; strategies that break a rule do not."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from botorch_ubo import Always, Context, Method, Proposal, Strategy
from botorch_ubo.boxes import hull, pad
from botorch_ubo.policies.factories import log_ei, q_log_ei
from botorch_ubo.testing import StrategyConformance


# The tutorial-sized strategy: search as far beyond the data as the data reach.
@dataclass(frozen=True)
class Spread(Strategy):
    """The box around the data, wider by a share of their spread."""

    share: float = 0.5

    def propose(self, context: Context) -> Proposal:
        data = hull(context.X)
        return Proposal(pad(data, self.share * (data[1] - data[0])), details={"share": self.share})


def method(strategy: Strategy) -> Method:
    return Method(
        name="Mine",
        strategy=strategy,
        trigger=Always(),
        acquisition=log_ei,
        batch_acquisition=q_log_ei,
    )


@pytest.mark.slow
class TestSpread(StrategyConformance):
    method = method(Spread())


class Forgetful(Spread):
    """Breaks three rules: leaves the best point out, keeps history, and is not repeatable."""

    nested = False

    def propose(self, context: Context) -> Proposal:
        object.__setattr__(self, "last", context.n)
        far = 3 + torch.rand(1, context.d, dtype=torch.double)
        return Proposal(context.first_box + far)


class Broken(StrategyConformance):
    method = method(Forgetful())


@pytest.mark.parametrize(
    "case",
    [
        lambda suite: suite.test_box_is_finite_ordered_and_contains_what_it_must(2),
        lambda suite: suite.test_strategy_remembers_nothing(),
        lambda suite: suite.test_runs_repeat(),
    ],
)
def test_broken_rules_are_found(case) -> None:
    with pytest.raises(AssertionError):
        case(Broken())


class OneSided(Spread):
    """Looks at the sign of the user's values, which no strategy should."""

    nested = False

    def propose(self, context: Context) -> Proposal:
        proposal = super().propose(context)
        return Proposal(proposal.bounds + float(context.view.maximize))


class ChoosesASide(StrategyConformance):
    method = method(OneSided())


def test_a_strategy_that_looks_at_the_sign_is_found() -> None:
    with pytest.raises(AssertionError):
        ChoosesASide().test_minimising_the_negative_is_the_same()


class Named(StrategyConformance):
    """A method by its name will do; devices are an attribute."""

    method = "EI-Volx2"
    devices = ("cpu",)


def test_a_name_will_do() -> None:
    assert Named().make(torch.tensor([[0.0], [1.0]])).method.name == "EI-Volx2"
    Named().test_dtype_and_device_are_kept(torch.double)


def test_a_device_that_is_not_there_is_an_error() -> None:
    class Elsewhere(Named):
        devices = ("cpu", "vulkan")

    with pytest.raises(RuntimeError):
        Elsewhere().test_dtype_and_device_are_kept(torch.double)


def test_the_method_must_be_named() -> None:
    with pytest.raises(AttributeError, match="method"):
        StrategyConformance().test_runs_repeat()
