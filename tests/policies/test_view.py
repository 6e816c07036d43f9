"""A model as a policy sees it, against values by hand."""

import math
from typing import Any

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.models.transforms.input import ChainedInputTransform, Log10, Warp
from botorch.models.transforms.outcome import Log
from gpytorch.kernels import (
    Kernel,
    LinearKernel,
    MaternKernel,
    PeriodicKernel,
    RBFKernel,
    ScaleKernel,
)
from torch import Tensor

from botorch_ubo import fit_default_model
from botorch_ubo.models.quick import QuickGP
from botorch_ubo.policies.view import ModelView
from tests.support.by_hand import random_data, rbf_model, unit_box
from tests.support.gps import tensor

UNIT = unit_box()
BOUNDS = tensor([[10.0, -1.0], [30.0, 1.0]])  # sides 20 and 2


def noisy() -> SingleTaskGP:
    """One lucky value among bad ones in one place, two good ones in another."""
    X = tensor([[0.1, 0.1], [0.101, 0.1], [0.1, 0.101], [0.9, 0.9], [0.901, 0.9]])
    Y = tensor([[3.0], [-3.0], [-3.0], [1.0], [1.0]])
    kernel = RBFKernel().double()
    kernel.lengthscale = 0.2
    model = SingleTaskGP(X, Y, torch.full_like(Y, 4.0), covar_module=kernel, outcome_transform=None)
    model.mean_module.constant = 0.0
    return model.eval()


def negated(model: SingleTaskGP) -> SingleTaskGP:
    model.set_train_data(targets=-model.train_targets, strict=False)
    return model


def raw(view: ModelView, values: Tensor) -> Tensor:
    return tensor([view.to_raw_value(value) for value in values.tolist()])


class TestValues:
    @pytest.mark.parametrize("maximize", [True, False])
    def test_large_is_good_in_either_sign(self, maximize: bool) -> None:
        X, Y = random_data(7)
        model = rbf_model(X, Y)
        view = ModelView(model, UNIT, maximize)
        sign = 1 if maximize else -1
        with torch.no_grad():
            mean = model.posterior(X).mean.squeeze(-1)
        torch.testing.assert_close(view.values, sign * mean)
        torch.testing.assert_close(view.observed, sign * Y)
        best = Y.argmax() if maximize else Y.argmin()
        assert view.best_observed == int(best)
        assert view.spread == pytest.approx(float(Y.std()))
        assert view.range == pytest.approx(float(Y.max() - Y.min()))
        torch.testing.assert_close(view.summary.Y, view.observed)

    @pytest.mark.parametrize("maximize", [True, False])
    def test_the_incumbent_is_the_best_mean_not_the_luckiest_value(self, maximize: bool) -> None:
        model = noisy() if maximize else negated(noisy())
        view = ModelView(model, UNIT, maximize)
        assert view.best_observed == 0
        assert view.incumbent in (3, 4)
        assert view.observed.tolist() == [3, -3, -3, 1, 1]

    @pytest.mark.parametrize("maximize", [True, False])
    def test_in_the_models_units_and_back(self, maximize: bool) -> None:
        X, Y = random_data(7)
        Y = 500 + 20 * Y.unsqueeze(-1)
        view = ModelView(fit_default_model(X, Y, UNIT), UNIT, maximize)
        assert abs(float(view.observed.mean())) < 1e-9 and view.spread == pytest.approx(1.0)
        torch.testing.assert_close(raw(view, view.observed), Y.squeeze(-1))
        assert (
            500 < float(raw(view, view.values).min()) <= float(raw(view, view.values).max()) < 520
        )
        assert view.to_raw_difference(view.spread) == pytest.approx(float(Y.std()))

    def test_the_users_model_stays_as_it_is(self) -> None:
        X, Y = random_data(7)
        model = fit_default_model(X, 500 + 20 * Y.unsqueeze(-1), UNIT)
        view = ModelView(model, UNIT)
        assert view.given is model and hasattr(model, "outcome_transform")
        assert not hasattr(view.model, "outcome_transform")
        assert model.posterior(X[:1]).mean.item() > 490

    def test_outcomes_that_are_not_standardised_are_raw(self) -> None:
        X, Y = random_data(7)
        view = ModelView(rbf_model(X, Y), UNIT)
        assert view.model is view.given and view.to_raw_value(2.5) == 2.5

    def test_members_of_an_ensemble_are_averaged(self) -> None:
        X, Y = random_data(7)
        model = EnsembleMapSaasSingleTaskGP(X, Y.unsqueeze(-1), num_taus=3).eval()
        view = ModelView(model, UNIT)
        with torch.no_grad():
            expected = model.posterior(X).mean.mean(dim=0).squeeze(-1)
        torch.testing.assert_close(raw(view, view.values), expected)
        assert view.incumbent == int(expected.argmax())
        torch.testing.assert_close(raw(view, view.observed), Y)

    @pytest.mark.parametrize("maximize", [True, False])
    def test_outputs_are_combined(self, maximize: bool) -> None:
        X, Y = random_data(7)
        both = torch.stack([Y, 3 * X[:, 0]], dim=-1)
        model = SingleTaskGP(X, both).eval()
        transform = ScalarizedPosteriorTransform(tensor([2.0, -1.0]), 5.0)
        view = ModelView(model, UNIT, maximize, transform)
        with torch.no_grad():
            mean = model.posterior(X).mean
        torch.testing.assert_close(raw(view, view.values), 5 + 2 * mean[:, 0] - mean[:, 1])
        torch.testing.assert_close(raw(view, view.observed), 5 + 2 * both[:, 0] - both[:, 1])

    def test_outcomes_that_do_not_vary(self) -> None:
        X, _ = random_data(4)
        view = ModelView(rbf_model(X, torch.full((4,), 3.0).double()), UNIT)
        assert view.spread == view.range == 1.0

    def test_logarithms_of_outcomes_are_undone(self) -> None:
        X, Y = random_data(6)
        Y = (3 * Y).exp()
        view = ModelView(SingleTaskGP(X, Y.unsqueeze(-1), outcome_transform=Log()).eval(), UNIT)
        torch.testing.assert_close(view.observed, Y)

    def test_inputs_are_in_the_models_space(self) -> None:
        X = tensor([[12.0, 0.0], [20.0, 0.5], [25.0, -0.5]])
        view = ModelView(rbf_model(X, tensor([0.0, 1.0, 2.0]), bounds=BOUNDS), BOUNDS)
        assert view.X.tolist() == [
            pytest.approx([0.1, 0.5]),
            pytest.approx([0.5, 0.75]),
            pytest.approx([0.75, 0.25]),
        ]
        torch.testing.assert_close(view.X_raw, X)

    def test_a_model_that_was_not_fitted_is_refused(self) -> None:
        X, Y = random_data(4)
        with pytest.raises(UnsupportedError, match="training mode"):
            ModelView(SingleTaskGP(X, Y.unsqueeze(-1)), UNIT)


class TestNoise:
    @pytest.mark.parametrize("unit", [1.0, 1000.0])
    def test_standardised_outcomes_by_hand(self, unit: float) -> None:
        X, Y = random_data(6)
        model = SingleTaskGP(X, unit * Y.unsqueeze(-1), outcome_transform=Standardize(1))
        model.likelihood.noise = 0.04
        view = ModelView(model.eval(), UNIT)
        assert view.to_raw_difference(view.noise_std) == pytest.approx(unit * 0.2 * float(Y.std()))

    def test_outcomes_as_they_are(self) -> None:
        assert ModelView(rbf_model(*random_data(6)), UNIT).noise_std == pytest.approx(0.01)

    @pytest.mark.parametrize("unit", [1.0, 1000.0])
    def test_known_variances_are_averaged(self, unit: float) -> None:
        X, Y = random_data(4)
        variance = unit**2 * tensor([[0.01], [0.02], [0.03], [0.1]])
        model = SingleTaskGP(X, unit * Y.unsqueeze(-1), variance).eval()
        view = ModelView(model, UNIT)
        assert view.to_raw_difference(view.noise_std) == pytest.approx(unit * 0.2)

    @pytest.mark.parametrize("weights", [[3.0, 4.0], [3.0, -4.0]])
    def test_of_a_weighted_sum(self, weights: list[float]) -> None:
        X, Y = random_data(6)
        model = SingleTaskGP(X, torch.stack([Y, 1 - Y], dim=-1), outcome_transform=None)
        model.likelihood.noise = tensor([[0.01], [0.01]])
        transform = ScalarizedPosteriorTransform(tensor(weights))
        assert ModelView(model.eval(), UNIT, True, transform).noise_std == pytest.approx(0.5)

    def test_of_an_unusual_outcome_transform_as_the_posterior_has_it(self) -> None:
        X, Y = random_data(6)
        model = SingleTaskGP(X, Y.exp().unsqueeze(-1), outcome_transform=Log())
        model.likelihood.noise = 0.04
        noise = ModelView(model.eval(), UNIT).noise_std
        # A log-normal: about 0.2 of the values, which are between 1 and e.
        assert 0.15 < noise < 0.8


def smooth(kernel: Kernel, transform: Any = None) -> SingleTaskGP:
    X = BOUNDS[0] + random_data(5)[0] * (BOUNDS[1] - BOUNDS[0])
    transform = Normalize(2, bounds=BOUNDS) if transform is None else transform
    Y = X.sum(dim=-1, keepdim=True)
    model = SingleTaskGP(X, Y, covar_module=kernel.double(), input_transform=transform)
    return model.double().eval()


def with_lengthscale(kernel: Kernel, value: Any) -> Kernel:
    kernel = kernel.double()
    kernel.lengthscale = value
    return kernel


class TestLengthscales:
    """In the model's space, where the first box has sides 1."""

    def lengthscales(self, kernel: Kernel, transform: Any = None) -> list[float]:
        return ModelView(smooth(kernel, transform), BOUNDS).lengthscales.tolist()

    def test_rbf(self) -> None:
        kernel = with_lengthscale(RBFKernel(ard_num_dims=2), tensor([[0.5, 2.0]]))
        assert self.lengthscales(kernel) == pytest.approx([0.5, 2.0])

    def test_matern(self) -> None:
        """Where the correlation is ``exp(-1/2)``."""
        rough = with_lengthscale(MaternKernel(nu=0.5), 0.7)
        assert self.lengthscales(rough) == pytest.approx([0.35, 0.35])  # exp(-r / 0.7)
        kernel = with_lengthscale(MaternKernel(nu=2.5), 0.7)
        (length, _) = self.lengthscales(kernel)
        u = math.sqrt(5) * length / 0.7
        assert (1 + u + u**2 / 3) * math.exp(-u) == pytest.approx(math.exp(-0.5))

    def test_a_side_of_the_first_box_where_the_kernel_does_not_decay(self) -> None:
        along = with_lengthscale(RBFKernel(active_dims=(0,)), 0.3)
        product = along * PeriodicKernel(active_dims=(1,))
        assert self.lengthscales(product) == pytest.approx([0.3, 1.0])
        assert self.lengthscales(PeriodicKernel()) == pytest.approx([1.0, 1.0])
        assert self.lengthscales(LinearKernel()) == pytest.approx([1.0, 1.0])
        additive = along + with_lengthscale(RBFKernel(active_dims=(1,)), 0.4)
        assert self.lengthscales(additive) == pytest.approx([1.0, 1.0])

    def test_a_side_is_one_of_the_models_space(self) -> None:
        """Three sides of the first box to the model's unit, as in the default model."""
        wide = BOUNDS.mean(dim=0) + 3 * (BOUNDS - BOUNDS.mean(dim=0))
        transform = Normalize(2, bounds=wide)
        assert self.lengthscales(PeriodicKernel(), transform) == pytest.approx([1 / 3, 1 / 3])

    def test_what_is_warped_after_normalising_is_measured_before_the_warp(self) -> None:
        """An even warp of [-7, 13] to the unit interval: lengths before it are 20 times as long."""
        warp = Warp(2, indices=[0, 1], bounds=tensor([[-7.0, -7.0], [13.0, 13.0]]))
        transform = ChainedInputTransform(unit=Normalize(2, bounds=BOUNDS), warp=warp)
        kernel = with_lengthscale(RBFKernel(ard_num_dims=2), tensor([[0.5, 0.02]]))
        assert self.lengthscales(kernel, transform) == pytest.approx([10.0, 0.4], rel=1e-4)
        assert self.lengthscales(PeriodicKernel(), transform) == pytest.approx([1.0, 1.0])

    def test_decades(self) -> None:
        bounds = tensor([[1.0], [1000.0]])
        X = tensor([[2.0], [50.0], [900.0]])
        kernel = with_lengthscale(RBFKernel(), 0.5)
        model = SingleTaskGP(X, X.log(), covar_module=kernel, input_transform=Log10([0])).eval()
        assert ModelView(model, bounds).lengthscales.tolist() == pytest.approx([0.5])
        model.covar_module = PeriodicKernel().double()
        assert ModelView(model, bounds).lengthscales.tolist() == pytest.approx([3.0])

    def test_the_finest_member_counts_for_steps_and_the_widest_for_reach(self) -> None:
        X, Y = random_data(5)
        model = EnsembleMapSaasSingleTaskGP(X, Y.unsqueeze(-1), num_taus=2).eval()
        model.covar_module.base_kernel.lengthscale = tensor([[[0.2, 1.0]], [[0.8, 0.5]]])
        view = ModelView(model, UNIT)
        fine, wide = view.lengthscales, view.neighborhood.reach
        assert float(fine[0] / fine[1]) == pytest.approx(0.2 / 0.5)
        assert float(wide[0] / wide[1]) == pytest.approx(0.8 / 1.0)
        assert (wide > 3 * fine).all()

    def test_the_reach_is_where_the_correlation_is_a_thousandth(self) -> None:
        kernel = with_lengthscale(RBFKernel(ard_num_dims=2), tensor([[0.5, 2.0]]))
        factor = math.sqrt(2 * math.log(1000))
        reach = ModelView(smooth(kernel), BOUNDS).neighborhood.reach
        assert reach.tolist() == pytest.approx([0.5 * factor, 2.0 * factor])
        unknown = ModelView(smooth(PeriodicKernel()), BOUNDS).neighborhood.reach
        assert unknown.tolist() == pytest.approx([factor, factor])

    @pytest.mark.parametrize("lengthscale", [[[0.5, 2.0]], [[0.7]]])
    def test_a_quick_model_has_the_half_widths_of_its_parent(
        self, lengthscale: list[list[float]]
    ) -> None:
        kernel = ScaleKernel(RBFKernel(ard_num_dims=len(lengthscale[0]))).double()
        kernel.base_kernel.lengthscale, kernel.outputscale = tensor(lengthscale), 3.0
        parent = smooth(kernel)
        X, transform = parent.train_inputs[0], parent.input_transform
        raw = transform.untransform(X)
        quick = QuickGP(raw, raw.sum(dim=-1, keepdim=True), None, None, kernel, None)
        quick.input_transform = transform
        views = [ModelView(model.double().eval(), BOUNDS) for model in (quick, parent)]
        found, expected = (torch.cat([v.lengthscales, v.neighborhood.reach]) for v in views)
        assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-6)

    def test_slopes_are_per_unit_before_the_warp(self) -> None:
        """The warp above makes lengths 20 times as short, hence slopes 20 times as steep."""
        warp = Warp(2, indices=[0, 1], bounds=tensor([[-7.0, -7.0], [13.0, 13.0]]))
        transform = ChainedInputTransform(unit=Normalize(2, bounds=BOUNDS), warp=warp)
        kernel = with_lengthscale(RBFKernel(ard_num_dims=2), tensor([[0.5, 0.02]]))
        model = smooth(kernel, transform)
        scale = float(ModelView(model, BOUNDS).observed.std())  # of the default Standardize
        expected = [scale / 10.0, scale / 0.4]
        assert ModelView(model, BOUNDS).slopes.tolist() == pytest.approx(expected, rel=1e-4)
