r"""Climb a formula from many points at once: BFGS in a box, all rows in one call of the formula.

At tens of observations a formula costs as much for sixteen points as for one, and what an optimiser
does around it for each of them costs more than both. Here every row has its own inverse Hessian and
length of step, and all are tried together: one whose trial is refused tries a shorter step while
the others go on. Rows that have come to an end, or promise too little to become the best, leave.
"""

from __future__ import annotations

import numpy as np

from botorch_ubo.models.quick.factored import Array
from botorch_ubo.models.quick.written_out import ValuesAndGradients

_TOLERANCE = 1e-5  # of a logarithm, that another step promises
_LONGEST_STEP = 1.0  # length-scales in any dimension
_SHORTEST_STEP = 1e-6  # of the one that was to be taken first
_MAX_CALLS = 120
_SUFFICIENT = 1e-4  # of the promised increase [Nocedal2006, equation 3.4]
_PATIENCE, _CATCH_UP = 2, 20.0  # calls, and times what a step promises, before a row is given up


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
    inverse = np.zeros((*points.shape, points.shape[-1]))
    diagonal = np.einsum("bii->bi", inverse)
    # A first step of a tenth of a length-scale where the slope is steep, of the slope where not.
    diagonal[:] = 1 / np.maximum(10 * np.abs(gradients).max(axis=-1), 1.0)[:, None]
    lengths = np.ones(len(points))
    fresh = np.ones(len(points), dtype=bool)
    index = int(values.argmax())
    best, best_value = points[index], values[index]
    steps, slopes = _directions(points, gradients, inverse, lower, upper)
    for call in range(_MAX_CALLS):
        going = (slopes > _TOLERANCE) & (lengths > _SHORTEST_STEP)
        if call >= _PATIENCE:
            going &= values + _CATCH_UP * slopes > best_value
        if not going.all():
            if not going.any():
                break
            points, values, gradients = points[going], values[going], gradients[going]
            inverse, lengths, fresh = inverse[going], lengths[going], fresh[going]
            steps, slopes = steps[going], slopes[going]
        trial = np.minimum(np.maximum(points + lengths[:, None] * steps, lower), upper)
        new_values, new_gradients = _evaluate(formula, trial)
        gain = new_values - values
        good = gain >= _SUFFICIENT * lengths * slopes
        if good.all():
            _update(inverse, trial - points, gradients - new_gradients, fresh)
            points, values, gradients = trial, new_values, new_gradients
            lengths[:] = 1.0
        else:
            # The maximum of the parabola through what is known, neither too far nor too near.
            way = lengths * slopes
            shorter = lengths * np.clip(0.5 * way / np.maximum(way - gain, 1e-300), 0.1, 0.5)
            lengths = np.where(good, 1.0, shorter)
            kept = good[:, None]
            taken = np.where(kept, trial - points, 0.0)
            _update(inverse, taken, gradients - new_gradients, fresh)
            points = np.where(kept, trial, points)
            values = np.where(good, new_values, values)
            gradients = np.where(kept, new_gradients, gradients)
        index = int(values.argmax())
        if values[index] > best_value:
            best, best_value = points[index], values[index]
        steps, slopes = _directions(points, gradients, inverse, lower, upper)
    return best, float(best_value)


def _evaluate(formula: ValuesAndGradients, points: Array) -> tuple[Array, Array]:
    values, gradients = formula(points)
    if not np.isfinite(gradients).all():
        gradients = np.nan_to_num(gradients, nan=0.0, posinf=0.0, neginf=0.0)
    return np.where(np.isnan(values), -np.inf, values), gradients


def _directions(
    points: Array, gradients: Array, inverse: Array, lower: Array, upper: Array
) -> tuple[Array, Array]:
    """Where to step (``b x d``) and the slopes that way; sides that hold a point hold it."""
    held = ((points <= lower) & (gradients < 0)) | ((points >= upper) & (gradients > 0))
    free = np.where(held, 0.0, gradients)
    steps = (inverse @ free[:, :, None])[:, :, 0]
    steps[held] = 0.0
    longest = np.maximum(steps.max(axis=-1), -steps.min(axis=-1)) / _LONGEST_STEP
    steps /= np.maximum(longest, 1.0)[:, None]
    return steps, np.einsum("bi,bi->b", free, steps)


def _update(inverse: Array, steps: Array, changes: Array, fresh: Array) -> None:
    """BFGS's update of every inverse Hessian, in place [Nocedal2006, equation 6.17].

    One that has learned nothing yet is first brought to the scale of what it learns [equation
    6.20].
    """
    # Of what a side holds nothing is learned: the rest is to be right without it.
    changes = np.where(steps == 0.0, 0.0, changes)
    curvatures = np.einsum("bi,bi->b", steps, changes)
    # No maximum along a step, or none taken: what is known stays.
    usable = curvatures > 1e-12
    scales = np.where(usable, 1 / np.where(usable, curvatures, 1.0), 0.0)
    first = fresh & usable
    if first.any():
        squares = np.einsum("bi,bi->b", changes, changes)
        inverse[first] = np.eye(steps.shape[-1]) * (curvatures / squares)[first, None, None]
        fresh[first] = False
    moved = (inverse @ changes[:, :, None])[:, :, 0]
    weight = (1 + scales * np.einsum("bi,bi->b", changes, moved)) * scales
    # The two terms as one product: s (w s / 2 - H y) + its transpose.
    half = 0.5 * weight[:, None] * steps - scales[:, None] * moved
    outer = steps[:, :, None] * half[:, None, :]
    inverse += outer
    inverse += outer.transpose(0, 2, 1)
