"""What counts as an improvement, and since when none came."""

import pytest
import torch

from botorch_ubo import ExpandingBounds
from botorch_ubo.policies.factories import best_mean_with_margin
from botorch_ubo.policies.progress import evaluations_without_improvement, notable_improvement
from tests.support.by_hand import random_data, rbf_model, unit_box
from tests.support.controlled import UNIT, data, gp


@pytest.mark.parametrize("maximize", [True, False])
def test_idle_evaluations_and_what_is_sought(maximize: bool) -> None:
    """Values rise by 1 up to the fifth evaluation, and by less than is notable from then on."""
    X = 10 * torch.arange(12, dtype=torch.double).unsqueeze(-1)  # out of reach of each other
    Y = torch.tensor([0, 1, 2, 3, 4, *[4 + 0.01 * i for i in range(1, 8)]], dtype=torch.double)
    sign = 1.0 if maximize else -1.0
    box = ExpandingBounds(unit_box(1), maximize=maximize, epsilon=(0.2, "raw"), max_growth=1e3)
    idle, sought = [], []
    for n in range(4, 13):
        model = rbf_model(X[:n], sign * Y[:n])
        box.update(model)
        context = box.context(model)
        assert context.incumbent == n - 1
        assert notable_improvement(context) == pytest.approx(0.2 + 0.01)  # the noise is 1e-4
        idle.append(evaluations_without_improvement(context))
        margin = sign * float(best_mean_with_margin(context)) - float(context.values.max())
        sought.append(round(margin, 6))
    assert idle == [0, 0, 1, 2, 3, 4, 5, 6, 7]
    # In one dimension, every other evaluation from the first that brought nothing.
    assert sought == [0, 0, 0.21, 0, 0.21, 0, 0.21, 0, 0.21]


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_what_is_notable_has_the_unit_of_the_outcomes(unit: float) -> None:
    """Epsilon, here 5 % of the standard deviation, and the noise, here 20 % of it."""
    X, Y = data(8)
    model = gp(X, unit * Y)
    model.likelihood.noise = 0.04
    context = ExpandingBounds(UNIT).context(model)
    notable = context.view.to_raw_difference(notable_improvement(context))
    assert notable == pytest.approx(0.25 * unit * float(Y.std()))


def test_noise_hides_improvements_in_any_unit() -> None:
    """A rise of less than the noise is none, whatever the unit of the outcomes."""
    X = 10 * torch.arange(9, dtype=torch.double).unsqueeze(-1).expand(9, 2)  # out of reach
    Y = torch.tensor([0.0, 1.0, 0.5, 0.2, 0.8, 0.1, 1.06, 1.06, 1.06]).double().unsqueeze(-1)
    found = []
    for unit in (1.0, 1e4):
        box = ExpandingBounds(UNIT, epsilon=1e-6)
        for n in (6, 9):
            model = gp(X[:n], unit * Y[:n])
            model.likelihood.noise = 0.04
            box.update(model)
        found.append(evaluations_without_improvement(box.context(model)))
    assert found == [3, 3]


def test_evaluations_before_the_run_do_not_count() -> None:
    X, _ = random_data(9)
    Y = torch.zeros(9).double()
    Y[0] = 5.0
    box = ExpandingBounds(unit_box(), epsilon=(0.1, "raw"))
    for n, expected in ((6, 0), (7, 1), (9, 3)):
        model = rbf_model(X[:n], Y[:n], lengthscale=0.01)
        box.update(model)
        assert evaluations_without_improvement(box.context(model)) == expected
