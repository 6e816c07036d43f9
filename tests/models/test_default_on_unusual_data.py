"""The recommended model of few, equal, contradictory, huge and tiny data."""

import warnings

import pytest
import torch
from botorch.exceptions.warnings import BotorchWarning
from torch import Tensor

from botorch_ubo.models import fit_default_model
from botorch_ubo.models.quick import QuickGP
from tests.support.by_hand import unit_box
from tests.support.fits import data


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
        # The fit ends within 1e-5 nats, which tells parameters apart to a few parts in a thousand.
        for one, other in zip(near.parameters(), scaled.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=3e-3, atol=1e-4)
        point = X[:1].unsqueeze(-2) + 0.05
        expected = offset + scale * near.posterior(point).mean
        torch.testing.assert_close(scaled.posterior(point).mean, expected, rtol=1e-3, atol=0)

    def test_an_outlier(self) -> None:
        X, Y = data(20)
        check_usable(X, torch.cat([Y[:-1], torch.full((1, 1), -1e9).double()]), unit_box(2))

    def test_points_far_outside_the_first_box(self) -> None:
        X, Y = data(20)
        check_usable(torch.cat([X[:-1], X[-1:] + 1e4]), Y, unit_box(2))
