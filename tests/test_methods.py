"""The methods that there are: each is found by its name, and one argument switches."""

import json

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, qUpperConfidenceBound
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Normalize

from botorch_ubo import ExpandingBounds
from botorch_ubo.methods import DEFAULT_METHOD, available_methods, get_method
from botorch_ubo.policies import factories
from botorch_ubo.policies.triggers import Always, FirstStep, RegretBound
from botorch_ubo.strategies import TheoremBox, TurnsBox
from botorch_ubo.testing import make_data, make_model, run
from tests.support.by_hand import random_data, rbf_model, unit_box
from tests.support.controlled import FAST, build

PAPER = (
    "GPUCB-UBO", "EI-Vanilla", "EI-Volx2", "EI-H", "EI-Q", "GPUCB-Vanilla", "GPUCB-Volx2",
    "GPUCB-FBO",
)  # fmt: skip
NEWER = (
    "EI-Turns", "EI-Roaming", "GPUCB-UBO (as published)", "HuBO", "HuBO-EI", "HD-HuBO",
    "HD-HuBO-EI", "EI-VarCap", "TuRBO-1", "EI-UBO",
)  # fmt: skip
FOR_ANY_MODEL = [name for name in NEWER if name != "GPUCB-UBO (as published)"]


def mostly_slow(*names):
    """All of them, of which the default and the paper's are for every day."""
    quick = (DEFAULT_METHOD, "GPUCB-UBO")
    return [n if n in quick else pytest.param(n, marks=pytest.mark.slow) for n in names]


def test_the_names():
    assert {method.name for method in available_methods()} == {*PAPER, *NEWER}


@pytest.mark.parametrize("name", [*PAPER, *NEWER])
def test_each_has_one_line_and_a_citation(name):
    method = get_method(name)
    assert method.name == name
    assert method.description.endswith(".") and "\n" not in method.description
    assert len(method.description) < 80
    assert len(method.citation) > 10 and "\n" not in method.citation


def test_the_default_is_what_the_constructor_builds():
    plain = ExpandingBounds(unit_box())
    assert available_methods()[0].name == DEFAULT_METHOD
    assert plain.method is get_method(DEFAULT_METHOD)
    assert plain.strategy == TurnsBox() and plain.method.trigger == Always()
    assert plain.method.acquisition is factories.log_ei
    assert plain.method.batch_acquisition is factories.q_log_ei


def test_the_papers_method():
    method = get_method("GPUCB-UBO")
    assert method.strategy == TheoremBox()
    assert method.trigger == FirstStep() | RegretBound()
    assert method.acquisition is factories.ucb and method.batch_acquisition is factories.q_ucb


@pytest.mark.parametrize("name", mostly_slow(*PAPER, *NEWER))
@pytest.mark.parametrize("maximize", [True, False])
def test_one_argument_switches_and_nothing_else_changes(name, maximize):
    bounds, X, Y = make_data(2)
    box = build(name, bounds, maximize=maximize, seed=3, **FAST)
    assert isinstance(box, ExpandingBounds)
    model = make_model(X, Y if maximize else -Y, bounds)
    x = box.suggest(model)
    assert x.shape == (1, 2) and x.isfinite().all()
    json.dumps(box.state_dict())


@pytest.mark.parametrize("name", mostly_slow(*PAPER, *FOR_ANY_MODEL))
@pytest.mark.parametrize("kind", ["outputs", "ensemble"])
def test_scalarised_outputs_and_ensembles(name, kind):
    bounds, X, Y = make_data(2)
    transform = Normalize(2, bounds=bounds)
    weights = torch.tensor([1.0, -0.5], dtype=torch.double)
    objective = ScalarizedPosteriorTransform(weights, 0.3) if kind == "outputs" else None
    box = build(name, bounds, posterior_transform=objective, **FAST)
    for n in (5, 6):
        if kind == "outputs":
            both = torch.cat([Y, X[:, :1] - Y.square()], dim=-1)
            model = SingleTaskGP(X[:n], both[:n], input_transform=transform)
        else:
            model = EnsembleMapSaasSingleTaskGP(X[:n], Y[:n], num_taus=3, input_transform=transform)
        x = box.suggest(model.eval())
        assert x.shape == (1, 2) and x.isfinite().all()


@pytest.mark.parametrize("maximize", [True, False])
def test_improvement_is_over_the_best_observation(maximize):
    X, Y = random_data(6)
    model = rbf_model(X, Y)
    box = build("EI-Vanilla", unit_box(), maximize=maximize)
    box.update(model)
    context = box.context(model)
    acqf, batch = box.method.acquisition(context), box.method.batch_acquisition(context)
    assert isinstance(acqf, LogExpectedImprovement) and acqf.maximize == maximize
    best = Y.max() if maximize else Y.min()
    assert float(acqf.best_f) == pytest.approx(float(best))
    assert isinstance(batch, qLogExpectedImprovement)
    points = 3 + torch.rand(5, 1, 2, dtype=torch.double)  # where an improvement is likely
    with torch.no_grad():
        assert torch.allclose(batch(points), acqf(points), atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["HuBO", "GPUCB-FBO"])
@pytest.mark.parametrize("maximize", [True, False])
def test_batches_of_ucb_count_steps_of_the_run(name, maximize):
    bounds, X, Y = make_data(2)
    box = build(name, bounds, maximize=maximize, **FAST)
    *_, last = run(box, X, Y, 3)
    context = box.context(last.model)
    acqf, batch = box.method.acquisition(context), box.method.batch_acquisition(context)
    assert isinstance(batch, qUpperConfidenceBound)
    assert context.t == 3
    points = torch.rand(5, 1, 2, dtype=torch.double)
    with torch.no_grad():
        assert torch.allclose(batch(points), acqf(points), atol=0.1)
