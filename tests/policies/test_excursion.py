"""The level that a random function exceeds in a box: formulas by hand, limits, simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from botorch.exceptions.errors import InputDataError
from scipy.special import ndtri
from scipy.stats import norm

from botorch_ubo.policies.excursion import excursion_level, log_exceedances


def test_rices_formula_in_one_dimension() -> None:
    """Up-crossings of a level by a process with slope 1 over 20 units, and its value at an end."""
    expected = norm.sf(2.0) + 20 / (2 * math.pi) * math.exp(-2.0)
    assert np.exp(log_exceedances(np.array([2.0]), [20.0])) == pytest.approx([expected])


def test_two_dimensions_by_hand() -> None:
    """Corner, edges of 3 and 5, and the area of 15."""
    edge, area = math.exp(-4.5) / (2 * math.pi), 3 * math.exp(-4.5) / (2 * math.pi) ** 1.5
    expected = norm.sf(3.0) + (3 + 5) * edge + 15 * area
    assert np.exp(log_exceedances(np.array([3.0]), [3.0, 5.0])) == pytest.approx([expected])


@pytest.mark.parametrize("extents", [[5.0], [20.0, 3.0], [5.0] * 4, [0.3] * 6, [5.0] * 20])
@pytest.mark.parametrize("probability", [0.01, 0.1, 0.45])
def test_above_the_level_exceedances_are_rarer(extents: list[float], probability: float) -> None:
    level = excursion_level(extents, probability)
    assert np.exp(log_exceedances(np.array([level]), extents)) == pytest.approx(
        [probability], rel=1e-4
    )
    above = log_exceedances(np.linspace(level + 1e-4, level + 20, 5000), extents)
    assert above.max() < math.log(probability)


def test_a_point_has_the_normal_quantile() -> None:
    for extents in ([0.0], [0.0, 0.0, 0.0]):
        assert excursion_level(extents, 0.1) == pytest.approx(-ndtri(0.1), abs=1e-5)


def test_it_grows_with_every_side_and_falls_with_the_probability() -> None:
    for d in (1, 3, 10):
        levels = [excursion_level([side] * d, 0.1) for side in (0.01, 0.3, 1, 3, 10, 100)]
        assert levels == sorted(levels) and levels[0] < levels[-1]
    assert excursion_level([5.0, 6.0], 0.1) > excursion_level([5.0, 5.0], 0.1)
    assert excursion_level([5.0], 0.05) > excursion_level([5.0], 0.1)


def test_boxes_of_any_size() -> None:
    """The logarithm of a volume can be far above that of the largest number."""
    assert 40 < excursion_level([1e4] * 100, 0.1) < 60
    assert 200 < excursion_level([1e100] * 100, 0.1) < 300


@pytest.mark.parametrize(
    ("extents", "probability"),
    [([math.nan, 1.0], 0.1), ([math.inf], 0.1), ([-1.0], 0.1), ([1.0], 0.5), ([1.0], math.nan)],
)
def test_what_has_no_level_is_refused(extents: list[float], probability: float) -> None:
    with pytest.raises(InputDataError, match="Expected finite extents"):
        excursion_level(extents, probability)
