import math

import pytest
import torch
from botorch.models import SingleTaskGP
from gpytorch.kernels import RBFKernel
from gpytorch.means import ZeroMean

from botorch_ubo.methods import get_method
from botorch_ubo.strategies.roaming import RoamingBox
from botorch_ubo.testing import StrategyConformance
from tests.helpers import tensor
from tests.strategies.helpers import NOISE, rbf_model, unit_box

EPSILON = 0.05


class TestConformance(StrategyConformance):
    def make(self, bounds, **kwargs):
        return get_method("EI-Roaming").build(bounds, **kwargs)


def make(d=2, **kwargs):
    kwargs = {"epsilon": EPSILON, "epsilon_unit": "raw", "max_growth": math.inf, **kwargs}
    return get_method("EI-Roaming").build(unit_box(d), **kwargs)


def values(*numbers):
    return torch.tensor(numbers, dtype=torch.double)


def approximately(*rows):
    return [pytest.approx(row, abs=1e-6) for row in rows]


def test_first_step_reaches_one_side_from_the_incumbent():
    # 1 + 1/1 = 2 sides; the data lie within them.
    X = tensor([[0.2, 0.2], [0.9, 0.6]])
    box = make()
    record = box.update(rbf_model(X, values(0.0, 1.0), lengthscale=0.1))
    assert box.bounds.tolist() == approximately([-0.1, -0.4], [1.9, 1.6])
    assert record.details["center"] == pytest.approx([0.9, 0.6])
    assert record.details["hyperharmonic_half_widths"] == pytest.approx([1.0, 1.0])
    assert record.details["extent_of_data"] == pytest.approx([0.7, 0.4])


def test_an_incumbent_at_the_edge_of_the_data_goes_on_as_far_again():
    X = tensor([[0.0, 0.0], [3.0, 0.5]])
    box = make()
    box.update(rbf_model(X, values(0.0, 1.0), lengthscale=2.0))
    assert box.bounds.tolist() == approximately([0.0, -0.5], [6.0, 1.5])


def test_an_incumbent_in_the_middle_keeps_the_data_in_the_box():
    X = tensor([[-2.0, 0.5], [0.5, 0.5], [3.0, 0.5]])
    box = make()
    box.update(rbf_model(X, values(0.0, 1.0, 0.0), lengthscale=0.9))
    assert box.bounds.tolist() == approximately([-2.0, -0.5], [3.0, 1.5])


def test_no_further_than_the_theorems_radius():
    # Two data far apart: z = y / (1 + s^2), and the term of the mean is the smaller one.
    X = tensor([[0.0, 0.5], [10.0, 0.5]])
    box = make()
    record = box.update(rbf_model(X, values(0.0, 1.0), lengthscale=1.0))
    radius = math.sqrt(-2 * math.log(EPSILON / 4 * (1 + NOISE)))
    assert 1 < radius < 10 and record.details["active_term"] == "mean"
    assert box.bounds.tolist() == approximately([10 - radius, -0.5], [10 + radius, 1.5])


@pytest.mark.parametrize(
    "third, doublings",
    [(2.0, 0.0), (1.03, 0.5), (0.0, 0.5)],  # a notable improvement, one that is not, none
)
def test_second_step(third, doublings):
    """1 + 1/1 + 1/2 sides; twice as many per d evaluations as long as nothing was found."""
    X = tensor([[0.2, 0.2], [0.9, 0.6], [0.3, 0.9]])
    Y = values(0.0, 1.0, third)
    box = make()
    for n in (2, 3):
        box.update(rbf_model(X[:n], Y[:n], lengthscale=0.05))
    center = X[Y.argmax()]
    half = 2.5 / 2 * 2**doublings
    assert box.bounds.tolist() == approximately((center - half).tolist(), (center + half).tolist())


def test_once_something_was_found_the_box_grows_slowly_again():
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(8, 1, generator=generator, dtype=torch.double)
    Y = torch.zeros(8, dtype=torch.double)
    Y[2] = 1.0  # the first evaluation of the run
    box = make(1)
    for n in range(2, 9):
        box.update(rbf_model(X[:n], Y[:n], lengthscale=0.01))
    factor = 1 + sum(1 / j for j in range(1, 8))
    half = factor / 2
    assert box.bounds.flatten().tolist() == pytest.approx([float(X[2]) - half, float(X[2]) + half])


def test_a_distance_takes_its_logarithm():
    """Each evaluation as far out as the box goes: a thousand sides in about ten of them."""
    X, Y = tensor([[0.0], [1.0]]), values(0.0, 0.1)
    box, evaluations = make(1, epsilon=1e-3), 0
    while float(X.max()) < 1000 and evaluations < 40:
        box.update(rbf_model(X, Y, lengthscale=500.0))
        X = torch.cat([X, box.bounds[1:]])
        Y = torch.cat([Y, Y[-1:] + 0.1])
        evaluations += 1
    assert evaluations <= 12


@pytest.mark.parametrize("maximize", [True, False])
def test_center_is_the_best_posterior_mean_not_the_luckiest_observation(maximize):
    X = tensor([[0.1, 0.1], [0.9, 0.9]])
    kernel = RBFKernel().double()
    kernel.lengthscale = 0.1
    sign = 1.0 if maximize else -1.0
    model = SingleTaskGP(
        X,
        sign * tensor([[2.0], [1.0]]),
        tensor([[5.0], [1e-3]]),
        covar_module=kernel,
        mean_module=ZeroMean(),
        outcome_transform=None,
    ).eval()
    box = make(maximize=maximize)
    assert box.update(model).details["center"] == pytest.approx([0.9, 0.9])


def test_lengths_are_those_of_the_first_box():
    """In a model that is normalised by it, too: the same box in other units."""
    first = tensor([[0.0, 0.0], [1.0, 100.0]])
    X = tensor([[0.2, 20.0], [0.9, 60.0]])
    box = get_method("EI-Roaming").build(first, epsilon=EPSILON, epsilon_unit="raw")
    box.update(rbf_model(X, values(0.0, 1.0), lengthscale=0.1, bounds=first))
    assert box.bounds.tolist() == approximately([-0.1, -40.0], [1.9, 160.0])


def test_it_has_no_parameters():
    assert RoamingBox() == RoamingBox() and not RoamingBox.nested
