"""The fit finds the maximum of the density, and leaves to BoTorch what it does not cover."""

from unittest import mock

import pytest
import torch
from botorch.exceptions.errors import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from gpytorch.constraints import GreaterThan
from gpytorch.mlls import ExactMarginalLogLikelihood

from botorch_ubo.models import default_model, fit_default_model
from botorch_ubo.models.quick import EXACT_NOISE, MIN_NOISE, fit_quick_gp
from botorch_ubo.models.quick.density import LogDensity
from botorch_ubo.models.quick.gp import QuickGP
from tests.support.by_hand import unit_box
from tests.support.fits import data, gpytorchs, make, without_scale


def fit_slowly(model: QuickGP) -> QuickGP:
    """Start where BoTorch does, with its bound on the noise."""
    if hasattr(model.likelihood.noise_covar, "noise_prior"):
        bound = GreaterThan(MIN_NOISE, transform=None)
        model.likelihood.noise_covar.register_constraint("raw_noise", bound)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


@pytest.mark.parametrize("fixed", [False, True], ids=["inferred", "fixed"])
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))]
)
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

    @pytest.mark.parametrize("seed", [285, 345])
    def test_lose_where_a_little_noise_is_smoother_and_likelier(self, seed: int) -> None:
        """Compressed outcomes have a kink, which exact observations would have to follow."""
        generator = torch.Generator().manual_seed(seed)
        X = 4 * torch.rand(60, 1, generator=generator).double()
        model = fit_default_model(X, torch.sin(7 * X), unit_box(1))
        assert model.likelihood.noise.item() > 50 * EXACT_NOISE

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
        assert float(model.covar_module.base_kernel.lengthscale.detach()) >= 0.025 * (1 - 1e-9)

    def test_short_and_long_length_scales_are_told_apart(self) -> None:
        X, _ = data(40, 2)
        Y = torch.sin(12 * X[:, :1]) + 0.1 * X[:, 1:]
        model = fit_quick_gp(default_model(X, Y, unit_box(2)))
        short, long = model.covar_module.base_kernel.lengthscale.detach().flatten()
        assert float(short) * 3 < float(long)

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
