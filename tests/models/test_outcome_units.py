"""Outcomes of any size have a unit; those that are equal up to rounding have their size."""

import pytest
import torch
from botorch.models.transforms import Standardize

from botorch_ubo.models.outcome_units import (
    MIN_NOISE_VARIANCE,
    RobustStandardize,
    is_flat,
    location_and_unit,
)
from tests.support.outcomes import VALUES, column

UNITS = [1e-250, 1e-160, 1e-12, 1.0, 1e12, 1e140]


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_plain_outcomes_as_botorchs(unit: float) -> None:
    expected, _ = Standardize(1)(unit * VALUES)
    found, _ = RobustStandardize(1)(unit * VALUES)
    torch.testing.assert_close(found, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("unit", UNITS)
def test_any_unit(unit: float) -> None:
    expected, _ = RobustStandardize(1)(VALUES)
    transform = RobustStandardize(1)
    found, _ = transform(unit * VALUES)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(transform.stdvs, unit * VALUES.std().reshape(1, 1))
    torch.testing.assert_close(transform.untransform(found)[0], unit * VALUES)


@pytest.mark.parametrize("offset", [1e6, -1e9])
def test_a_large_offset(offset: float) -> None:
    found, _ = RobustStandardize(1)(offset + VALUES)
    torch.testing.assert_close(found, RobustStandardize(1)(VALUES)[0], rtol=0, atol=1e-6)
    assert not is_flat(offset + VALUES)


@pytest.mark.parametrize("unit", UNITS)
def test_variances_in_squared_units(unit: float) -> None:
    variance = float(VALUES.var())
    Yvar = column(0.0, 1.0, 2.0, 0.0, 1.0)
    _, found = RobustStandardize(1)(unit * VALUES, unit * (unit * Yvar))
    assert found is not None and found.isfinite().all()
    if unit**2 > 1e-300:
        expected = (Yvar / variance).clamp_min(MIN_NOISE_VARIANCE)
        torch.testing.assert_close(found, expected)
    elif unit**2 == 0:  # the variances themselves are no numbers: they came as zeros
        assert (found == MIN_NOISE_VARIANCE).all()


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e-3, -0.1, 1e6, 1e140, -1e150])
def test_rounding_is_no_variation(value: float) -> None:
    Y = torch.full((5, 1), value, dtype=torch.double)
    Y[0] *= 1 + 4 * torch.finfo(torch.double).eps
    assert is_flat(Y)
    mean, unit = location_and_unit(Y)
    assert float(unit) == pytest.approx(abs(value) or 1.0, rel=1e-12, abs=0)
    assert float(((Y - mean) / unit).abs().max()) < 1e-14


@pytest.mark.parametrize("variation", [1e-11, 1e-9, 1.0])
def test_small_variation_is_some(variation: float) -> None:
    assert not is_flat(1 + variation * VALUES)


def test_one_outcome_is_flat() -> None:
    assert is_flat(column(3.0))
    assert location_and_unit(column(3.0)) == (column(3.0), column(3.0))


def test_single_precision() -> None:
    Y = (1e30 * VALUES).float()
    torch.testing.assert_close(RobustStandardize(1)(Y)[0], RobustStandardize(1)(VALUES)[0].float())
    assert is_flat(1 + 1e-6 * VALUES.float() / 10) and not is_flat(1 + 1e-4 * VALUES.float())
