"""``LogDensity`` is gpytorch's, its gradient is right, and the fit finds its maximum."""

import warnings
from unittest import mock

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import ModelFittingError
from botorch.exceptions.warnings import BotorchWarning
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from gpytorch.constraints import GreaterThan
from gpytorch.mlls import ExactMarginalLogLikelihood
from scipy.optimize import check_grad
from torch import Tensor

from botorch_ubo import models
from botorch_ubo.models import default_model, fit_default_model
from botorch_ubo.quick_fit import EXACT_NOISE, MIN_NOISE, LogDensity, Vector, fit_quick_gp
from botorch_ubo.quick_gp import QuickGP


def unit_box(d: int) -> Tensor:
    return torch.stack([torch.zeros(d), torch.ones(d)]).double()


def smooth(X: Tensor) -> Tensor:
    return 7 + 3 * torch.sin(4 * X + torch.arange(X.shape[-1])).sum(dim=-1, keepdim=True)


def data(n: int = 15, d: int = 2, seed: int = 0, noise: float = 0.0) -> tuple[Tensor, Tensor]:
    """Smooth outcomes; the noise in standard deviations of them."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, d, generator=generator, dtype=torch.double)
    Y = smooth(X)
    error = torch.randn(n, 1, generator=generator, dtype=torch.double)
    return X, Y + noise * Y.std() * error if noise else Y


def make(n: int = 15, d: int = 2, seed: int = 0, noise: float = 0.0, Yvar: float = 0.0) -> QuickGP:
    """The default model; ``Yvar`` in variances of the outcomes, 0 if it is to be inferred."""
    X, Y = data(n, d, seed, noise)
    variances = Yvar * smooth(X).var() * torch.linspace(0.5, 1.5, n).double().unsqueeze(-1)
    return default_model(X, Y, unit_box(d), variances if Yvar else None).train()


def without_scale(n: int = 15, d: int = 2) -> QuickGP:
    """BoTorch's default model."""
    X, Y = data(n, d)
    return QuickGP(X, Y, input_transform=Normalize(d, bounds=unit_box(d))).train()


def density_of(model: QuickGP) -> LogDensity:
    fixed = not hasattr(model.likelihood.noise_covar, "noise_prior")
    return LogDensity(model, model.likelihood.noise.detach().numpy() if fixed else None)


def set_parameters(model: QuickGP, density: LogDensity, p: Vector) -> None:
    d = density.X.shape[-1]
    values = torch.from_numpy(p).exp()
    kernel = model.covar_module
    (kernel.base_kernel if density.scaled else kernel).lengthscale = values[:d]
    if density.scaled:
        kernel.outputscale = values[d]
    if density.noise is None:
        model.likelihood.noise = values[-1]
    with torch.no_grad():
        model.mean_module.constant.fill_(density.mean(p))


def gpytorchs(model: QuickGP) -> float:
    """The negative logarithm of the density by gpytorch, at the model's parameters."""
    model.train()
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    with torch.no_grad():
        value = mll(model(*model.train_inputs), model.train_targets)
    return -len(model.train_targets) * float(value)


def vectors(density: LogDensity, count: int = 6) -> list[Vector]:
    generator = np.random.default_rng(0)
    return [
        np.maximum(density.modes + generator.normal(size=density.modes.shape), np.log(0.03))
        for _ in range(count)
    ]


CASES = {
    "inferred": lambda: make(),
    "one_dimension": lambda: make(d=1),
    "six_dimensions": lambda: make(d=6, n=30),
    "noisy": lambda: make(noise=0.3),
    "fixed": lambda: make(noise=0.1, Yvar=0.1),
    "two_data": lambda: make(n=2),
    "without_scale": without_scale,
}


@pytest.mark.parametrize("case", sorted(CASES))
class TestLogDensity:
    def test_equal_to_gpytorchs(self, case: str) -> None:
        """Up to a constant."""
        model = CASES[case]()
        density = density_of(model)
        found, expected = [], []
        for p in vectors(density):
            set_parameters(model, density, p)
            found.append(density(p)[0])
            expected.append(gpytorchs(model))
        differences = np.array(found) - np.array(expected)
        assert np.ptp(found) > 1
        np.testing.assert_allclose(
            differences, differences[0], rtol=0, atol=1e-5
        )  # priors are single

    def test_mean_is_the_maximiser(self, case: str) -> None:
        model = CASES[case]()
        density = density_of(model)
        for p in vectors(density, 2):
            set_parameters(model, density, p)
            best, constant = gpytorchs(model), float(density.mean(p))
            for shift in (-0.1, 0.1):
                model.mean_module.constant = constant + shift
                assert gpytorchs(model) > best

    def test_gradient(self, case: str) -> None:
        density = density_of(CASES[case]())
        for p in vectors(density):
            error = check_grad(lambda p: density(p)[0], lambda p: density(p)[1], p)
            assert error < 1e-4 * (1 + np.linalg.norm(density(p)[1]))

    def test_modes_are_those_of_the_priors(self, case: str) -> None:
        """The derivative of the priors alone is zero there."""
        density = density_of(CASES[case]())
        np.testing.assert_allclose(1 + (density.modes - density.loc) / density.scale**2, 0)


def test_argument_is_left_alone() -> None:
    density = density_of(make())
    p = density.modes
    before = p.copy()
    density(p)
    np.testing.assert_array_equal(p, before)


def test_a_matrix_that_is_not_positive_definite_is_very_unlikely() -> None:
    X, Y = data()
    model = default_model(X.repeat(2, 1), Y.repeat(2, 1), unit_box(2))
    value, gradient = LogDensity(model, -1e-3)(np.zeros(3))
    assert value == 1e10
    assert not gradient.any()


def fit_slowly(model: QuickGP) -> QuickGP:
    """Start where BoTorch does, with its bound on the noise."""
    if hasattr(model.likelihood.noise_covar, "noise_prior"):
        bound = GreaterThan(MIN_NOISE, transform=None)
        model.likelihood.noise_covar.register_constraint("raw_noise", bound)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


@pytest.mark.parametrize("fixed", [False, True], ids=["inferred", "fixed"])
@pytest.mark.parametrize("seed", range(12))
def test_never_worse_than_botorchs_fit(seed: int, fixed: bool) -> None:
    n, d, noise = 6 + 3 * seed, 1 + seed % 4, (0.0, 0.1, 0.4)[seed % 3]
    Yvar = max(noise, 0.01) ** 2 if fixed else 0.0
    quick = fit_quick_gp(make(n, d, seed, noise, Yvar), try_exact=False)
    slow = fit_slowly(make(n, d, seed, noise, Yvar))
    assert gpytorchs(quick) <= gpytorchs(slow) + 0.05


def test_botorchs_own_default_model() -> None:
    quick, slow = fit_quick_gp(without_scale(), try_exact=False), fit_slowly(without_scale())
    assert gpytorchs(quick) <= gpytorchs(slow) + 0.05


class TestExactObservations:
    @pytest.mark.parametrize("seed", range(4))
    def test_win_without_noise(self, seed: int) -> None:
        model = fit_quick_gp(make(25, 2, seed))
        assert float(model.likelihood.noise.detach()) == pytest.approx(1.01 * EXACT_NOISE)

    @pytest.mark.parametrize("seed", range(4))
    def test_lose_with_ten_percent_of_it(self, seed: int) -> None:
        model = fit_quick_gp(make(25, 2, seed, noise=0.1))
        assert 2e-3 < float(model.likelihood.noise.detach()) < 5e-2

    def test_only_if_asked_for(self) -> None:
        model = fit_quick_gp(make(25, 2), try_exact=False)
        assert float(model.likelihood.noise.detach()) >= MIN_NOISE * (1 - 1e-6)

    def test_posterior_passes_through_them(self) -> None:
        model = fit_quick_gp(make(25, 2))
        X, Y = data(25, 2)
        error = (model.posterior(X.unsqueeze(-2)).mean.reshape(-1, 1) - Y).abs().max()
        assert float(error) < 1e-2 * float(Y.std())


class TestFit:
    def test_is_in_place_and_leaves_the_model_in_evaluation_mode(self) -> None:
        model = make()
        assert fit_quick_gp(model) is model
        assert not model.training and not model.likelihood.training

    def test_repeats(self) -> None:
        one, two = (fit_quick_gp(make()).state_dict() for _ in range(2))
        assert all(torch.equal(one[key], two[key]) for key in one)

    def test_forgets_what_the_model_was(self) -> None:
        """A refit starts anew, not where the last one ended."""
        model = fit_quick_gp(make())
        first = {key: value.clone() for key, value in model.state_dict().items()}
        model.train()
        model.covar_module.outputscale = 50.0
        again = fit_quick_gp(model).state_dict()
        assert all(torch.equal(first[key], again[key]) for key in first)

    def test_random_state_of_torch_is_left_alone(self) -> None:
        before = torch.get_rng_state()
        fit_quick_gp(make())
        assert torch.equal(torch.get_rng_state(), before)

    def test_fixed_noise_stays(self) -> None:
        model = make(noise=0.1, Yvar=0.1)
        before = model.likelihood.noise.clone()
        assert torch.equal(fit_quick_gp(model).likelihood.noise, before)

    def test_length_scales_keep_botorchs_bound(self) -> None:
        generator = torch.Generator().manual_seed(0)
        X = torch.rand(40, 1, generator=generator, dtype=torch.double)
        Y = torch.randn(40, 1, generator=generator, dtype=torch.double)
        model = fit_quick_gp(default_model(X, Y, unit_box(1), torch.full_like(Y, 1e-4)))
        assert float(model.covar_module.base_kernel.lengthscale) >= 0.025 * (1 - 1e-9)

    def test_short_and_long_length_scales_are_told_apart(self) -> None:
        X, _ = data(40, 2)
        Y = torch.sin(12 * X[:, :1]) + 0.1 * X[:, 1:]
        scales = fit_quick_gp(default_model(X, Y, unit_box(2))).covar_module.base_kernel.lengthscale
        assert float(scales[0, 1]) > 3 * float(scales[0, 0])

    def test_single_precision(self) -> None:
        X, Y = data()
        single = fit_quick_gp(default_model(X.float(), Y.float(), unit_box(2)))
        double = fit_quick_gp(default_model(X, Y, unit_box(2)))
        for (name, value), expected in zip(
            single.named_parameters(), double.parameters(), strict=True
        ):
            assert value.dtype == torch.float, name
            torch.testing.assert_close(value.double(), expected, rtol=0.05, atol=0.02)
        posterior = single.posterior(X.float().unsqueeze(-2))
        assert posterior.mean.isfinite().all() and (posterior.variance > 0).all()

    def test_says_what_is_wrong_if_nothing_is_positive_definite(self) -> None:
        with (
            mock.patch.object(LogDensity, "_solve", lambda self, K, p: (None, self.y, 0.0)),
            pytest.raises(ModelFittingError, match="contradict each other"),
        ):
            fit_quick_gp(make())


def check_usable(X: Tensor, Y: Tensor, box: Tensor, Yvar: Tensor | None = None) -> QuickGP:
    """Fitted without a warning, and finite inside, at and far from the data."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", BotorchWarning)
        warnings.filterwarnings("ignore", "Data .* not", BotorchWarning)  # on purpose
        model = fit_default_model(X, Y, box, Yvar)
    points = torch.cat([X, box, box + 100 * (box[1] - box[0])]).unsqueeze(-2)
    posterior = model.posterior(points)
    assert posterior.mean.isfinite().all()
    assert posterior.variance.isfinite().all() and (posterior.variance > 0).all()
    assert all(parameter.isfinite().all() for parameter in model.parameters())
    return model


@pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.InputDataWarning")
class TestUnusualData:
    def test_one_datum(self) -> None:
        X, Y = data(1)
        model = check_usable(X, Y, unit_box(2))
        assert float(model.posterior(X.unsqueeze(-2)).mean) == pytest.approx(float(Y), abs=1e-6)

    def test_two_equal_data(self) -> None:
        X, Y = data(1)
        check_usable(X.repeat(2, 1), Y.repeat(2, 1), unit_box(2))

    @pytest.mark.parametrize("value", [0.0, 3.0, -1e12])
    def test_outcomes_that_do_not_vary(self, value: float) -> None:
        X, _ = data()
        model = check_usable(X, torch.full((15, 1), value).double(), unit_box(2))
        mean = model.posterior(X.unsqueeze(-2)).mean
        torch.testing.assert_close(mean, torch.full_like(mean, value))

    @pytest.mark.parametrize("Yvar", [None, 0.0])
    def test_contradictions_at_one_place(self, Yvar: float | None) -> None:
        X, Y = data()
        X, Y = torch.cat([X, X[:3]]), torch.cat([Y, Y[:3] + 2])
        variances = None if Yvar is None else torch.full_like(Y, Yvar)
        model = check_usable(X, Y, unit_box(2), variances)
        mean = model.posterior(X[:3].unsqueeze(-2)).mean.reshape(-1)
        between = (Y[:3] + 1).reshape(-1)
        torch.testing.assert_close(mean, between, rtol=0, atol=1.0)

    def test_two_hundred_data(self) -> None:
        X, Y = data(200, 4, noise=0.05)
        model = check_usable(X, Y, unit_box(4))
        assert float((model.posterior(X.unsqueeze(-2)).mean.reshape(-1, 1) - Y).std()) < 0.2

    def test_two_hundred_exact_data(self) -> None:
        X, Y = data(200, 2)
        check_usable(X, Y, unit_box(2))

    def test_offset_of_the_inputs(self) -> None:
        """A small box far from the origin is no different from one at it."""
        X, Y = data()
        near = check_usable(X, Y, unit_box(2))
        far = check_usable(X + 1e6, Y, unit_box(2) + 1e6)
        for one, other in zip(near.parameters(), far.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)

    @pytest.mark.parametrize("side", [1e-9, 1e9])
    def test_units_of_the_inputs(self, side: float) -> None:
        X, Y = data()
        near, scaled = (check_usable(s * X, Y, s * unit_box(2)) for s in (1.0, side))
        for one, other in zip(near.parameters(), scaled.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)

    @pytest.mark.parametrize(("offset", "scale"), [(0, 1e-6), (0, 1e12), (1e6, 1.0), (-50, 1e-3)])
    def test_units_of_the_outcomes(self, offset: float, scale: float) -> None:
        X, Y = data()
        near, scaled = (
            check_usable(X, a + b * Y, unit_box(2)) for a, b in ((0, 1), (offset, scale))
        )
        for one, other in zip(near.parameters(), scaled.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
        point = X[:1].unsqueeze(-2) + 0.05
        expected = offset + scale * near.posterior(point).mean
        torch.testing.assert_close(scaled.posterior(point).mean, expected, rtol=1e-3, atol=0)

    def test_an_outlier(self) -> None:
        X, Y = data(20)
        check_usable(X, torch.cat([Y[:-1], torch.full((1, 1), -1e9).double()]), unit_box(2))

    def test_points_far_outside_the_first_box(self) -> None:
        X, Y = data(20)
        check_usable(torch.cat([X[:-1], X[-1:] + 1e4]), Y, unit_box(2))


class TestNoFitSucceeds:
    def test_warning_and_modes_of_the_priors(self) -> None:
        X, Y = data()
        with (
            mock.patch.object(models, "fit_quick_gp", side_effect=ModelFittingError("for a test")),
            pytest.warns(BotorchWarning, match=r"could not be fitted \(for a test\)"),
        ):
            model = fit_default_model(X, Y, unit_box(2))
        assert not model.training
        density = LogDensity(model, None)
        values = np.exp(density.modes)
        kernel = model.covar_module
        np.testing.assert_allclose(
            kernel.base_kernel.lengthscale.detach()[0], values[:2], rtol=1e-5
        )
        assert float(kernel.outputscale.detach()) == pytest.approx(values[2])
        assert float(model.likelihood.noise.detach()) == pytest.approx(values[3])
        assert isinstance(model, SingleTaskGP)
        assert model.posterior(X.unsqueeze(-2)).mean.isfinite().all()

    def test_other_errors_are_not_hidden(self) -> None:
        with (
            mock.patch.object(models, "fit_quick_gp", side_effect=ValueError("a mistake")),
            pytest.raises(ValueError, match="a mistake"),
        ):
            fit_default_model(*data(), unit_box(2))
