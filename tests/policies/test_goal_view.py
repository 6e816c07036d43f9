"""Incumbents under constraints and of several objectives, by hand."""

import math

import pytest
import torch
from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
from botorch.acquisition.objective import GenericMCObjective
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Normalize
from torch import Tensor

from botorch_ubo import ExpandingBounds
from botorch_ubo.policies.goal import check_goal
from botorch_ubo.policies.goal_view import GoalView
from tests.support.controlled import UNIT
from tests.support.gps import tensor

FIRST = GenericMCObjective(lambda Y, X=None: Y[..., 0])
BOTH = IdentityMCMultiOutputObjective()
X = tensor([[0.1, 0.1], [0.9, 0.2], [0.2, 0.8], [0.7, 0.9], [0.5, 0.5]])


def models(Y: Tensor, at: Tensor = X, noise: float = 1e-4) -> ModelListGP:
    """One GP per outcome, all but interpolating, hyper-parameters by hand."""
    parts = []
    for column in Y.split(1, dim=-1):
        part = SingleTaskGP(at, column, input_transform=Normalize(2, bounds=UNIT))
        part.covar_module.lengthscale = 0.2
        part.likelihood.noise = noise
        parts.append(part)
    return ModelListGP(*parts).eval()


def view(Y: Tensor, objective: object = FIRST, constraints: object = None, **kw: bool) -> GoalView:
    goal = check_goal(kw.get("maximize", True), None, objective, constraints)  # type: ignore
    return GoalView(models(Y), UNIT, goal)


class TestConstraints:
    Y = tensor([[1.0, -2.0], [5.0, 2.0], [3.0, -2.0], [2.0, -2.0], [4.0, 2.0]])
    BELOW = (lambda Y: Y[..., 1],)

    def test_the_best_of_the_feasible_leads(self) -> None:
        found = view(self.Y, constraints=self.BELOW)
        assert found.feasible.tolist() == [True, False, True, True, False]
        assert found.incumbent == found.best_observed == 2
        assert found.leading.tolist() == found.feasible.tolist()
        down = view(self.Y, constraints=self.BELOW, maximize=False)
        assert down.incumbent == 0

    def test_values_of_the_infeasible_are_below_all_others(self) -> None:
        found = view(self.Y, constraints=self.BELOW)
        torch.testing.assert_close(found.values[[0, 2, 3]], self.Y[[0, 2, 3], 0], atol=0.05, rtol=0)
        assert found.values[[1, 4]].max() < found.values[[0, 2, 3]].min()

    def test_while_none_is_feasible_the_most_likely_leads(self) -> None:
        Y = torch.cat([self.Y[:, :1], tensor([[9.0], [7.0], [8.0], [0.5], [6.0]])], dim=-1)
        found = view(Y, constraints=self.BELOW)
        assert not found.feasible.any() and found.incumbent == 3
        assert found.leading.all()  # any direction may be the one
        # Hopeless ones are still ranked, by how hopeless they are.
        assert found.log_feasibility.isfinite().all()
        assert found.values.argsort(descending=True).tolist() == [3, 4, 1, 2, 0]

    def test_the_probability_of_a_linear_constraint_is_the_normal_one(self) -> None:
        """Much noise, one constraint: Phi(-mean / std) of the posterior, to sampling error."""
        goal = check_goal(True, None, FIRST, self.BELOW)
        model = models(self.Y, noise=0.5)
        found = GoalView(model, UNIT, goal)
        with torch.no_grad():
            posterior = model.posterior(X.unsqueeze(-2))
        mean, std = posterior.mean[:, 0, 1], posterior.variance[:, 0, 1].sqrt()
        expected = torch.distributions.Normal(0.0, 1.0).cdf(-mean / std)
        torch.testing.assert_close(found.log_feasibility[:, 0].exp(), expected, atol=0.02, rtol=0)

    def test_all_constraints_together_decide(self) -> None:
        """Two of probability 0.6 each are met together with 0.36."""
        found = view(self.Y, constraints=[*self.BELOW, *self.BELOW])
        found.__dict__["log_feasibility"] = torch.full((5, 2), math.log(0.6)).double()
        assert not found.feasible.any()
        found = view(self.Y, constraints=self.BELOW)
        found.__dict__["log_feasibility"] = torch.full((5, 1), math.log(0.6)).double()
        assert found.feasible.all()

    def test_the_record_says_which_constraint_mattered(self) -> None:
        never = [lambda Y: Y[..., 0] - 100.0]
        told = view(self.Y, constraints=[*never, *self.BELOW]).explain()
        assert told["constraint"] == 1 and "constraint 1 keeps it" in told["constrained"]
        assert len(told["feasibility"]) == 2 and min(told["feasibility"]) > 0.5
        free = view(self.Y, constraints=never).explain()
        assert "constraint" not in free

    def test_the_box_stays_with_the_feasible(self) -> None:
        """A far infeasible point with the best value neither leads nor stretches the box."""
        far = torch.cat([X, tensor([[60.0, 0.5]])])
        Y = torch.cat([self.Y, tensor([[50.0, 2.0]])])
        box = ExpandingBounds(UNIT, objective=FIRST, constraints=self.BELOW)
        record = box.update(models(Y, far))
        assert record is not None and record.details["center"] == X[2].tolist()
        assert record.details["extent_of_data"][0] < 1
        assert record.details["constraint"] == 0 and "constraint 0 keeps it" in str(record)
        unconstrained = ExpandingBounds(UNIT, objective=FIRST)
        followed = unconstrained.update(models(Y, far))
        assert followed is not None and followed.details["center"] == [60.0, 0.5]
        assert followed.details["extent_of_data"][0] > 59


class TestSeveralObjectives:
    #             front          front          dominated      front          dominated
    Y = tensor([[1.0, 5.0], [3.0, 3.0], [2.0, 2.0], [5.0, 1.0], [0.0, 4.0]])

    def test_the_front_leads_in_turn(self) -> None:
        found = view(self.Y, BOTH)
        assert found.incumbents.tolist() == [0, 1, 3]
        assert found.incumbent == 3  # five points: 5 % 3 = 2
        leaders = set()
        for n in (3, 4, 5):
            goal = check_goal(True, None, BOTH, None)
            few = GoalView(models(self.Y[:n], X[:n]), UNIT, goal)
            leaders.add(few.incumbent)
        assert len(leaders) > 1

    def test_minimising_turns_the_front_over(self) -> None:
        assert view(self.Y, BOTH, maximize=False).incumbents.tolist() == [2, 3, 4]

    def test_points_lead_that_were_at_the_front_when_they_came(self) -> None:
        assert view(self.Y, BOTH).leading.tolist() == [True, True, False, True, False]
        # The last beats none, but an earlier one came before what dominates it.
        later = tensor([[2.0, 2.0], [1.0, 5.0], [3.0, 3.0], [5.0, 1.0], [0.0, 4.0]])
        assert view(later, BOTH).leading.tolist() == [True, True, True, True, False]

    def test_progress_is_what_no_earlier_point_has_to_a_margin(self) -> None:
        Y = tensor([[1.0, 5.0], [5.0, 1.0], [3.0, 3.0], [3.01, 3.01], [0.0, 0.0]])
        found = view(Y, BOTH)
        assert found.last_improvement(0.0) == 3
        assert found.last_improvement(0.1) == 2  # in standard deviations of each objective

    def test_a_success_is_a_point_that_gets_to_the_front(self) -> None:
        Y = tensor([[1.0, 5.0], [5.0, 1.0], [0.0, 0.0], [3.0, 3.0], [2.0, 2.0]])
        assert view(Y, BOTH).scores.tolist() == [1.0, 2.0, 0.0, 3.0, 0.0]
        leads = view(Y, BOTH)
        assert leads.as_good_as_best(0.5).nonzero().flatten().tolist() == [leads.incumbent]

    def test_infeasible_points_are_not_on_the_front(self) -> None:
        Y = torch.cat([self.Y, tensor([[-3.0], [3.0], [-3.0], [-3.0], [-3.0]])], dim=-1)
        first_two = IdentityMCMultiOutputObjective(outcomes=[0, 1], num_outcomes=3)
        found = view(Y, first_two, [lambda Y: Y[..., 2]])
        assert found.incumbents.tolist() == [0, 2, 3]

    def test_the_reference_point_is_below_the_front_by_a_standard_deviation_or_more(self) -> None:
        found = view(self.Y, BOTH)
        front = found.objectives[found.incumbents]
        units = self.Y.std(dim=0)
        assert (found.reference_point <= front.amin(dim=0) - 0.999 * units).all()

    def test_no_point_has_one_value(self) -> None:
        with pytest.raises(UnsupportedError, match=r"Expected one objective.*EI-Turns"):
            _ = view(self.Y, BOTH).values
        with pytest.raises(InputDataError, match="standard deviations with several objectives"):
            ExpandingBounds(UNIT, objective=BOTH, epsilon=(0.1, "raw"))


@pytest.mark.parametrize("objective", [BOTH, FIRST])
def test_the_theorem_speaks_of_other_goals(objective: object) -> None:
    found = view(TestSeveralObjectives.Y, objective)
    for name in ("summary", "objective"):
        with pytest.raises(UnsupportedError, match=r"(?s)Gaussian process.*EI-Turns"):
            getattr(found, name)


def test_points_that_have_no_part_in_the_improvement_are_left_out() -> None:
    found = view(TestConstraints.Y, constraints=TestConstraints.BELOW)
    assert found.baseline.tolist() == [X[2].tolist()]
    front = view(TestSeveralObjectives.Y, BOTH)
    assert front.baseline.tolist() == X[[0, 1, 3]].tolist()
