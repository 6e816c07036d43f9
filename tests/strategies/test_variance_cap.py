import math

import pytest
import torch
from botorch.exceptions.errors import BotorchError, InputDataError

from botorch_ubo.boxes import contains
from botorch_ubo.models.gram import conditional_variance, training_gram
from botorch_ubo.policies.triggers import Never
from botorch_ubo.strategies import HyperharmonicBox, VarianceCapBox
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import NOISE, feed, random_data, rbf_model, unit_box
from tests.support.controlled import build, data, gp

CAP = 1 - math.exp(-1)


@pytest.mark.slow
class TestConformance(StrategyConformance):
    method = "EI-VarCap"


def make(**kwargs):
    return build("EI-VarCap", unit_box(), **kwargs)


@pytest.mark.parametrize(
    "cap, radius",
    [
        # One datum: lambda_max = 1 / (1 + s^2), so the correlation at the cap is the square root of
        # (1 - tau) (1 + s^2), and an RBF's radius the root of minus its logarithm.
        (0.9, math.sqrt(-math.log(0.1 * (1 + NOISE)))),
        (0.99, math.sqrt(-math.log(0.01 * (1 + NOISE)))),
        # The default is one length-scale, and a lower cap is no less.
        (CAP, 1.0),
        (0.2, 1.0),
    ],
)
def test_half_width_by_hand(cap, radius):
    box = make(strategy=VarianceCapBox(cap=cap))
    X, Y = torch.full((1, 2), 0.5).double(), torch.ones(1).double()
    box.update(rbf_model(X, Y, lengthscale=3.0))
    half = 3 * radius
    expected = [pytest.approx([0.5 - half] * 2), pytest.approx([0.5 + half] * 2)]
    assert box.bounds.tolist() == expected


def test_half_width_shares_the_cap_among_the_data():
    # Two data that do not see each other: lambda_max as for one, but n = 2.
    box = make(strategy=VarianceCapBox(cap=0.9))
    X = torch.tensor([[-50.0, 0.5], [50.0, 0.5]]).double()
    box.update(rbf_model(X, torch.tensor([0.0, 1.0]).double()))
    half = math.sqrt(-math.log(0.1 * (1 + NOISE) / 2))
    assert box.history[-1].capped  # along the first dimension: the data are far apart
    assert box.bounds[:, 1].tolist() == pytest.approx([0.5 - half, 0.5 + half])


def test_box_contains_what_is_below_the_cap():
    X, Y = random_data(8)
    model = rbf_model(X, Y, lengthscale=0.3)
    box = make()
    box.update(model)
    points = -4 + 9 * torch.rand(20000, 2, dtype=torch.double)
    with torch.no_grad():
        variance = model.posterior(points.unsqueeze(-2)).variance.flatten()
    feasible = variance <= CAP
    assert 50 < feasible.sum() < 10000
    assert contains(box.bounds, points[feasible]).all()


def test_suggestions_respect_the_cap():
    X, Y = random_data(6)
    model = rbf_model(X, Y, lengthscale=0.3)
    x = make().suggest(model)
    with torch.no_grad():
        assert float(model.posterior(x).variance) <= 1.02 * CAP


def test_variance_before_observation():
    X, Y = random_data(6)
    model = rbf_model(X, Y, lengthscale=0.3)
    variance = conditional_variance(
        training_gram(model).covariance, torch.ones(()).double(), known=4
    )
    before = rbf_model(X[:4], Y[:4], lengthscale=0.3).posterior(X[4:]).variance.flatten()
    assert torch.allclose(variance, before, atol=1e-9)


def schedule(*steps):
    """The caps after points that are near or far, better or worse than all before."""
    X, Y = random_data(6)
    best = Y.max()
    for i, (far, better) in enumerate(steps):
        x = [6.0 + 6 * i, 0.5] if far else X[0].tolist()
        X = torch.cat([X, torch.tensor([x]).double()])
        best = best + better
        Y = torch.cat([Y, torch.tensor([best if better else 0.0]).double()])
    box = make()
    records = feed(box, X, Y, start=6)
    return [record.details["variance_cap"] for record in records]


def test_schedule_by_hand():
    loose = 1 - (1 - CAP) / 1.5
    assert schedule((True, True)) == pytest.approx([CAP, loose])
    assert schedule((True, False)) == pytest.approx([CAP, CAP])
    assert schedule((True, False), (True, False)) == pytest.approx([CAP, CAP, CAP / 1.2])
    # not at the cap: no change, and the count of failures starts again
    assert schedule((False, True)) == pytest.approx([CAP, CAP])
    steps = (True, False), (False, False), (True, False), (True, False)
    assert schedule(*steps) == pytest.approx([CAP, CAP, CAP, CAP, CAP / 1.2])


def test_the_cap_stays_within_its_limits():
    assert schedule(*[(True, True)] * 12)[-1] == 0.99
    assert schedule(*[(True, False)] * 24)[-1] == pytest.approx(0.1)


@pytest.mark.parametrize("arguments", [{"cap": 1.0}, {"cap_min": 0.0}, {"loosen": 0.5}])
def test_bad_arguments(arguments):
    with pytest.raises(BotorchError, match="Expected"):
        VarianceCapBox(**arguments)


def test_the_acquisition_takes_the_cap_of_the_strategy():
    model = rbf_model(*random_data(4))
    for cap in (0.3, 0.8):
        box = make(strategy=VarianceCapBox(cap=cap))
        box.update(model)
        acqf = box.method.acquisition(box.context(model))
        assert float(acqf.max_variance) == pytest.approx(cap)  # the prior variance is 1


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_the_cap_is_a_share_of_the_prior_variance_in_any_unit(unit):
    """Under a kernel of unit variance, in the model's units: of one."""
    X, Y = data(8)
    box = make(strategy=VarianceCapBox(cap=0.3))
    model = gp(X, unit * Y)
    box.update(model)
    acqf = box.method.acquisition(box.context(model))
    assert float(acqf.max_variance) == pytest.approx(0.3)


@pytest.mark.parametrize(
    "parts", [{"strategy": HyperharmonicBox()}, {"trigger": Never()}], ids=["strategy", "trigger"]
)
def test_without_a_cap_there_is_no_capped_improvement(parts):
    with pytest.raises(InputDataError, match=r"variance_capped_log_ei.*without a cap.*Always\(\)"):
        make(**parts).suggest(rbf_model(*random_data(4)))
