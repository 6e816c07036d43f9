"""The climb from many starts at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from botorch_ubo.models.quick import Array, ascend

D = 4


def hill(points: Array, gradient: bool = True) -> tuple[Array, Array]:
    """A curved, badly scaled ridge; its maximum, 0, is at ones."""
    x, y = points[:, :-1], points[:, 1:]
    away = y - x**2
    values = -(30 * away**2 + (1 - x) ** 2).sum(axis=-1)
    slopes = np.zeros_like(points)
    slopes[:, :-1] += 120 * away * x + 2 * (1 - x)
    slopes[:, 1:] -= 60 * away
    return values, slopes


def plateau(points: Array, gradient: bool = True) -> tuple[Array, Array]:
    return np.zeros(len(points)), np.zeros_like(points)


@pytest.mark.parametrize("upper", [2.0, 0.6])
def test_it_finds_what_scipy_finds_within_the_box(upper: float) -> None:
    lower, high = np.full(D, -1.0), np.full(D, upper)
    starts = np.random.default_rng(0).uniform(-1.0, upper, (8, D))
    point, value = ascend(hill, starts, lower, high)
    bounds = [(-1.0, upper)] * D
    best = max(-minimize(lambda p: -hill(p[None])[0][0], s, bounds=bounds).fun for s in starts)
    assert value > best - 1e-4
    assert value == hill(point[None])[0][0]
    assert (point >= lower).all() and (point <= high).all()


def test_a_side_that_holds_a_point_does_not_slow_the_others() -> None:
    calls = []

    def counted(points: Array, gradient: bool = True) -> tuple[Array, Array]:
        calls.append(len(points))
        slopes = np.array([1.0, 0.0, 0.0]) - (points @ matrix)
        return points[:, 0] - 0.5 * np.einsum("bi,ij,bj->b", points, matrix, points), slopes

    matrix = np.array([[2.0, 0.9, 0.3], [0.9, 5.0, 2.0], [0.3, 2.0, 20.0]])
    starts = np.random.default_rng(1).uniform(-0.5, 0.2, (6, 3))
    point, _ = ascend(counted, starts, np.full(3, -0.5), np.full(3, 0.2))
    assert point[0] == 0.2
    assert len(calls) < 25


def test_plateaus_and_missing_numbers_end_a_climb_and_not_the_search() -> None:
    def partly(points: Array, gradient: bool = True) -> tuple[Array, Array]:
        values, slopes = hill(points)
        values[points[:, 0] < 0] = np.nan
        slopes[points[:, 0] < 0] = np.nan
        return values, slopes

    starts = np.array([[-0.5] * D, [0.5] * D])
    _, value = ascend(partly, starts, np.full(D, -1.0), np.full(D, 2.0))
    assert value > -1e-4
    _, level = ascend(plateau, starts, np.full(D, -1.0), np.full(D, 2.0))
    assert level == 0.0
