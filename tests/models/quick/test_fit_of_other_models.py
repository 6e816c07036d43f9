"""Models with other kernels, priors and constraints: BoTorch's way, or their own bounds."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Warp
from gpytorch.constraints import GreaterThan, Interval
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ZeroMean
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.priors import GammaPrior, LogNormalPrior, NormalPrior

from botorch_ubo.models import default_model, fit_default_model
from botorch_ubo.models.quick import QuickGP, fit_quick_gp
from botorch_ubo.models.quick import fit as fit_module
from botorch_ubo.models.quick.density import LogDensity, why_not_covered
from tests.support.by_hand import unit_box
from tests.support.fits import data

X, Y = data(12, 2, noise=0.05)


def rbf(prior: object = None, constraint: Interval | None = None, **kwargs: Any) -> Kernel:
    return RBFKernel(
        ard_num_dims=2,
        lengthscale_prior=LogNormalPrior(1.4, 1.7) if prior is None else prior,
        lengthscale_constraint=constraint,
        **kwargs,
    )


def scaled(kernel: Kernel, floor: Interval | None = None, prior: object = None) -> Kernel:
    prior = LogNormalPrior(2.25, 1.5) if prior is None else prior
    return ScaleKernel(kernel, outputscale_prior=prior, outputscale_constraint=floor)


def likelihood(floor: float = 1e-6, prior: object = None) -> GaussianLikelihood:
    constraint = GreaterThan(floor, transform=None, initial_value=max(floor, 1e-2))
    prior = LogNormalPrior(-2.0, 1.5) if prior is None else prior
    return GaussianLikelihood(noise_prior=prior, noise_constraint=constraint)


def warp() -> Warp:
    priors = {f"concentration{i}_prior": LogNormalPrior(0.0, 0.75**0.5) for i in (0, 1)}
    return Warp(2, [0, 1], bounds=unit_box(2), **priors)


OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "matern": ("kernel, mean or transforms", {"covar_module": MaternKernel(ard_num_dims=2)}),
    "gamma": ("prior is log-normal", {"covar_module": scaled(rbf(GammaPrior(3.0, 6.0)))}),
    "no prior": ("prior is log-normal", {"covar_module": RBFKernel(ard_num_dims=2)}),
    "gamma scale": ("log-normal", {"covar_module": scaled(rbf(), prior=GammaPrior(2.0, 0.2))}),
    "gamma noise": ("log-normal", {"likelihood": likelihood(prior=GammaPrior(1.1, 10.0))}),
    "prior per dimension": (
        "one for all dimensions",
        {"covar_module": rbf(LogNormalPrior(torch.tensor([0.0, 1.0]), torch.ones(2)))},
    ),
    "one length-scale": (
        "one length-scale for several",
        {"covar_module": RBFKernel(lengthscale_prior=LogNormalPrior(1.4, 1.7))},
    ),
    "mean": ("not a constant that is free", {"mean_module": ZeroMean()}),
    "warp": ("parameters to be learned", {"input_transform": warp()}),
}


def build(kind: type[SingleTaskGP] = QuickGP, **kwargs: Any) -> Any:
    torch.manual_seed(0)
    parts = {"covar_module": scaled(rbf()), "likelihood": likelihood(), **kwargs}
    return kind(X, Y, **copy.deepcopy(parts)).double()


def parameters(model: SingleTaskGP) -> dict[str, torch.Tensor]:
    return {name: value.detach() for name, value in model.named_parameters()}


@pytest.mark.parametrize("name", OTHERS)
def test_what_the_density_does_not_cover_is_said(name: str) -> None:
    reason, parts = OTHERS[name]
    assert reason in (why_not_covered(build(**parts)) or "")


def test_the_mean_may_have_a_prior_that_is_not_covered() -> None:
    model = build()
    assert why_not_covered(model) is None
    model.mean_module.register_prior("mean_prior", NormalPrior(0.0, 1.0), "constant")
    assert "not a constant that is free" in (why_not_covered(model) or "")


@pytest.mark.parametrize(
    "name",
    [
        "matern",
        "gamma",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("one length-scale", "mean")),
        pytest.param("warp", marks=pytest.mark.slow),
    ],
)
def test_it_is_fitted_as_botorch_would(name: str) -> None:
    """To the parameters of ``fit_gpytorch_mll`` on an equal ``SingleTaskGP``."""
    parts = OTHERS[name][1]
    quick, plain = build(**parts), build(SingleTaskGP, **parts)
    before = parameters(quick)
    before = {key: value.clone() for key, value in before.items()}
    torch.manual_seed(0)
    assert fit_quick_gp(quick) is quick and not quick.training
    torch.manual_seed(0)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(plain.likelihood, plain))
    expected = parameters(plain)
    assert parameters(quick).keys() == expected.keys()
    for key, value in parameters(quick).items():
        torch.testing.assert_close(value, expected[key], rtol=1e-6, atol=1e-8)
    assert not any(torch.equal(before[key], expected[key]) for key in before)


def test_a_model_that_is_covered_does_not_ask_botorch(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("asked BoTorch")

    monkeypatch.setattr(fit_module, "fit_gpytorch_mll", refuse)
    for transform in (None, Normalize(2, bounds=unit_box(2))):
        assert not fit_quick_gp(build(input_transform=transform)).training
    with pytest.raises(AssertionError, match="asked BoTorch"):
        fit_quick_gp(build(**OTHERS["matern"][1]))


# With and without a transform: at its end, the raw parameter of one with it would be infinite.
ENDS = pytest.mark.parametrize("transform", [{}, {"transform": None}], ids=["softplus", "none"])


def check_usable(model: QuickGP) -> None:
    assert all(parameter.isfinite().all() for parameter in model.parameters())
    assert model.posterior(X.unsqueeze(-2)).mean.isfinite().all()


class TestConstraints:
    @ENDS
    def test_of_the_length_scales(self, transform: dict[str, None]) -> None:
        rough = data(20, 2)[0]
        wavy = torch.sin(12 * rough).sum(dim=-1, keepdim=True)
        found = []
        for floor in (0.5, 1e-3):
            constraint = GreaterThan(floor, initial_value=1.0, **transform)
            model = QuickGP(
                rough, wavy, covar_module=scaled(rbf(constraint=constraint)).double()
            ).double()
            found.append(fit_quick_gp(model).covar_module.base_kernel.lengthscale.detach())
            check_usable(model)
        assert found[0].flatten().tolist() == pytest.approx([0.5, 0.5], rel=1e-4)
        assert float(found[1].max()) < 0.4

    def test_upper_ends_of_the_length_scales(self) -> None:
        model = build(covar_module=scaled(rbf(constraint=Interval(0.01, 0.1))))
        scales = fit_quick_gp(model).covar_module.base_kernel.lengthscale.detach()
        assert scales.flatten().tolist() == pytest.approx([0.1, 0.1], rel=1e-4)
        check_usable(model)

    @ENDS
    def test_of_the_output_scale(self, transform: dict[str, None]) -> None:
        """Outcomes as they are, with a variance of 0.003: a tenth is too much for them."""
        found = []
        for floor in (1e-1, 1e-4):
            constraint = GreaterThan(floor, initial_value=1.0, **transform)
            model = QuickGP(
                *(X, 0.05 / 3 * Y),
                covar_module=scaled(rbf(), constraint).double(),
                outcome_transform=None,
            ).double()
            found.append(float(fit_quick_gp(model).covar_module.outputscale.detach()))
            check_usable(model)
        assert found[0] == pytest.approx(0.1, rel=1e-4)
        assert 1e-4 < found[1] < 0.095

    def test_of_the_default_model_let_the_output_scale_be_small(self) -> None:
        """Outcomes that do not vary are not given a unit, and want none."""
        constant = torch.full_like(Y, 3.0)
        model = fit_default_model(X, constant, unit_box(2))
        assert float(model.covar_module.outputscale.detach()) < 0.05
        floor = default_model(X, Y, unit_box(2)).covar_module.raw_outputscale_constraint
        assert float(floor.lower_bound) == pytest.approx(1e-4)

    def test_of_the_noise(self) -> None:
        """Where the model rules them out, exact observations are not tried."""
        exact = data(25, 2)
        found = {}
        for floor in (1e-3, 1e-6):
            model = QuickGP(
                *exact, likelihood=likelihood(floor), covar_module=scaled(rbf())
            ).double()
            found[floor] = float(fit_quick_gp(model).likelihood.noise.detach())
        assert found[1e-3] == pytest.approx(1e-3, rel=1e-4)
        assert found[1e-6] == pytest.approx(1.01e-6)

    def test_exact_observations_are_not_even_tried(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tried = []

        class Recorded(LogDensity):
            def with_noise(self, noise: float) -> LogDensity:
                tried.append(noise)
                return super().with_noise(noise)

        monkeypatch.setattr(fit_module, "LogDensity", Recorded)
        fit_quick_gp(build(likelihood=likelihood(1e-3)))
        assert not tried
        fit_quick_gp(build())
        assert tried == [fit_module.EXACT_NOISE]
