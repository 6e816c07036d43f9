"""What a strategy is spared: units, signs, and most of what there is to know."""

import re
from pathlib import Path

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement

import botorch_ubo.strategies
from botorch_ubo import Context, Proposal, Strategy
from tests.support.by_hand import random_data, rbf_model, unit_box
from tests.support.controlled import build

MODULES = sorted(Path(botorch_ubo.strategies.__file__).parent.glob("[a-z]*.py"))


class Stay(Strategy):
    def propose(self, context: Context) -> Proposal:
        return Proposal(context.box)


def test_there_are_strategies_to_look_at() -> None:
    assert len(MODULES) >= 12


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_strategy_knows_the_users_units_or_sign(path: Path) -> None:
    source = path.read_text()
    assert "from_model_space" not in source
    assert not re.search(r"\bmaximize\s*=|\.maximize\b", source)


def test_a_context_stays_small() -> None:
    assert len([name for name in dir(Context) if not name.startswith("_")]) <= 25


def test_by_default_any_model_will_do_and_candidates_stay_as_they_are() -> None:
    model = rbf_model(*random_data(4))
    context = build("EI-Vanilla", unit_box()).context(model)
    x = torch.tensor([[0.3, 0.4]]).double()
    assert Stay().refine(context, x, LogExpectedImprovement(model, 0.0)) is x
    assert Stay().check(context) is None
    assert Stay().name == "Stay" and Stay.nested


def test_a_proposal_is_made_in_the_models_space() -> None:
    """The unit box is three sides of the user's first one to the left: the user gets it in his."""

    class Left(Strategy):
        nested = False

        def propose(self, context: Context) -> Proposal:
            assert torch.equal(context.first_box, unit_box())
            return Proposal(unit_box() - 3.0)

    bounds = torch.tensor([[10.0, -1.0], [30.0, 1.0]]).double()
    X = torch.tensor([[12.0, 0.0], [20.0, 0.5], [25.0, -0.5]]).double()
    model = rbf_model(X, torch.tensor([0.0, 1.0, 0.5]).double(), bounds=bounds)
    box = build("EI-Volx2", bounds, strategy=Left(), trigger=build("HuBO", bounds).method.trigger)
    box.update(model)
    assert box.bounds.tolist() == [
        pytest.approx([10.0 - 60, -1.0 - 6]),
        pytest.approx([30.0 - 60, 1.0 - 6]),
    ]


def test_a_proposal_that_is_not_finite_is_refused_and_changes_nothing() -> None:
    class Nowhere(Strategy):
        def propose(self, context: Context) -> Proposal:
            return Proposal(context.box * torch.nan)

    box = build("HuBO-EI", unit_box(), strategy=Nowhere())
    before = box.state_dict()
    with pytest.raises(Exception, match="Expected a finite box from Nowhere; got"):
        box.update(rbf_model(*random_data(4)))
    assert box.state_dict() == before
