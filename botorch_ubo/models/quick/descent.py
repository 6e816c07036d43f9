r"""Descend a density's negative logarithm: BFGS in a box, for a few parameters.

At tens of observations a call of the density costs less than what ``scipy.optimize.minimize`` does
around it. What is known of the problem saves a third of the calls: how large curvatures are at
first, and that differences of thousandths of a nat do not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

TOLERANCE = 5e-3
"""Nats that another step promises, below which there is none."""
_FLAT = 0.1  # slope beyond which there may be more to gain than a step promises
_LONGEST_STEP = 2.0  # of a logarithm
_MAX_STEPS, _MAX_TRIALS = 60, 8
_SUFFICIENT = 1e-4  # of the promised decrease [Nocedal2006, equation 3.4]


class Patience(NamedTuple):
    """When a descent with a target is given up."""

    steps: int
    """That it has at least."""
    catch_up: float
    """Times what a step promises, that it is expected to make up for."""


PATIENT = Patience(steps=6, catch_up=10.0)


def descend(
    function: Callable[[Vector], tuple[float, Vector]],
    start: Vector,
    lower: Vector,
    upper: Vector,
    inverse: Vector,
    target: float = np.inf,
    tolerance: float = TOLERANCE,
    patience: Patience = PATIENT,
) -> tuple[Vector, float]:
    r"""A minimum near a start.

    Args:
        function: Value and gradient at a ``k``-dim vector.
        start: ``k``-dim, within the bounds.
        lower: ``k``-dim.
        upper: ``k``-dim.
        inverse: ``k x k``: a guess at the inverse second derivatives, in which what is learned of
            them is written.
        target: A value to come below; a descent that promises too little for that is given up.
        tolerance: Nats that another step has to promise.
        patience: When to give up.

    Returns:
        The minimum, and its value; or where it was given up.

    References:
        [Nocedal2006] J. Nocedal and S. J. Wright. Numerical Optimization. Springer, 2006.
    """
    p = start
    value, gradient = function(p)
    flat = _FLAT * max(1.0, tolerance / TOLERANCE) ** 0.5
    for count in range(_MAX_STEPS):
        held = p == np.where(gradient > 0, lower, upper)
        free = gradient
        if np.count_nonzero(held):
            free = np.where(held, 0.0, gradient)
        step = inverse @ -free
        if free is not gradient:
            step[held] = 0.0
        slope = float(free @ step)
        # The first guess of a curvature may be far too large where the data do not tell of one.
        if slope >= 0 or (slope > -tolerance and np.abs(free).max() < flat):
            break
        if count >= patience.steps and value + patience.catch_up * slope > target:
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
    # A function may have its value sooner than its gradient, which a refused trial does not need.
    unless_above = getattr(function, "unless_above", None)
    length = 1.0
    for _ in range(_MAX_TRIALS):
        q = np.minimum(np.maximum(p + length * step, lower), upper)
        limit = value + _SUFFICIENT * length * slope
        new, gradient = function(q) if unless_above is None else unless_above(q, limit)
        if new <= limit:
            return q, new, gradient
        # The minimum of the parabola through what is known, but neither too far nor too near.
        excess = new - value - slope * length
        shorter = -slope * length**2 / (2 * excess)
        length = min(max(shorter, 0.1 * length), 0.5 * length)
    return None


def _update(inverse: Vector, step: Vector, change: Vector) -> None:
    """BFGS's update of the inverse Hessian, in place [Nocedal2006, equation 6.17]."""
    # Of what a bound holds nothing is learned: the rest is to be right without it.
    change = change * (step != 0.0)
    curvature = float(step @ change)
    if not curvature > 0:  # no minimum along this step; what is known stays
        return
    moved = inverse @ change
    # The two terms as one product: s (w s / 2 - H y) + its transpose.
    half = (0.5 + 0.5 * float(change @ moved) / curvature) * step - moved
    outer = step[:, None] * (half / curvature)
    inverse += outer
    inverse += outer.T
