"""The descent ends where scipy's does, within bounds, and in fewer calls of a density."""

import numpy as np
import pytest
from scipy.optimize import Bounds, minimize

from botorch_ubo.models.quick.density import LogDensity
from botorch_ubo.models.quick.descent import Vector, descend
from tests.support.fits import make

WIDE = np.full(3, 10.0)


def bowl(p: Vector) -> tuple[float, Vector]:
    """A quadratic with minimum 7 at (1, 2, 3)."""
    scales = np.array([1.0, 10.0, 100.0])
    away = p - np.array([1.0, 2.0, 3.0])
    return 7.0 + 0.5 * float(scales @ away**2), scales * away


def test_a_bowl_to_a_hundredth_of_a_nat() -> None:
    p, value = descend(bowl, np.zeros(3), -WIDE, WIDE, np.eye(3) / 5)
    assert 7.0 <= value < 7.01
    assert value == bowl(p)[0]


def test_bounds_hold_and_the_rest_is_minimised() -> None:
    upper = np.array([10.0, 10.0, 2.5])
    p, value = descend(bowl, np.zeros(3), -WIDE, upper, np.eye(3) / 5)
    assert p[2] == 2.5
    assert value == pytest.approx(7 + 0.5 * 100 * 0.25, abs=0.01)


def test_a_start_in_a_corner_that_is_the_minimum_stays() -> None:
    corner = np.array([2.0, 4.0, 5.0])
    p, value = descend(bowl, corner, corner, WIDE, np.eye(3))
    assert p.tolist() == corner.tolist()
    assert value == bowl(corner)[0]


def test_without_a_descent_it_ends() -> None:
    """A gradient that lies: no step along it is lower."""
    p, value = descend(lambda p: (float(p @ p), -2 * p), np.ones(2), -WIDE[:2], WIDE[:2], np.eye(2))
    assert value <= 2.0
    assert (np.abs(p) <= 10).all()


def test_as_low_as_scipy_in_fewer_calls() -> None:
    """Of six densities together: rounding, which processors differ in, can turn a single one."""
    ours = theirs = 0
    for seed in range(6):
        density = LogDensity(make(20 + 5 * seed, 1 + seed, seed).train(), 1e-6)
        lower, upper = density.bounds.T
        calls = list[Vector]()

        def counted(
            p: Vector, density: LogDensity = density, calls: list[Vector] = calls
        ) -> tuple[float, Vector]:
            calls.append(p)
            return density(p)

        start = np.clip(density.modes, lower, upper)
        _, value = descend(counted, start, lower, upper, np.diag(1 / density.curvature))
        found = minimize(
            density,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(lower, upper),
            options={"ftol": 1e-10},
        )
        assert value <= found.fun + 0.05
        ours, theirs = ours + len(calls), theirs + found.nfev
    assert ours < theirs


def test_what_was_learned_of_a_bowl_is_written_down() -> None:
    inverse = np.eye(3) / 5
    descend(bowl, np.zeros(3), -WIDE, WIDE, inverse)
    calls = []

    def counted(p: Vector) -> tuple[float, Vector]:
        calls.append(p)
        return bowl(p)

    descend(counted, np.array([0.5, 1.5, 2.5]), -WIDE, WIDE, inverse)
    with_it = len(calls)
    descend(counted, np.array([0.5, 1.5, 2.5]), -WIDE, WIDE, np.eye(3) / 5)
    assert with_it < len(calls) - with_it
