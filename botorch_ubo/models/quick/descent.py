r"""Descend a density's negative logarithm: BFGS in a box, for a few parameters.

At tens of observations a call of the density costs less than what ``scipy.optimize.minimize`` does
around it. What is known of the problem saves a third of the calls: how large curvatures are at
first, and that differences below a hundredth of a nat do not matter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_TOLERANCE = 1e-2  # nats that another step promises
_FLAT = 0.1  # slope beyond which there may be more to gain than a step promises
_LONGEST_STEP = 2.0  # of a logarithm
_MAX_STEPS, _MAX_TRIALS = 60, 8
_SUFFICIENT = 1e-4  # of the promised decrease [Nocedal2006, equation 3.4]


def descend(
    function: Callable[[Vector], tuple[float, Vector]],
    start: Vector,
    lower: Vector,
    upper: Vector,
    curvature: Vector,
) -> tuple[Vector, float]:
    r"""A minimum near a start.

    Args:
        function: Value and gradient at a ``k``-dim vector.
        start: ``k``-dim, within the bounds.
        lower: ``k``-dim.
        upper: ``k``-dim.
        curvature: ``k``-dim: a guess at the second derivatives.

    Returns:
        The minimum, and its value.

    References:
        [Nocedal2006] J. Nocedal and S. J. Wright. Numerical Optimization. Springer, 2006.
    """
    p = start
    value, gradient = function(p)
    inverse = np.diag(1 / curvature)
    for _ in range(_MAX_STEPS):
        held = ((p <= lower) & (gradient > 0)) | ((p >= upper) & (gradient < 0))
        free = np.where(held, 0.0, gradient)
        step = -(inverse @ free)
        step[held] = 0.0
        slope = float(gradient @ step)
        # The first guess of a curvature may be far too large where the data do not tell of one.
        if slope >= 0 or (slope > -_TOLERANCE and np.abs(free).max() < _FLAT):
            break
        shorter = min(1.0, _LONGEST_STEP / float(np.abs(step).max()))
        found = _search_line(function, p, value, shorter * step, shorter * slope, lower, upper)
        if found is None:
            break
        q, value, new_gradient = found
        _update(inverse, q - p, new_gradient - gradient)
        p, gradient = q, new_gradient
    return p, value


def _search_line(
    function: Callable[[Vector], tuple[float, Vector]],
    p: Vector,
    value: float,
    step: Vector,
    slope: float,
    lower: Vector,
    upper: Vector,
) -> tuple[Vector, float, Vector] | None:
    """A point on the way that is lower, with value and gradient; ``None`` if there is none."""
    length = 1.0
    for _ in range(_MAX_TRIALS):
        q = np.minimum(np.maximum(p + length * step, lower), upper)
        new, gradient = function(q)
        if new <= value + _SUFFICIENT * length * slope:
            return q, new, gradient
        # The minimum of the parabola through what is known, but neither too far nor too near.
        excess = new - value - slope * length
        length = float(np.clip(-slope * length**2 / (2 * excess), 0.1 * length, 0.5 * length))
    return None


def _update(inverse: Vector, step: Vector, change: Vector) -> None:
    """BFGS's update of the inverse Hessian, in place [Nocedal2006, equation 6.17]."""
    curvature = float(step @ change)
    if not curvature > 0:  # no minimum along this step; what is known stays
        return
    moved = inverse @ change
    outer = np.outer(moved, step)
    inverse += (1 + change @ moved / curvature) / curvature * np.outer(step, step)
    inverse -= (outer + outer.T) / curvature
