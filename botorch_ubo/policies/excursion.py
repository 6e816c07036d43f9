r"""The level that a random function exceeds somewhere in a box with a given probability.

A smooth stationary Gaussian process ``f`` with mean 0 and variance 1, whose partial derivatives
have standard deviations ``s_j``, exceeds a high level ``u`` somewhere in a box with sides ``w_j``
with a probability that is the expected Euler characteristic of the set where it does, but for an
error that is exponentially smaller ([Adler2007]_, Theorems 11.7.2 and 14.3.3):

``P(sup f >= u) ~ Q(u) + sum_k e_k (2 pi)^(-(k + 1) / 2) He_(k - 1)(u) exp(-u^2 / 2)``

with ``Q`` the tail of the normal distribution, ``e_k`` the elementary symmetric polynomials of
``w_j s_j``, the box's extents, and ``He`` Hermite's polynomials. Here ``u^(k - 1)`` stands for
``He_(k - 1)(u)``. It is larger above the polynomial's zeros, so that the level is a little too
high; below them, where the polynomial changes its sign, the approximation says nothing.

References:
    .. [Adler2007] R. J. Adler and J. E. Taylor. Random Fields and Geometry. Springer, 2007.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from botorch.exceptions.errors import InputDataError
from scipy.special import log_ndtr

_HIGHEST = 1e3  # a level that no box reaches whose extents are numbers
_POINTS = 2049  # of a grid of levels; each pass narrows it to one of its intervals
_PASSES = 3


def log_exceedances(u: np.ndarray, extents: Sequence[float]) -> np.ndarray:
    r"""Logarithm of the expected number of places where a level is exceeded.

    Args:
        u: Levels, zero or above.
        extents: Sides of the box times the standard deviations of the derivatives.

    Returns:
        An array of the shape of ``u``.
    """
    log_volumes = _log_symmetric(extents)
    with np.errstate(divide="ignore"):
        log_u = np.log(u)
    total = log_ndtr(-u)
    for k, log_volume in enumerate(log_volumes[1:], start=1):
        power = (k - 1) * log_u if k > 1 else 0.0
        constant = log_volume - 0.5 * (k + 1) * math.log(2 * math.pi)
        total = np.logaddexp(total, constant + power - u**2 / 2)
    return total


def excursion_level(extents: Sequence[float], probability: float) -> float:
    r"""The lowest level above which exceedances are rarer than some probability.

    Args:
        extents: Sides of the box times the standard deviations of the derivatives.
        probability: With which the level is exceeded somewhere in the box, below 1/2.

    Returns:
        The level, in standard deviations.

    Raises:
        InputDataError: If an extent is no finite number, zero or above, or the probability is not
            between 0 and 1/2.
    """
    if not all(0 <= extent < math.inf for extent in extents) or not 0 < probability < 0.5:
        raise InputDataError(
            "Expected finite extents that are not negative, and a probability between 0 and 1/2; "
            f"got {list(extents)} and {probability}."
        )
    low, high = 0.0, _HIGHEST
    for _ in range(_PASSES):
        # Terms of high order rise before they fall: the highest crossing counts.
        grid = np.linspace(low, high, _POINTS)
        above = np.flatnonzero(log_exceedances(grid, extents) > math.log(probability))
        last = int(above[-1]) if len(above) else 0
        low, high = float(grid[last]), float(grid[min(last + 1, _POINTS - 1)])
    return high


def _log_symmetric(values: Sequence[float]) -> np.ndarray:
    """Logarithms of the elementary symmetric polynomials, of orders 0 to ``len(values)``."""
    found = np.full(len(values) + 1, -np.inf)
    found[0] = 0.0
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(values, dtype=float))
    for log_value in logs:
        found[1:] = np.logaddexp(found[1:], found[:-1] + log_value)
    return found
