import math

import pytest
import torch
from botorch.exceptions.errors import UnsupportedError
from botorch.models import SingleTaskGP
from gpytorch.kernels import PeriodicKernel

from botorch_ubo import ConstantBeta, Never, TheoremBeta, TheoremBox
from botorch_ubo.posterior import theorem_radius
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import NOISE, random_data, rbf_model, unit_box
from tests.support.controlled import corrected


@pytest.mark.slow
class TestConformance(StrategyConformance):
    method = "GPUCB-UBO"


def test_box_by_hand():
    # One datum y: z = y / (1 + s^2), and the mean's term decides: gamma = epsilon / 4 / z.
    epsilon, y = 0.05, 2.0
    X = torch.full((1, 2), 0.5).double()
    box = corrected(unit_box(), epsilon=(epsilon, "raw"), beta=ConstantBeta(4.0))
    record = box.update(rbf_model(X, torch.tensor([y]).double(), lengthscale=0.4))
    gamma = epsilon / 4 / (y / (1 + NOISE))
    half = 0.4 * math.sqrt(-2 * math.log(gamma))
    assert record.details["active_term"] == "mean"
    assert record.details["gamma"] == pytest.approx(gamma)
    expected = [pytest.approx([0.5 - half] * 2), pytest.approx([0.5 + half] * 2)]
    assert box.bounds.tolist() == expected


def test_the_box_is_made_for_the_beta_with_which_it_is_searched():
    """A larger box has a larger beta, and with it a larger radius where the variance decides."""
    X, Y = random_data(5)
    model = rbf_model(X, 1e-6 * Y, lengthscale=0.3)
    box = corrected(unit_box(), beta=TheoremBeta(), epsilon=(0.1, "raw"))
    before = box.context(model)
    record = box.update(model)
    after = box.context(model)
    assert record.details["active_term"] == "variance"
    assert record.details["beta"] > before.confidence.beta
    assert record.details["beta"] == pytest.approx(after.confidence.beta, rel=0.05)
    radius = theorem_radius(after.view.summary, after.epsilon, record.details["beta"])
    assert record.details["half_widths"] == pytest.approx(radius.half_widths.tolist())
    assert (radius.half_widths > before.confidence.radius.half_widths).all()


@pytest.mark.parametrize("refinement", [True, False])
def test_a_model_without_a_radius_is_refused_also_where_the_box_does_not_move(refinement):
    X, Y = random_data(5)
    model = SingleTaskGP(X, Y.unsqueeze(-1), covar_module=PeriodicKernel().double()).eval()
    box = corrected(unit_box(), trigger=Never(), strategy=TheoremBox(refinement))
    before = box.state_dict()
    with pytest.raises(UnsupportedError, match="PeriodicKernel"):
        box.update(model)
    assert box.state_dict() == before
