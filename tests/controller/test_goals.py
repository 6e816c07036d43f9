"""Constraints and several objectives through ``suggest``."""

import json
from dataclasses import replace

import pytest
import torch
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.acquisition.multi_objective.objective import (
    IdentityMCMultiOutputObjective,
    WeightedMCMultiOutputObjective,
)
from botorch.acquisition.multi_objective.parego import qLogNParEGO
from botorch.acquisition.objective import GenericMCObjective
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import InputPerturbation
from gpytorch.kernels import CosineKernel, ScaleKernel
from torch import Tensor

from botorch_ubo import ExpandingBounds, available_methods, get_method
from botorch_ubo.policies.goal_factories import (
    constrained_q_log_ei,
    hypervolume_or_parego,
    q_log_nparego,
)
from tests.policies.test_goal_view import models
from tests.support.controlled import FAST, UNIT, data, inside
from tests.support.gps import tensor

FIRST = GenericMCObjective(lambda Y, X=None: Y[..., 0])
BELOW = [lambda Y: Y[..., 1]]
BOTH = IdentityMCMultiOutputObjective()
EI_METHODS = (
    *("EI-Turns", "EI-Roaming", "EI-Vanilla", "EI-Volx2", "HuBO-EI", "HD-HuBO-EI", "TuRBO-1"),
)


def climb(X: Tensor) -> Tensor:
    """The more x0 the better, up to 1.2."""
    return torch.stack([X[:, 0], X[:, 0] - 1.2], dim=-1)


def bowls(X: Tensor) -> Tensor:
    return -torch.stack([(X - a).square().sum(dim=-1) for a in (1.5, 2.5)], dim=-1)


@pytest.mark.parametrize("method", [method.name for method in available_methods()])
def test_methods_take_constraints_or_refuse_in_words(method: str) -> None:
    X, _ = data(8)
    box = ExpandingBounds(UNIT, method=method, objective=FIRST, constraints=BELOW, **FAST)
    before = json.dumps(box.state_dict())
    if method in EI_METHODS:
        x = box.suggest(models(climb(X), X))
        assert x.shape == (1, 2) and inside(box.bounds, x)
        return
    with pytest.raises(UnsupportedError, match=r"(?s)Expected.*EI-Turns"):
        box.suggest(models(climb(X), X))
    assert json.dumps(box.state_dict()) == before


@pytest.mark.parametrize("method", [method.name for method in available_methods()])
def test_methods_take_several_objectives_or_refuse_in_words(method: str) -> None:
    X, _ = data(8)
    box = ExpandingBounds(UNIT, method=method, objective=BOTH, **FAST)
    before = json.dumps(box.state_dict())
    if method in EI_METHODS:
        x = box.suggest(models(bowls(X), X))
        assert x.shape == (1, 2) and inside(box.bounds, x)
        return
    with pytest.raises(UnsupportedError, match=r"(?s)Expected.*EI-Turns"):
        box.suggest(models(bowls(X), X))
    assert json.dumps(box.state_dict()) == before


def test_suggestions_repeat_come_in_batches_and_keep_the_state() -> None:
    X, _ = data(8)
    for objective, f, constraints in ((FIRST, climb, BELOW), (BOTH, bowls, None)):
        box = ExpandingBounds(UNIT, objective=objective, constraints=constraints, **FAST)
        model = models(f(X), X)
        x = box.suggest(model, q=2, X_pending=X[:1] + 0.1)
        assert x.shape == (2, 2) and not torch.equal(x[0], x[1])
        other = ExpandingBounds(UNIT, objective=objective, constraints=constraints, **FAST)
        other.load_state_dict(json.loads(json.dumps(box.state_dict())))
        torch.manual_seed(1)  # the process-wide generator has no part in it
        assert torch.equal(x, other.suggest(model, q=2, X_pending=X[:1] + 0.1))


@pytest.mark.filterwarnings("ignore:When all training points are infeasible")
@pytest.mark.parametrize("own", [True, False])
def test_suggestions_repeat_while_nothing_can_be_feasible(own: bool) -> None:
    """BoTorch draws the places that bound an objective from below."""
    X, _ = data(8)
    never = [lambda Y: 0 * Y[..., 1] + 1]
    found = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        before = torch.get_rng_state()
        box = ExpandingBounds(UNIT, objective=FIRST, constraints=never, **FAST)
        model = box.fit(X, climb(X)) if own else models(climb(X), X)
        found += [box.suggest(model), box.suggest(model)]
        assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(x, found[0]) for x in found)


def test_a_kernel_that_is_none_is_refused_in_words() -> None:
    """A cosine of distances in the plane has no Cholesky factor."""
    X, Y = data(9)
    model = SingleTaskGP(X, Y, covar_module=ScaleKernel(CosineKernel())).eval()
    box = ExpandingBounds(UNIT, **FAST)
    before = json.dumps(box.state_dict())
    for ask in (box.suggest, box.update):
        with pytest.raises(UnsupportedError, match=r"(?s)Expected.*positive definite.*Use"):
            ask(model)
    assert json.dumps(box.state_dict()) == before


@pytest.mark.slow
def test_a_constrained_climb_ends_at_its_limit() -> None:
    """Where the box of an unconstrained loop followed infeasible points for ever."""
    X, _ = data(6)
    box = ExpandingBounds(UNIT, objective=FIRST, constraints=BELOW)
    for _ in range(10):
        x = box.suggest(box.fit(X, climb(X)))
        X = torch.cat([X, x])
    feasible = X[X[:, 0] <= 1.2]
    assert float(feasible[:, 0].max()) > 1.19
    assert float(box.bounds[1, 0]) < 6


@pytest.mark.slow
def test_a_front_outside_the_first_box_is_found() -> None:
    """The line from (1.5, 1.5) to (2.5, 2.5), seen from the unit box."""
    X, _ = data(6)
    box = ExpandingBounds(UNIT, objective=BOTH)
    for _ in range(14):
        X = torch.cat([X, box.suggest(box.fit(X, bowls(X)))])
    Y = bowls(X)
    assert float(Y[:, 0].max()) > -0.05 and float(Y[:, 1].max()) > -0.05
    middle = (Y > -0.75).all(dim=-1)  # both are -0.5 at (2, 2)
    assert middle.any()
    assert box.history[-1].details["front"]


def test_minimising_some_and_maximising_others() -> None:
    X, _ = data(8)
    signs = WeightedMCMultiOutputObjective(tensor([-1.0, 1.0]))
    box = ExpandingBounds(UNIT, objective=signs, **FAST)
    front = box.context(models(bowls(X) * tensor([-1.0, 1.0]), X)).view
    plain = ExpandingBounds(UNIT, objective=BOTH, **FAST).context(models(bowls(X), X)).view
    assert front.incumbents.tolist() == plain.incumbents.tolist()


def test_few_objectives_by_hypervolume_many_by_weights() -> None:
    X, _ = data(8)
    two = ExpandingBounds(UNIT, objective=BOTH, **FAST).context(models(bowls(X), X))
    assert isinstance(hypervolume_or_parego(two), qLogNoisyExpectedHypervolumeImprovement)
    Y = torch.stack([(X - a).square().sum(dim=-1) for a in range(5)], dim=-1)
    five = ExpandingBounds(UNIT, objective=BOTH, maximize=False, **FAST).context(models(Y, X))
    assert isinstance(hypervolume_or_parego(five), qLogNParEGO)


def test_another_function_is_a_field_of_the_method() -> None:
    X, _ = data(8)
    method = replace(
        get_method("EI-Turns"),
        name="Mine",
        constrained_acquisition=constrained_q_log_ei,
        multi_acquisition=q_log_nparego,
    )
    constrained = ExpandingBounds(UNIT, method=method, objective=FIRST, constraints=BELOW, **FAST)
    assert constrained.suggest(models(climb(X), X)).shape == (1, 2)
    several = ExpandingBounds(UNIT, method=method, objective=BOTH, **FAST)
    assert several.suggest(models(bowls(X), X)).shape == (1, 2)


def test_the_recommended_models_of_several_outcomes() -> None:
    X, _ = data(8)
    box = ExpandingBounds(UNIT, objective=FIRST, constraints=BELOW)
    model = box.fit(X, climb(X))
    assert model.num_outputs == 2 and len(model.models) == 2
    with torch.no_grad():
        torch.testing.assert_close(model.posterior(X).mean, climb(X), atol=0.02, rtol=0)


@pytest.mark.parametrize(
    ("objective", "constraints", "message"),
    [
        (FIRST, [lambda Y: Y[..., 1:]], "one number of every point from constraint 0"),
        (FIRST, [lambda Y: Y[..., 1], lambda Y: Y[..., 1] * torch.nan], "constraint 1; got NaN"),
        (GenericMCObjective(lambda Y, X=None: (Y[..., 0] - 99).log()), None, "objective; got NaN"),
    ],
)
def test_functions_of_outcomes_that_are_none_are_refused(objective, constraints, message) -> None:
    X, _ = data(8)
    box = ExpandingBounds(UNIT, objective=objective, constraints=constraints, **FAST)
    before = json.dumps(box.state_dict())
    with pytest.raises(InputDataError, match=f"(?s)Expected.*{message}"):
        box.suggest(models(climb(X), X))
    assert json.dumps(box.state_dict()) == before


def test_several_points_of_one_need_a_word_of_what_is_made_of_them() -> None:
    X, Y = data(8)
    model = SingleTaskGP(X, Y, input_transform=InputPerturbation(tensor([[0.0, 0.0], [0.1, 0.1]])))
    for goal, message in (({}, "ExpectationPosteriorTransform"), ({"objective": FIRST}, "alone")):
        with pytest.raises(UnsupportedError, match=f"(?s)Expected.*{message}"):
            ExpandingBounds(UNIT, **goal, **FAST).suggest(model.eval())


def test_a_suggestion_that_fails_takes_no_step() -> None:
    X, Y = data(8)

    def broken(model: object) -> None:
        raise RuntimeError("no acquisition function today")

    box = ExpandingBounds(UNIT, **FAST)
    before = json.dumps(box.state_dict())
    with pytest.raises(RuntimeError, match="today"):
        box.suggest(box.fit(X, Y), broken)
    assert json.dumps(box.state_dict()) == before
    other = ExpandingBounds(UNIT, **FAST)
    assert torch.equal(box.suggest(box.fit(X, Y)), other.suggest(other.fit(X, Y)))


@pytest.mark.parametrize("method", ["EI-Turns", "EI-Roaming"])
def test_the_box_widens_while_nothing_is_feasible(method: str) -> None:
    """The first step is one towards feasibility; those that follow bring nothing notable."""
    X, _ = data(8)
    box = ExpandingBounds(UNIT, method=method, objective=FIRST, constraints=BELOW, **FAST)
    free = ExpandingBounds(UNIT, method=method, objective=FIRST, **FAST)
    X = torch.cat([X, tensor([[1.2, 1.2]]) - torch.arange(6).reshape(-1, 1) * 1e-3])

    def never(X: Tensor) -> Tensor:
        return torch.stack([X.sum(dim=-1), 5 - X.sum(dim=-1)], dim=-1)

    for n in range(8, 15):
        box.update(models(never(X[:n]), X[:n]))
        free.update(models(never(X[:n]), X[:n]))
    sides = [(b.bounds[1] - b.bounds[0]).min() for b in (box, free)]
    assert sides[0] > 1.5 * sides[1]
    assert box.history[-1].details["why"] == "wider while nothing notable is found"
