import json

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, qUpperConfidenceBound
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Normalize

from botorch_ubo import ExpandingBounds, factories, methods
from botorch_ubo.methods import (
    DEFAULT_METHOD,
    Method,
    available_methods,
    get_method,
    register_method,
)
from botorch_ubo.strategies import FixedBox, TheoremBox, VolumeDoublingBox
from botorch_ubo.strategies.roaming import RoamingBox
from botorch_ubo.testing import make_data, make_model, run
from botorch_ubo.triggers import Always, Never
from tests.strategies.helpers import random_data, rbf_model, unit_box

PAPER = (
    "GPUCB-UBO", "EI-Vanilla", "EI-Volx2", "EI-H", "EI-Q", "GPUCB-Vanilla", "GPUCB-Volx2",
    "GPUCB-FBO",
)  # fmt: skip
NEWER = (
    "EI-Roaming", "GPUCB-UBO (as published)", "HuBO", "HuBO-EI", "HD-HuBO", "HD-HuBO-EI",
    "EI-VarCap", "TuRBO-1", "EI-UBO",
)  # fmt: skip
FOR_ANY_MODEL = [name for name in NEWER if name != "GPUCB-UBO (as published)"]
QUICK = {"num_restarts": 2, "raw_samples": 32}


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr(methods, "_METHODS", dict(methods._METHODS))


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
    named, plain = get_method(DEFAULT_METHOD).build(unit_box()), ExpandingBounds(unit_box())
    assert available_methods()[0].name == DEFAULT_METHOD
    assert named.strategy == plain.strategy == RoamingBox()
    assert named.trigger == plain.trigger == Always()
    assert named.acquisition is plain.acquisition is factories.searching_log_ei
    assert named.batch_acquisition is plain.batch_acquisition is factories.q_searching_log_ei
    assert named.settings.epsilon == plain.settings.epsilon


def test_the_papers_method_is_the_corrected_preset():
    named, preset = get_method("GPUCB-UBO").build(unit_box()), ExpandingBounds.corrected(unit_box())
    assert named.strategy == preset.strategy == TheoremBox()
    assert named.trigger == preset.trigger != Always()
    assert named.acquisition is preset.acquisition is factories.ucb


def test_upper_and_lower_case_do_not_matter():
    assert get_method("gpucb-ubo").name == "GPUCB-UBO"
    assert get_method(" Turbo-1 ").name == "TuRBO-1"


@pytest.mark.parametrize(
    "typo, nearest",
    [("GPUBC-UBO", "GPUCB-UBO"), ("hubo ei", "HuBO-EI"), ("turbo", "TuRBO-1"), ("?", "EI")],
)
def test_an_unknown_name_answers_with_the_nearest(typo, nearest):
    with pytest.raises(
        UnsupportedError, match=rf"The nearest are .*{nearest}.*all are: EI-Roaming"
    ):
        get_method(typo)


@pytest.mark.parametrize("name", [*PAPER, *NEWER])
@pytest.mark.parametrize("maximize", [True, False])
def test_one_argument_switches_and_nothing_else_changes(name, maximize):
    bounds, X, Y = make_data(2)
    box = get_method(name).build(bounds, maximize=maximize, seed=3, **QUICK)
    assert isinstance(box, ExpandingBounds)
    model = make_model(X, Y if maximize else -Y, bounds)
    x = box.suggest(model)
    assert x.shape == (1, 2) and x.isfinite().all()
    json.dumps(box.state_dict())


@pytest.mark.parametrize("name", [*PAPER, *FOR_ANY_MODEL])
@pytest.mark.parametrize("kind", ["outputs", "ensemble"])
def test_scalarised_outputs_and_ensembles(name, kind):
    bounds, X, Y = make_data(2)
    transform = Normalize(2, bounds=bounds)
    weights = torch.tensor([1.0, -0.5], dtype=torch.double)
    objective = ScalarizedPosteriorTransform(weights, 0.3) if kind == "outputs" else None
    box = get_method(name).build(bounds, posterior_transform=objective, **QUICK)
    for n in (5, 6):
        if kind == "outputs":
            both = torch.cat([Y, X[:, :1] - Y.square()], dim=-1)
            model = SingleTaskGP(X[:n], both[:n], input_transform=transform)
        else:
            model = EnsembleMapSaasSingleTaskGP(X[:n], Y[:n], num_taus=3, input_transform=transform)
        x = box.suggest(model.eval())
        assert x.shape == (1, 2) and x.isfinite().all()


def test_arguments_of_the_caller_win():
    box = get_method("EI-Volx2").build(
        unit_box(), strategy=FixedBox(), trigger=Never(), epsilon=0.1
    )
    assert box.strategy == FixedBox() and box.trigger == Never()
    assert box.settings.epsilon == 0.1
    assert get_method("EI-Volx2").build(unit_box()).strategy == VolumeDoublingBox()


def test_third_parties_register_theirs(registry):
    def build(bounds, **kwargs):
        return ExpandingBounds.corrected(bounds, **{"strategy": VolumeDoublingBox(4.0), **kwargs})

    mine = register_method(Method("Mine", "Quadruples.", "Me, 2030.", build))
    assert get_method("MINE") is mine and mine in available_methods()
    assert get_method("mine").build(unit_box()).strategy == VolumeDoublingBox(4.0)
    with pytest.raises(InputDataError, match="'Mine' is registered"):
        register_method(Method("mine", "", "", build))
    other = Method("mine", "Another.", "Me, 2031.", build)
    assert register_method(other, overwrite=True) is get_method("Mine")
    with pytest.raises(UnsupportedError, match="The nearest are 'mine'"):
        get_method("minne")


@pytest.mark.parametrize("maximize", [True, False])
def test_improvement_is_over_the_best_observation(maximize):
    X, Y = random_data(6)
    model = rbf_model(X, Y)
    box = get_method("EI-Vanilla").build(unit_box(), maximize=maximize)
    box.update(model)
    context = box.context(model)
    acqf, batch = box.acquisition(context), box.batch_acquisition(context)
    assert isinstance(acqf, LogExpectedImprovement) and acqf.maximize == maximize
    best = Y.max() if maximize else Y.min()
    assert float(acqf.best_f) == pytest.approx(float(best))
    assert isinstance(batch, qLogExpectedImprovement)
    points = 3 + torch.rand(5, 1, 2, dtype=torch.double)  # where an improvement is likely
    with torch.no_grad():
        assert torch.allclose(batch(points), acqf(points), atol=0.1)


@pytest.mark.parametrize("name", ["HuBO", "GPUCB-FBO"])
@pytest.mark.parametrize("maximize", [True, False])
def test_batches_of_ucb_count_steps_of_the_run(name, maximize):
    bounds, X, Y = make_data(2)
    box = get_method(name).build(bounds, maximize=maximize, **QUICK)
    *_, last = run(box, X, Y, 3)
    context = box.context(last.model)
    acqf, batch = box.acquisition(context), box.batch_acquisition(context)
    assert isinstance(batch, qUpperConfidenceBound)
    assert context.t == 3
    points = torch.rand(5, 1, 2, dtype=torch.double)
    with torch.no_grad():
        assert torch.allclose(batch(points), acqf(points), atol=0.1)
