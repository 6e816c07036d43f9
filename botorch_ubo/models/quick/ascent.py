r"""Climb a formula from many points at once: BFGS in a box, all rows in one call of the formula.

At tens of observations a formula costs as much for sixteen points as for one, and what an optimiser
does around it for each of them costs more than both. Here every row has its own inverse Hessian and
length of step, and all are tried together: one whose trial is refused tries a shorter step while
the others go on. Rows that have come to an end, or promise too little to become the best, leave.
"""

from __future__ import annotations

import math

import numpy as np

from botorch_ubo.models.quick.factored import Array
from botorch_ubo.models.quick.written_out import ValuesAndGradients

_TOLERANCE = 1e-5  # of a logarithm, that another step promises
_LONGEST_STEP = 1.0  # length-scales in any dimension
_SHORTEST_STEP = 1e-6  # of the one that was to be taken first
_MAX_CALLS = 120
_SUFFICIENT = 1e-4  # of the promised increase [Nocedal2006, equation 3.4]
_LEAST_CURVATURE = 1e-12  # of a step that anything is learned from
_PATIENCE, _CATCH_UP = 2, 2.0  # calls, and times what a step promises, before a row is given up


def ascend(
    formula: ValuesAndGradients, starts: Array, lower: Array, upper: Array
) -> tuple[Array, float]:
    r"""The best point that is reached from some starts.

    Args:
        formula: Values, in logarithms, and gradients at ``b x d`` points in length-scales.
        starts: ``b x d``, within the bounds.
        lower: ``d``-dim.
        upper: ``d``-dim.

    Returns:
        A ``d``-dim point, and its value; a NaN counts as minus infinity.

    References:
        [Nocedal2006] J. Nocedal and S. J. Wright. Numerical Optimization. Springer, 2006.
    """
    points = starts
    values, gradients = _evaluate(formula, points)
    # A first step of a tenth of a length-scale where the slope is steep, of the slope where not.
    scale = 1 / np.maximum(10 * np.abs(gradients).max(axis=-1), 1.0)
    inverse = scale[:, None, None] * np.eye(points.shape[-1])
    lengths = np.ones(len(points))
    fresh = np.ones(len(points), dtype=bool)
    index = int(values.argmax())
    best, best_value = points[index], values[index]
    steps, slopes = _directions(points, gradients, inverse, lower, upper)
    for call in range(_MAX_CALLS):
        going = slopes > _TOLERANCE
        if call >= _PATIENCE:
            going &= values + _CATCH_UP * slopes > best_value
            going &= lengths > _SHORTEST_STEP
        count = np.count_nonzero(going)
        if count < len(going):
            if not count:
                break
            points, values, gradients = points[going], values[going], gradients[going]
            inverse, lengths, fresh = inverse[going], lengths[going], fresh[going]
            steps, slopes = steps[going], slopes[going]
        trial = np.minimum(np.maximum(points + lengths[:, None] * steps, lower), upper)
        new_values, new_gradients = _evaluate(formula, trial)
        gain, way = new_values - values, lengths * slopes
        good = gain >= _SUFFICIENT * way
        taken, changes = trial - points, gradients - new_gradients
        if np.count_nonzero(good) == len(good):
            points, values, gradients = trial, new_values, new_gradients
            lengths[:] = 1.0
        else:
            # The maximum of the parabola through what is known, neither too far nor too near.
            share = 0.5 * way / np.maximum(way - gain, 1e-300)
            shorter = lengths * np.minimum(np.maximum(share, 0.1), 0.5)
            lengths = np.where(good, 1.0, shorter)
            taken[~good] = 0.0
            points = points + taken
            values = np.where(good, new_values, values)
            gradients = np.where(good[:, None], new_gradients, gradients)
        _update(inverse, taken, changes, fresh)
        index = int(values.argmax())
        if values[index] > best_value:
            best, best_value = points[index], values[index]
        steps, slopes = _directions(points, gradients, inverse, lower, upper)
    return best, float(best_value)


def _evaluate(formula: ValuesAndGradients, points: Array) -> tuple[Array, Array]:
    values, gradients = formula(points)
    if math.isfinite(np.vdot(values, values) + np.vdot(gradients, gradients)):  # as a rule
        return values, gradients
    gradients = np.nan_to_num(gradients, nan=0.0, posinf=0.0, neginf=0.0)
    return np.where(np.isnan(values), -np.inf, values), gradients


def _directions(
    points: Array, gradients: Array, inverse: Array, lower: Array, upper: Array
) -> tuple[Array, Array]:
    """Where to step (``b x d``) and the slopes that way; sides that hold a point hold it."""
    held = points == np.where(gradients > 0, upper, lower)
    if np.count_nonzero(held):
        gradients = np.where(held, 0.0, gradients)
        steps = (inverse @ gradients[:, :, None])[:, :, 0]
        steps[held] = 0.0
    else:
        steps = (inverse @ gradients[:, :, None])[:, :, 0]
    longest = np.maximum.reduce(np.abs(steps), axis=-1) / _LONGEST_STEP
    steps /= np.maximum(longest, 1.0)[:, None]
    return steps, np.einsum("bi,bi->b", gradients, steps)


def _update(inverse: Array, steps: Array, changes: Array, fresh: Array) -> None:
    """BFGS's update of every inverse Hessian, in place [Nocedal2006, equation 6.17].

    One that has learned nothing yet is first brought to the scale of what it learns [equation
    6.20].
    """
    # Of what a side holds nothing is learned: the rest is to be right without it.
    changes = changes * (steps != 0.0)
    curvatures = np.einsum("bi,bi->b", steps, changes)
    # No maximum along a step, or none taken: what is known stays.
    usable = curvatures > _LEAST_CURVATURE
    scales = usable / np.maximum(curvatures, _LEAST_CURVATURE)
    first = fresh & usable
    if np.count_nonzero(first):
        squares = np.einsum("bi,bi->b", changes, changes)
        inverse[first] = np.eye(steps.shape[-1]) * (curvatures / squares)[first, None, None]
        fresh[first] = False
    moved = (inverse @ changes[:, :, None])[:, :, 0]
    weight = 0.5 * (1 + scales * np.einsum("bi,bi->b", changes, moved))
    # The two terms as one product: s (w s / 2 - H y) + its transpose.
    half = scales[:, None] * (weight[:, None] * steps - moved)
    outer = steps[:, :, None] * half[:, None, :]
    inverse += outer
    inverse += outer.transpose(0, 2, 1)
