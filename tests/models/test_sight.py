"""Data beyond a gap of a factor of a million are out of sight."""

import pytest
import torch

from botorch_ubo.models import fit_default_model
from botorch_ubo.models.sight import in_sight
from tests.support.by_hand import unit_box
from tests.support.fits import data


@pytest.mark.parametrize("far", [1e7, 1e12, 1e200, 1e308])
@pytest.mark.parametrize("side", [1e-150, 1.0, 1e100])
def test_a_far_datum(far: float, side: float) -> None:
    X, _ = data()
    X[3, 1] = far
    seen = in_sight(side * X, side * unit_box(2))
    assert seen.tolist() == [i != 3 for i in range(len(X))]


def test_a_search_that_travels_loses_nothing() -> None:
    X = 11.0 ** torch.arange(200, dtype=torch.double).reshape(-1, 1)
    assert in_sight(X, unit_box(1)).all()


def test_something_is_always_in_sight() -> None:
    X = torch.tensor([[1e20], [1e21], [1e30]], dtype=torch.double)
    assert in_sight(X, unit_box(1)).tolist() == [True, True, False]


@pytest.mark.parametrize("far", [1e12, 1e200])
def test_the_default_model_is_that_of_the_others(far: float) -> None:
    X, Y = data()
    expected = fit_default_model(X, Y, unit_box(2))
    found = fit_default_model(
        torch.cat([X, torch.tensor([[far, 0.5]], dtype=torch.double)]),
        torch.cat([Y, torch.tensor([[min(far, 1e150)]], dtype=torch.double)]),
        unit_box(2),
    )
    for one, other in zip(expected.parameters(), found.parameters(), strict=True):
        torch.testing.assert_close(one, other)
