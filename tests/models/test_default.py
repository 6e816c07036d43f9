"""The recommended model: its parts, its fit, and what it refuses."""

import math
from unittest import mock

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import (
    BotorchTensorDimensionError,
    InputDataError,
    ModelFittingError,
)
from botorch.exceptions.warnings import BotorchWarning
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood

from botorch_ubo.models import default as default_module
from botorch_ubo.models import default_model, fit_default_model
from botorch_ubo.models.quick.density import LogDensity
from botorch_ubo.models.quick.fit import fit_quick_gp
from botorch_ubo.models.quick.gp import QuickGP
from tests.support.by_hand import unit_box
from tests.support.fits import data
from tests.support.outcomes import BOX, COMPRESSED, VALUES, spread


class TestDefaultModel:
    def test_units_are_those_of_the_first_box_whatever_the_data(self) -> None:
        boxes = [
            default_model(X, X.sin(), BOX).input_transform.bounds
            for X in (spread(3), 100 * spread(9))
        ]
        assert torch.equal(boxes[0], boxes[1])
        unit = boxes[0]
        assert float(unit.mean()) == pytest.approx(5.0)
        assert float(unit[1] - unit[0]) == pytest.approx(30.0)  # three sides

    def test_parts(self) -> None:
        model = default_model(spread(5), VALUES, BOX)
        assert isinstance(model, QuickGP)
        assert isinstance(model.covar_module, ScaleKernel)
        assert isinstance(model.covar_module.base_kernel, RBFKernel)
        assert isinstance(model.input_transform, Normalize)
        assert isinstance(model.outcome_transform, Standardize)
        assert model.training
        model.eval()
        assert model.has_shortcut()

    @pytest.mark.parametrize("dtype", [torch.float, torch.double])
    def test_dtype(self, dtype: torch.dtype) -> None:
        X, Y = spread(5).to(dtype), VALUES.to(dtype)
        for Yvar in (None, torch.ones_like(Y)):
            model = default_model(X, Y, BOX, Yvar)
            assert all(parameter.dtype == dtype for parameter in model.parameters())
            assert model.eval().posterior(X.unsqueeze(-2)).mean.dtype == dtype

    def test_exact_observations_do_not_warn(self, recwarn: pytest.WarningsRecorder) -> None:
        for Y in (VALUES, 1e6 * VALUES, torch.ones_like(VALUES)):
            model = default_model(spread(5), Y, BOX, torch.zeros_like(Y))
            assert isinstance(model.likelihood, FixedNoiseGaussianLikelihood)
            model.eval().posterior(spread(5).unsqueeze(-2))
        assert not [w for w in recwarn if "noise" in str(w.message)]


class TestFitDefaultModel:
    def test_targets_are_compressed(self) -> None:
        model = fit_default_model(spread(5), VALUES, BOX)
        torch.testing.assert_close(
            model.outcome_transform.untransform(model.train_targets.unsqueeze(-1))[0],
            COMPRESSED,
        )
        assert not model.training

    def test_direction_matters(self) -> None:
        Y = 40 + VALUES.sinh()
        up = fit_default_model(spread(5), Y, BOX)
        down = fit_default_model(spread(5), -Y, BOX, maximize=False)
        wrong = fit_default_model(spread(5), Y, BOX, maximize=False)
        X = spread(5).unsqueeze(-2)
        torch.testing.assert_close(up.posterior(X).mean, -down.posterior(X).mean)
        assert not torch.allclose(up.posterior(X).mean, wrong.posterior(X).mean)

    def test_variances_are_compressed_with_them(self) -> None:
        Yvar = torch.full_like(VALUES, 0.5)
        model = fit_default_model(spread(5), VALUES, BOX, Yvar)
        noise = model.likelihood.noise * model.outcome_transform.stdvs.square().reshape(())
        expected = torch.tensor([0.5, 0.5, 0.5, 0.5, 0.5 * math.exp(-2)], dtype=torch.double)
        torch.testing.assert_close(noise.detach(), expected)

    def test_a_cliff_does_not_hide_the_optimum(self) -> None:
        """Values of -1e8 beyond a cliff; the model still tells the values before it apart."""
        X = torch.linspace(0, 10, 12).double().unsqueeze(-1)
        Y = torch.where(X < 8, -0.05 * (X - 3).square(), -1e8 * torch.ones_like(X))
        near = Y > -0.2
        errors = [
            float((model.posterior(X.unsqueeze(-2)).mean.reshape(-1, 1) - Y)[near].abs().max())
            for model in (fit_default_model(X, Y, BOX), fit_quick_gp(default_model(X, Y, BOX)))
        ]
        assert errors[0] < 0.3 < 1e3 < errors[1]


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("unit", [1e-12, 1e-100, 1e12])
def test_unit_of_the_outcomes_does_not_matter(unit: float, fixed: bool) -> None:
    X, Yvar = spread(5), torch.zeros_like(VALUES) if fixed else None
    models = [fit_default_model(X, scale * VALUES, BOX, Yvar) for scale in (1.0, unit)]
    means = [model.posterior(X.unsqueeze(-2)).mean.squeeze(-1) for model in models]
    torch.testing.assert_close(means[1] / unit, means[0], rtol=1e-3, atol=1e-3)


# Single precision cannot hold the least noise of the other, and gpytorch says so.
@pytest.mark.filterwarnings("ignore:Very small noise values")
@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e-12, -1e12])
def test_outcomes_that_do_not_vary(value: float, dtype: torch.dtype) -> None:
    X, Y = spread(5).to(dtype), torch.full((5, 1), value, dtype=dtype)
    for Yvar in (None, torch.zeros_like(Y)):
        model = fit_default_model(X, Y, BOX, Yvar)
        assert float(model.outcome_transform.stdvs) == (abs(float(Y[0])) or 1.0)
        mean = model.posterior(X.unsqueeze(-2)).mean.squeeze(-1)
        torch.testing.assert_close(mean, Y)


class TestNoFitSucceeds:
    def test_warning_and_modes_of_the_priors(self) -> None:
        X, Y = data()
        with (
            mock.patch.object(
                default_module, "fit_quick_gp", side_effect=ModelFittingError("for a test")
            ),
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
            mock.patch.object(default_module, "fit_quick_gp", side_effect=ValueError("a mistake")),
            pytest.raises(ValueError, match="a mistake"),
        ):
            fit_default_model(*data(), unit_box(2))


GOOD = {
    "X": torch.rand(4, 2, dtype=torch.double, generator=torch.Generator().manual_seed(0)),
    "Y": torch.arange(4.0, dtype=torch.double).unsqueeze(-1),
    "bounds": torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double),
}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"bounds": GOOD["bounds"].flip(0)}, "lower < upper"),
        ({"bounds": GOOD["bounds"][:, :1]}, "`X` of shape 4 x 1"),
        ({"Y": GOOD["Y"][:3]}, "`Y` of shape 4 x 1"),
        ({"Y": GOOD["Y"].repeat(1, 2)}, "one model each"),
        ({"Y": GOOD["Y"][:, 0]}, "`Y` of shape 4 x 1"),
        ({"X": GOOD["X"][:0], "Y": GOOD["Y"][:0]}, "at least one"),
        ({"Y": GOOD["Y"].log()}, "failed evaluations"),
        ({"X": GOOD["X"] / 0}, "`X`; got NaN or infinity"),
        ({"Yvar": -GOOD["Y"]}, "variances >= 0"),
        ({"Yvar": GOOD["Y"][:2]}, "`Yvar`"),
    ],
)
def test_bad_data_are_refused_in_words(change: dict[str, torch.Tensor], match: str) -> None:
    with pytest.raises(InputDataError, match=match):
        fit_default_model(**{**GOOD, **change})


@pytest.mark.parametrize(("inputs", "outcomes"), [((5, 2), (5,)), ((3, 5, 2), (5, 1))])
def test_shapes_are_refused_as_botorch_refuses_them(
    inputs: tuple[int, ...], outcomes: tuple[int, ...]
) -> None:
    X, Y = (torch.rand(shape, dtype=torch.double) for shape in (inputs, outcomes))
    with pytest.raises(BotorchTensorDimensionError):
        default_model(X, Y, unit_box(2))
