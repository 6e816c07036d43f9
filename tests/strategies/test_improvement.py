import math

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement

from botorch_ubo.boxes import contains
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import NOISE, random_data, rbf_model, unit_box
from tests.support.controlled import build


@pytest.mark.slow
class TestConformance(StrategyConformance):
    method = "EI-UBO"


def test_radius_by_hand():
    # One datum y: z = y / (1 + s^2), lambda_max = 1 / (1 + s^2).
    epsilon, y, b = 0.05, 2.0, 1 / math.sqrt(2 * math.pi)
    X = torch.full((1, 2), 0.5).double()
    box = build("EI-UBO", unit_box(), epsilon=(epsilon, "raw"))
    record = box.update(rbf_model(X, torch.tensor([y]).double(), lengthscale=0.4))
    gamma_mean = epsilon / 4 / (y / (1 + NOISE))
    gamma_variance = math.sqrt((b * epsilon / 2 - epsilon**2 / 16) * (1 + NOISE)) / b
    assert gamma_mean < gamma_variance
    half = 0.4 * math.sqrt(-2 * math.log(gamma_mean))
    expected = [pytest.approx([0.5 - half] * 2), pytest.approx([0.5 + half] * 2)]
    assert box.bounds.tolist() == expected
    assert record.details["active_term"] == "mean"
    flat = build("EI-UBO", unit_box(), epsilon=(epsilon, "raw"))
    record = flat.update(rbf_model(X, torch.tensor([1e-6]).double(), lengthscale=0.4))
    assert record.details["active_term"] == "variance"
    assert record.details["gamma"] == pytest.approx(gamma_variance)


@pytest.mark.parametrize("seed", range(5))
def test_expected_improvement_is_at_its_limit_outside_the_box(seed):
    X, Y = random_data(8, seed=seed)
    model = rbf_model(X, Y, lengthscale=0.3)
    box = build("EI-UBO", unit_box(), epsilon=0.05)
    box.update(model)
    epsilon = 0.05 * float(Y.std())
    acqf = LogExpectedImprovement(model, best_f=Y.max())
    points = -6 + 13 * torch.rand(20000, 2, dtype=torch.double)
    points = points[~contains(box.bounds, points)]
    with torch.no_grad():
        value = acqf(points.unsqueeze(-2)).exp()
        limit = acqf(torch.full((1, 1, 2), 1e6).double()).exp()
    assert (value - limit).abs().max() <= epsilon / 2
