"""The models to start from, and the tempering of their outcomes."""

import math

import pytest
import torch
from botorch.exceptions.errors import BotorchTensorDimensionError, InputDataError
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from torch import Tensor

from botorch_ubo.models import default_model, fit_default_model, published_model, temper
from botorch_ubo.quick_fit import fit_quick_gp
from botorch_ubo.quick_gp import QuickGP
from tests.helpers import tensor

BOX = tensor([[0.0], [10.0]])
PLACE = 0.05 * 10  # two evaluations within this of each other are of one place


def spread(n: int) -> Tensor:
    """As many different places."""
    return torch.arange(n, dtype=torch.double).unsqueeze(-1)


def column(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.double).unsqueeze(-1)


# The median is -4, the best 0: scale 4, compressed below -8.
VALUES = column(0.0, -1.0, -4.0, -8.0, -8.0 - 4 * (math.e - 1))


def tempered(Y: Tensor, X: Tensor | None = None, **kwargs: object) -> Tensor:
    values, variance = temper(spread(len(Y)) if X is None else X, Y, BOX, **kwargs)
    assert variance is None
    return values


class TestTemper:
    def test_by_hand(self) -> None:
        # The excess of the last is e - 1 scales: -4 - 4 (1 + log(e)) = -12.
        torch.testing.assert_close(tempered(VALUES), column(0.0, -1.0, -4.0, -8.0, -12.0))

    def test_all_but_very_bad_ones_are_left_alone(self) -> None:
        found = tempered(VALUES)
        assert torch.equal(found[:4], VALUES[:4])  # to the last digit

    def test_minimising_is_the_mirror_image(self) -> None:
        assert torch.equal(tempered(-VALUES, maximize=False), -tempered(VALUES))
        # What is good one way is bad the other: nothing is further from 4 than twice the median.
        assert torch.equal(tempered(column(0, 1, 4, 8), maximize=True), column(0, 1, 4, 8))

    def test_shift_and_scale_of_the_outcomes(self) -> None:
        torch.testing.assert_close(tempered(50 + 3 * VALUES), 50 + 3 * tempered(VALUES))

    @pytest.mark.parametrize("maximize", [True, False])
    def test_order_is_kept(self, maximize: bool) -> None:
        generator = torch.Generator().manual_seed(0)
        Y = torch.randn(50, 1, generator=generator, dtype=torch.double).sinh()
        Y[:2] = column(-500.0, 500.0) if maximize else column(500.0, -500.0)
        Y[2] = 2000.0 if not maximize else -2000.0
        found = tempered(Y, maximize=maximize)
        assert not torch.equal(found, Y)
        assert torch.equal(found.argsort(dim=0), Y.argsort(dim=0))
        best = Y.argmax() if maximize else Y.argmin()
        assert torch.equal(found[best], Y[best])

    def test_value_and_slope_are_continuous(self) -> None:
        step = 1e-5
        for edge, slope in ((-8.0, 1.0), (-8.0 - 4 * (math.e - 1), math.exp(-1))):
            at = [
                float(tempered(column(0.0, -1.0, -4.0, -8.0, edge + shift))[-1])
                for shift in (-step, 0.0, step)
            ]
            assert (at[1] - at[0]) / step == pytest.approx(slope, abs=1e-4)
            assert (at[2] - at[1]) / step == pytest.approx(slope, abs=1e-4)

    def test_growth_is_logarithmic(self) -> None:
        far = [float(tempered(column(0, -1, -4, -8, -(10.0**k)))[-1]) for k in (6, 9, 12)]
        assert far[0] > -100
        assert far[0] - far[1] == pytest.approx(4 * math.log(1e3), rel=1e-4)
        assert far[1] - far[2] == pytest.approx(4 * math.log(1e3), rel=1e-4)

    def test_variances_go_with_the_square_of_the_slope(self) -> None:
        Yvar = column(1.0, 2.0, 3.0, 4.0, 5.0)
        values, variance = temper(spread(5), VALUES, BOX, Yvar)
        torch.testing.assert_close(values, tempered(VALUES))
        assert variance is not None
        torch.testing.assert_close(variance, column(1.0, 2.0, 3.0, 4.0, 5.0 * math.exp(-2)))

    def test_an_even_number_takes_the_worse_of_the_middle_ones(self) -> None:
        # The median is -4, as it would be with one more value below.
        torch.testing.assert_close(
            tempered(column(0.0, -1.0, -4.0, -8.0 - 4 * (math.e - 1))),
            column(0.0, -1.0, -4.0, -12.0),
        )

    @pytest.mark.parametrize("maximize", [True, False])
    def test_nothing_to_compare_with(self, maximize: bool) -> None:
        for Y in (column(3.0), column(2.0, 2.0, 2.0), column(1.0, 5.0)):
            assert torch.equal(tempered(Y, maximize=maximize), Y)

    def test_most_values_equal_to_the_best(self) -> None:
        """A plateau gives no scale; nothing is divided by zero."""
        Y = column(0.0, 0.0, 0.0, -1.0, -1e9)
        Yvar = torch.ones_like(Y)
        values, variance = temper(spread(5), Y, BOX, Yvar)
        assert torch.equal(values, Y) and variance is not None and torch.equal(variance, Yvar)

    def test_inputs_are_not_changed(self) -> None:
        X, Y, Yvar = spread(5), VALUES.clone(), torch.ones_like(VALUES)
        temper(X, Y, BOX, Yvar)
        assert torch.equal(Y, VALUES) and torch.equal(X, spread(5)) and (Yvar == 1).all()

    def test_dtype_is_kept(self) -> None:
        values, variance = temper(
            spread(5).float(), VALUES.float(), BOX, torch.ones_like(VALUES).float()
        )
        assert values.dtype == torch.float
        assert variance is not None and variance.dtype == torch.float
        torch.testing.assert_close(values, tempered(VALUES).float())


class TestPlaces:
    """The median counts places, not evaluations."""

    def test_a_search_that_converged(self) -> None:
        """Thirty evaluations at the optimum do not make all else very bad."""
        X = torch.cat([spread(5), 1e-3 * torch.arange(30.0).double().unsqueeze(-1)])
        Y = torch.cat([VALUES, -1e-3 * torch.arange(1, 31.0).double().unsqueeze(-1)])
        found = tempered(Y, X)
        torch.testing.assert_close(found[:5], tempered(VALUES))
        assert torch.equal(found[5:], Y[5:])

    def test_of_one_place_the_best_counts(self) -> None:
        # Places 0, 1, 2 with values 0, -4, -20; the others are close to a better one.
        X = column(0.0, 1.0, 2.0, 1.0 + 0.9 * PLACE, 2.0 - 0.9 * PLACE)
        Y = column(0.0, -4.0, -20.0, -5.0, -100.0)
        found = tempered(Y, X)
        assert torch.equal(found[[0, 1, 3]], Y[[0, 1, 3]])
        excess = (torch.tensor([20.0, 100.0]).double() - 8) / 4
        torch.testing.assert_close(found[[2, 4], 0], -4 - 4 * (1 + excess.log1p()))

    @pytest.mark.parametrize(("distance", "one_place"), [(0.99, True), (1.01, False)])
    def test_how_far_one_place_reaches(self, distance: float, one_place: bool) -> None:
        # If the second is a place of its own, the median is -1 and -4 is very bad.
        X = column(0.0, distance * PLACE, 5.0)
        found = tempered(column(0.0, -1.0, -4.0), X)
        assert (float(found[-1]) == -4.0) == one_place

    def test_distance_is_in_sides_of_the_first_box(self) -> None:
        box = tensor([[0.0, 0.0], [10.0, 1000.0]])
        X = tensor([[0.0, 0.0], [0.0, 30.0], [5.0, 500.0]])  # the second at 0.03 of a side
        Y = column(0.0, -1.0, -4.0)
        assert torch.equal(temper(X, Y, box)[0], Y)
        assert not torch.equal(temper(X * tensor([1.0, 2.0]), Y, box)[0], Y)

    def test_any_dimension_makes_a_difference(self) -> None:
        X = torch.zeros(3, 4).double()
        X[1, 2], X[2, 0] = 1.0, 5.0
        box = torch.stack([torch.zeros(4), torch.full((4,), 10.0)]).double()
        assert float(temper(X, column(0.0, -1.0, -4.0), box)[0][-1]) > -4.0

    def test_everything_in_one_place(self) -> None:
        Y = column(0.0, -1.0, -1e6)
        assert torch.equal(tempered(Y, torch.zeros(3, 1).double()), Y)


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
    def test_targets_are_tempered(self) -> None:
        model = fit_default_model(spread(5), VALUES, BOX)
        torch.testing.assert_close(
            model.outcome_transform.untransform(model.train_targets.unsqueeze(-1))[0],
            tempered(VALUES),
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

    def test_variances_are_tempered_with_them(self) -> None:
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


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e-12, -1e12])
def test_outcomes_that_do_not_vary(value: float, dtype: torch.dtype) -> None:
    X, Y = spread(5).to(dtype), torch.full((5, 1), value, dtype=dtype)
    for Yvar in (None, torch.zeros_like(Y)):
        model = fit_default_model(X, Y, BOX, Yvar)
        assert float(model.outcome_transform.stdvs) == 1.0
        mean = model.posterior(X.unsqueeze(-2)).mean.squeeze(-1)
        torch.testing.assert_close(mean, Y)


def test_published_model_is_a_plain_one() -> None:
    model = published_model(spread(5), VALUES)
    assert type(model) is SingleTaskGP
    assert not hasattr(model, "input_transform")


GOOD = {
    "X": torch.rand(4, 2, dtype=torch.double, generator=torch.Generator().manual_seed(0)),
    "Y": torch.arange(4.0, dtype=torch.double).unsqueeze(-1),
    "bounds": torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double),
}


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"bounds": GOOD["bounds"].flip(0)}, InputDataError, "lower < upper"),
        ({"bounds": GOOD["bounds"][:, :1]}, BotorchTensorDimensionError, "`X` of shape 4 x 1"),
        ({"Y": GOOD["Y"][:3]}, BotorchTensorDimensionError, "`Y` of shape 4 x 1"),
        ({"Y": GOOD["Y"].repeat(1, 2)}, BotorchTensorDimensionError, "one model each"),
        ({"Y": GOOD["Y"][:, 0]}, BotorchTensorDimensionError, "`Y` of shape 4 x 1"),
        ({"X": GOOD["X"][:0], "Y": GOOD["Y"][:0]}, BotorchTensorDimensionError, "at least one"),
        ({"Y": GOOD["Y"].log()}, InputDataError, "failed evaluations"),
        ({"X": GOOD["X"] / 0}, InputDataError, "`X`; got NaN or infinity"),
        ({"Yvar": -GOOD["Y"]}, InputDataError, "variances >= 0"),
        ({"Yvar": GOOD["Y"][:2]}, BotorchTensorDimensionError, "`Yvar`"),
    ],
)
def test_bad_data_are_refused_in_words(change, error, match):
    with pytest.raises(error, match=match):
        fit_default_model(**{**GOOD, **change})
