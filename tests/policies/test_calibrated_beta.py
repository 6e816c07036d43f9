"""The measured schedule: its formula, its units, and how it is asked for."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.exceptions.errors import InputDataError
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from gpytorch.kernels import LinearKernel, MaternKernel, RBFKernel, ScaleKernel

from botorch_ubo import CalibratedBeta, ExpandingBounds, TheoremBeta, get_method
from botorch_ubo.policies.excursion import excursion_level
from botorch_ubo.policies.view import ModelView
from tests.support.by_hand import unit_box
from tests.support.controlled import UNIT, data, gp
from tests.support.gps import tensor


def view(d: int, kernel: object, unit: float = 1.0, dtype: torch.dtype = torch.double) -> ModelView:
    torch.manual_seed(0)
    X, Y = torch.rand(6, d, dtype=torch.double), torch.randn(6, 1, dtype=torch.double)
    model = SingleTaskGP(X.to(dtype), (unit * Y).to(dtype), covar_module=kernel).to(dtype)
    return ModelView(model.eval(), unit_box(d))


def rbf(lengthscale: list[float], variance: float = 1.0) -> ScaleKernel:
    kernel = ScaleKernel(RBFKernel(ard_num_dims=len(lengthscale))).double()
    kernel.base_kernel.lengthscale = tensor(lengthscale)
    kernel.outputscale = variance
    return kernel


def test_the_level_of_the_box_in_lengthscales() -> None:
    beta = CalibratedBeta(delta=0.1, scale=0.5)(7, tensor([1.0, 3.0]), view(2, rbf([0.2, 0.5])))
    assert beta == pytest.approx(0.5 * excursion_level([5.0, 6.0], 0.1) ** 2)


def test_steps_variance_and_units_do_not_matter() -> None:
    sides, schedule = tensor([1.0, 1.0]), CalibratedBeta()
    beta = schedule(1, sides, view(2, rbf([0.2, 0.2])))
    assert schedule(50, sides, view(2, rbf([0.2, 0.2]))) == beta
    assert schedule(1, sides, view(2, rbf([0.2, 0.2], variance=9.0))) == pytest.approx(beta)
    assert schedule(1, sides, view(2, rbf([0.2, 0.2]), unit=1e4)) == pytest.approx(beta)
    assert schedule(1, 10 * sides, view(2, rbf([2.0, 2.0]))) == pytest.approx(beta)
    single = schedule(1, sides, view(2, rbf([0.2, 0.2]), dtype=torch.float))
    assert isinstance(single, float) and single == pytest.approx(beta, rel=1e-5)


def test_a_rougher_kernel_has_a_higher_level() -> None:
    """Matern 5/2: derivatives have the deviation sqrt(5/3) / l of the process's own."""
    kernel = ScaleKernel(MaternKernel(nu=2.5)).double()
    kernel.base_kernel.lengthscale, kernel.outputscale = 0.25, 4.0
    found = view(1, kernel)
    assert found.relative_slopes.item() == pytest.approx(math.sqrt(5 / 3) / 0.25)
    extent = math.sqrt(5 / 3) / 0.25
    assert CalibratedBeta(scale=1.0)(1, tensor([1.0]), found) == pytest.approx(
        excursion_level([extent], 0.1) ** 2
    )


def test_an_ensemble_has_the_steepest_of_its_members_each_in_its_own_unit() -> None:
    X, Y = torch.rand(5, 2, dtype=torch.double), torch.randn(5, 1, dtype=torch.double)
    model = EnsembleMapSaasSingleTaskGP(X, Y, num_taus=2).eval()
    model.covar_module.base_kernel.lengthscale = tensor([[[1.0, 2.0]], [[4.0, 0.5]]])
    model.covar_module.outputscale = tensor([3.0, 12.0])
    found = ModelView(model, unit_box(2)).relative_slopes  # Matern 5/2
    torch.testing.assert_close(found, math.sqrt(5 / 3) * tensor([1.0, 2.0]))


def test_a_weighted_sum_has_its_own_slope_and_variance() -> None:
    torch.manual_seed(0)
    X, Y = torch.rand(5, 1, dtype=torch.double), torch.randn(5, 2, dtype=torch.double)
    model = SingleTaskGP(X, Y, outcome_transform=None).eval()
    model.covar_module.lengthscale = tensor([[[1.0]], [[0.5]]])
    transform = ScalarizedPosteriorTransform(tensor([3.0, 2.0]))
    found = ModelView(model, unit_box(1), posterior_transform=transform)
    # (3 / 1)^2 + (2 / 0.5)^2 of the slope, 3^2 + 2^2 of the value.
    assert found.relative_slopes.item() == pytest.approx(5 / math.sqrt(13))


def test_a_kernel_without_variance_at_the_origin_has_a_level_all_the_same() -> None:
    """Where slopes and variance do not tell, a side of the first box is a length-scale."""
    found = view(2, ScaleKernel(LinearKernel()).double())
    assert (found.relative_slopes.isfinite() & (found.relative_slopes > 0)).all()
    assert CalibratedBeta(scale=1.0)(1, tensor([1.0, 1.0]), found) > 1.5


@pytest.mark.parametrize(
    "arguments", [{"delta": 0.0}, {"delta": 0.5}, {"delta": math.nan}, {"scale": 0.0},
                  {"scale": math.inf}, {"scale": math.nan}],
)  # fmt: skip
def test_what_is_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(InputDataError, match=r"Expected 0 < delta < 0\.5 and a positive finite"):
        CalibratedBeta(**arguments)


class TestByName:
    def test_names_of_the_packages_schedules(self) -> None:
        ubo = get_method("GPUCB-UBO")
        assert replace(ubo, beta="theorem").schedule == TheoremBeta(scale=1.0)
        assert replace(ubo, beta="scaled").schedule == ubo.schedule == TheoremBeta()
        assert replace(ubo, beta="calibrated").schedule == CalibratedBeta()

    def test_a_box_with_the_measured_level(self) -> None:
        method = replace(get_method("GPUCB-UBO"), beta="calibrated")
        box = ExpandingBounds(UNIT, method=method)
        model = gp(*data())
        beta = box.context(model).confidence.beta
        sides = box.context(model).box[1] - box.context(model).box[0]
        assert beta == CalibratedBeta()(1, sides, box.context(model).view)
        assert torch.isfinite(box.suggest(model)).all()

    def test_no_probability_goes_with_it(self) -> None:
        assert CalibratedBeta().confidence is None

    def test_another_name_is_refused_with_those_that_are_known(self) -> None:
        with pytest.raises(InputDataError, match=r"'theorem', 'scaled', 'calibrated'; got 'best'"):
            replace(get_method("GPUCB-UBO"), beta="best")


def test_slopes_of_a_kernel_without_variance_at_the_origin_are_the_kernels() -> None:
    """Only what is relative to that variance needs another length."""
    kernel = ScaleKernel(LinearKernel()).double()
    found = view(2, kernel)
    assert torch.equal(found.slopes, torch.zeros_like(found.slopes))
