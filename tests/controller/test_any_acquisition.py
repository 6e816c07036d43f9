"""Acquisition functions of every kind in ``suggest``, and constraints on inputs."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from botorch.acquisition import (
    AcquisitionFunction,
    ExpectedImprovement,
    FixedFeatureAcquisitionFunction,
    LogExpectedImprovement,
    ProximalAcquisitionFunction,
    UpperConfidenceBound,
    qKnowledgeGradient,
    qLogExpectedImprovement,
    qMaxValueEntropy,
    qMultiFidelityKnowledgeGradient,
)
from botorch.acquisition.cost_aware import InverseCostWeightedUtility
from botorch.acquisition.joint_entropy_search import qJointEntropySearch
from botorch.acquisition.max_value_entropy_search import qLowerBoundMaxValueEntropy
from botorch.acquisition.multi_step_lookahead import qMultiStepLookahead
from botorch.acquisition.thompson_sampling import PathwiseThompsonSampling
from botorch.acquisition.utils import get_optimal_samples
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.models import MixedSingleTaskGP, ModelListGP, SingleTaskMultiFidelityGP
from botorch.models.cost import AffineFidelityCostModel
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo import ExpandingBounds
from tests.support.controlled import FAST, UNIT, bell, data, gp, inside
from tests.support.gps import tensor

pytestmark = [
    pytest.mark.filterwarnings("ignore:A not p.d."),
    pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.BotorchWarning"),
]
INDEX = torch.tensor([0, 1])
CANDIDATES = torch.rand(50, 2, generator=torch.Generator().manual_seed(0), dtype=torch.double)


def joint_entropy(model: Model) -> qJointEntropySearch:
    return qJointEntropySearch(model, *get_optimal_samples(model, UNIT, num_optima=2))


class Opaque(AcquisitionFunction):
    """The posterior mean, as if it came from elsewhere."""

    def forward(self, X: Tensor) -> Tensor:
        with torch.no_grad():
            return self.model.posterior(X).mean.reshape(X.shape[:-2])


KINDS: dict[str, tuple[Callable[[Model], Any], int, bool]] = {
    "analytic": (lambda m: LogExpectedImprovement(m, 0.5), 1, True),
    "Monte Carlo": (lambda m: qLogExpectedImprovement(m, 0.5), 2, True),
    "Thompson": (PathwiseThompsonSampling, 1, True),
    "Thompson samples": (PathwiseThompsonSampling, 3, True),
    "knowledge gradient": (lambda m: qKnowledgeGradient(m, num_fantasies=2), 1, False),
    "knowledge gradients": (lambda m: qKnowledgeGradient(m, num_fantasies=2), 2, False),
    "max-value entropy": (lambda m: qMaxValueEntropy(m, CANDIDATES, num_fantasies=2), 1, False),
    "GIBBON": (lambda m: qLowerBoundMaxValueEntropy(m, CANDIDATES), 2, False),
    "joint entropy": (joint_entropy, 1, False),
    "look-ahead": (lambda m: qMultiStepLookahead(m, batch_sizes=[1], num_fantasies=[2]), 1, False),
    "around another": (
        lambda m: ProximalAcquisitionFunction(ExpectedImprovement(m, 0.5), torch.ones(2).double()),
        1,
        True,
    ),
    "without a gradient": (Opaque, 1, True),
}


@pytest.mark.parametrize(
    "kind",
    [k if quick else pytest.param(k, marks=pytest.mark.slow) for k, (_, _, quick) in KINDS.items()],
)
def test_functions_of_every_kind(kind: str) -> None:
    build, q, _ = KINDS[kind]
    X, Y = data(8)
    model, box = gp(X, Y), ExpandingBounds(UNIT, **FAST)
    x = box.suggest(model, build, q=q)
    assert x.shape == (q, 2) and inside(box.bounds, x)
    assert len(x.unique(dim=0)) == q
    assert torch.equal(x, box.suggest(model, build, q=q))


@pytest.mark.parametrize(
    ("build", "asked", "error", "message"),
    [
        (lambda m: None, {}, InputDataError, "AcquisitionFunction of BoTorch.*got None"),
        (lambda m: lambda X: X, {}, InputDataError, "AcquisitionFunction of BoTorch"),
        (
            lambda m: FixedFeatureAcquisitionFunction(
                qLogExpectedImprovement(m, 0.5), d=2, columns=[1], values=[0.5]
            ),
            {},
            UnsupportedError,
            "all inputs.*`fixed_features`",
        ),
        (
            lambda m: qKnowledgeGradient(m, num_fantasies=2),
            {"discrete_dims": {0: [0.0, 1.0]}},
            UnsupportedError,
            "one point.*fantasies.*`fixed_features`",
        ),
    ],
)
def test_what_cannot_be_maximised_is_refused_and_changes_nothing(
    build: Any, asked: Any, error: Any, message: str
) -> None:
    box = ExpandingBounds(UNIT, **FAST)
    before = box.state_dict()
    with pytest.raises(error, match=f"(?s)Expected.*{message}"):
        box.suggest(gp(*data(8)), build, **asked)
    assert box.state_dict() == before


@pytest.mark.slow
def test_cost_aware_multi_fidelity() -> None:
    X, Y = data(8)
    model = SingleTaskMultiFidelityGP(X, Y, data_fidelities=[1]).eval()
    cost = AffineFidelityCostModel(fidelity_weights={1: 1.0}, fixed_cost=5.0)
    utility = InverseCostWeightedUtility(cost)

    def project(X: Tensor) -> Tensor:
        return torch.cat([X[..., :1], torch.ones_like(X[..., :1])], dim=-1)

    def build(model: Model) -> qMultiFidelityKnowledgeGradient:
        return qMultiFidelityKnowledgeGradient(
            model,
            num_fantasies=2,
            current_value=Y.max(),
            cost_aware_utility=utility,
            project=project,
        )

    box = ExpandingBounds(UNIT, hard_limits={1: (0.0, 1.0)}, **FAST)
    x = box.suggest(model, build)
    assert x.shape == (1, 2) and 0 <= float(x[0, 1]) <= 1


class TestInputConstraints:
    @pytest.mark.parametrize("q", [1, 2])
    @pytest.mark.parametrize("own", [False, True])
    def test_are_kept(self, q: int, own: bool) -> None:
        X, Y = data(8)
        box = ExpandingBounds(UNIT, **FAST)
        build = (lambda m: qLogExpectedImprovement(m, 0.5)) if own else None
        limit = [(INDEX, tensor([-1.0, -1.0]), -1.8)]  # x0 + x1 <= 1.8; the top is at 3.5
        x = box.suggest(gp(X, Y), build, q=q, inequality_constraints=limit)
        assert x.shape == (q, 2) and inside(box.bounds, x)
        assert (x.sum(-1) <= 1.8 + 1e-6).all()
        assert float(x[0].sum()) == pytest.approx(1.8, abs=1e-3)  # it leans on the limit

    def test_of_other_kinds(self) -> None:
        X, Y = data(8)
        model = gp(X, Y)
        box = ExpandingBounds(UNIT, **FAST)
        on_line = box.suggest(model, equality_constraints=[(INDEX, tensor([1.0, 1.0]), 1.2)])
        assert float(on_line.sum()) == pytest.approx(1.2)
        disc = box.suggest(
            model, nonlinear_inequality_constraints=[(lambda x: 0.5 - x.square().sum(), True)]
        )
        assert float(disc.square().sum()) <= 0.5 + 1e-6
        fixed = box.suggest(model, fixed_features={0: 0.3})
        assert float(fixed[0, 0]) == 0.3
        beyond = box.suggest(model, fixed_features={0: 9.0})
        assert float(beyond[0, 0]) == 9.0

    def test_mixed_spaces(self) -> None:
        X, Y = data(8)
        model, box = gp(X, Y), ExpandingBounds(UNIT, **FAST)
        whole = box.suggest(model, discrete_dims={0: [0.0, 0.25, 0.5, 0.75, 1.0, 20.0]})
        assert float(whole[0, 0]) in (0.0, 0.25, 0.5, 0.75, 1.0) and inside(box.bounds, whole)
        limit = [(INDEX, tensor([-1.0, -1.0]), -1.4)]
        cut = box.suggest(model, discrete_dims={0: [0.0, 0.5, 1.0]}, inequality_constraints=limit)
        assert float(cut[0, 0]) in (0.5, 1.0) and float(cut.sum()) == pytest.approx(1.4, abs=1e-3)
        category = box.suggest(model, cat_dims={1: [0.0, 5.0]}, fixed_features={0: 0.5})
        assert float(category[0, 0]) == 0.5 and float(category[0, 1]) in (0.0, 5.0)

    def test_categories_that_nobody_named_are_refused(self) -> None:
        X, Y = data(8)
        X[:, 1] = (4 * X[:, 1]).round()
        box = ExpandingBounds(tensor([[0.0, 0.0], [1.0, 4.0]]), **FAST)
        single = MixedSingleTaskGP(X, Y, cat_dims=[-1]).eval()
        for model in (single, ModelListGP(single).eval()):
            with pytest.raises(InputDataError, match=r"values of inputs \[1\].*cat_dims"):
                box.suggest(model)
            assert float(box.suggest(model, cat_dims={1: [0.0, 2.0]})[0, 1]) in (0.0, 2.0)
            assert float(box.suggest(model, fixed_features={1: 3.0})[0, 1]) == 3.0
        only = MixedSingleTaskGP(X[:, 1:], Y, cat_dims=[0]).eval()
        with pytest.raises(InputDataError, match=r"values of inputs \[0\]"):
            ExpandingBounds(tensor([[0.0], [4.0]]), **FAST).suggest(only)

    @pytest.mark.slow
    def test_of_several_points_and_their_fantasies(self) -> None:
        X, Y = data(8)
        box = ExpandingBounds(UNIT, **FAST)
        limit = [(INDEX, tensor([-1.0, -1.0]), -1.8)]

        def build(model: Model) -> qKnowledgeGradient:
            return qKnowledgeGradient(model, num_fantasies=4)

        x = box.suggest(gp(X, Y), build, q=2, inequality_constraints=limit)
        assert x.shape == (2, 2) and inside(box.bounds, x) and len(x.unique(dim=0)) == 2
        assert (x.sum(-1) <= 1.8 + 1e-6).all() and (x.sum(-1) > 1).all()  # the hill is at 3.5

    def test_hard_limits_have_the_last_word(self) -> None:
        X, Y = data(8)
        box = ExpandingBounds(UNIT, hard_limits={0: (None, 1.0)}, **FAST)
        x = box.suggest(gp(X, Y), fixed_features={0: 9.0})
        assert float(x[0, 0]) == 1.0


class TestRefusals:
    def test_analytic_functions_have_no_batches(self) -> None:
        with pytest.raises(UnsupportedError, match=r"q=2.*Use a q-acquisition"):
            ExpandingBounds(UNIT, **FAST).suggest(
                gp(*data(8)), lambda m: UpperConfidenceBound(m, 2.0), q=2
            )

    def test_failures_do_not_weigh_fantasies(self) -> None:
        X, Y = data(8)
        with pytest.raises(UnsupportedError, match=r"X_failed.*qKnowledgeGradient.*use another"):
            ExpandingBounds(UNIT, **FAST).suggest(
                gp(X, Y), lambda m: qKnowledgeGradient(m, num_fantasies=2), X_failed=X[:1] + 0.1
            )

    def test_nonlinear_constraints_and_functions_with_initial_conditions_of_their_own(self) -> None:
        inside_disc = [(lambda x: 0.5 - x.square().sum(), True)]
        with pytest.raises(UnsupportedError, match=r"linear input constraints"):
            ExpandingBounds(UNIT, **FAST).suggest(
                gp(*data(8)),
                lambda m: qKnowledgeGradient(m, num_fantasies=2),
                nonlinear_inequality_constraints=inside_disc,
            )


def test_the_plain_search_is_taken_where_nothing_else_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The default's path is as it was."""
    from botorch_ubo.controller import suggestion

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("another search was taken")

    monkeypatch.setattr(suggestion, "maximize_in_space", never)
    X, Y = data(8)
    x = ExpandingBounds(UNIT, **FAST).suggest(gp(X, Y))
    assert bell(x).shape == (1, 1)
    with pytest.raises(AssertionError, match="another search"):
        ExpandingBounds(UNIT, **FAST).suggest(gp(X, Y), fixed_features={0: 0.5})
