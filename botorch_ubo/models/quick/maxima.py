r"""Where the density of the hyper-parameters is largest, among several maxima."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from botorch_ubo.models.quick.density import LogDensity, Vector
from botorch_ubo.models.quick.descent import PATIENT, TOLERANCE, Patience, descend

EXACT_NOISE = 1e-6
"""Noise of exact observations, relative to the outcomes' variance: what gpytorch allows."""
MIN_NOISE = 1e-4
"""Least noise that is inferred, as in BoTorch, where the model's constraint allows less."""
START_SHARES = (-0.6, -0.2, 0.2, 0.6, 1.0)  # of the way from the mode to the median
_SHORT, _BETWEEN, _LONG = -0.2, 0.4, 1.0  # of the same way: a dimension matters, or does not
_MOST_FLIPS = 12  # length-scales, the shortest, that are tried on the other side
_MUCH_NOISE = 0.3
_ROUGHLY = 0.1  # nats that do not matter as long as noise is only compared with none
_LESS_PATIENT = Patience(steps=4, catch_up=6.0)
_HOPELESS = 30.0, 6.0  # nats that a descent is not expected to make up for, and per length-scale


@dataclass(frozen=True)
class Maximum:
    """A maximum of a density, of which the negative is minimised, or a place to look for one."""

    density: LogDensity
    p: Vector
    value: float
    inverse: Vector | None = None
    """``k x k``: what a descent has learned of the inverse second derivatives."""


def find_maximum(density: LogDensity, try_exact: bool, max_roughening: float) -> Maximum:
    r"""The best maximum from all starts, of both densities if observations may be exact.

    Args:
        density: The density of what is to be inferred.
        try_exact: Whether observations may turn out to be exact.
        max_roughening: Up to this ratio of inverse length-scales (their norms), exact observations
            have even odds.

    Returns:
        The maximum.
    """
    line = _within_bounds(density, _line(density))
    kernels = density.kernels_along(line)
    start = _best(density, line, kernels)
    if density.noise is not None:
        found = start
    elif try_exact and density.bounds[-1, 0] < math.log(1.01 * EXACT_NOISE):
        exact = density.with_noise(EXACT_NOISE)
        found = _with_noise_or_without(start, _best(exact, line[:, :-1], kernels), max_roughening)
    else:
        found = _with_noise(start)
    if found.density is density:  # which was descended roughly, if at all
        found = _descend(found)
    flipped = _within_bounds(found.density, _flips(found))
    return _rival(_best(found.density, flipped), found, _LESS_PATIENT)


def _with_noise_or_without(start: Maximum, exact: Maximum, max_roughening: float) -> Maximum:
    """The maximum with inferred noise, or with exact observations, which have even odds.

    Where there is much for them at the start, exact observations come first, since that may spare
    the other descent. With noise, it is the shorter one.
    """
    if exact.value < start.value - _hopeless(start):
        without = _descend(exact)
        noisy = _with_noise(start, without)
        again = _best(exact.density, noisy.p[None, :-1])
        if again.value < without.value:
            without = _descend(again, without)
    else:
        noisy = _with_noise(start)
        nearer = _best(exact.density, noisy.p[None, :-1])
        if nearer.value < exact.value:
            exact = Maximum(nearer.density, nearer.p, nearer.value, _without_last(noisy.inverse))
        limit = noisy.value + _handicap(start.density, noisy.p[-1])
        if exact.value > limit + _hopeless(exact):
            return noisy
        without = _descend(exact, target=limit)
    if not without.value < noisy.value + _handicap(start.density, noisy.p[-1]):
        return noisy
    roughness = start.density.roughness
    smooth = roughness(without.p) < max_roughening * roughness(noisy.p)
    return without if smooth or without.value < noisy.value else noisy


def _with_noise(start: Maximum, exact: Maximum | None = None) -> Maximum:
    """The maximum with inferred noise; how far it was sought, if exact observations are better."""
    density = start.density
    if exact is not None:
        levels = (MIN_NOISE, math.exp(density.modes[-1]))
        near = np.array([[*exact.p, math.log(level)] for level in levels])
        near = _within_bounds(density, near)
        start = min(start, _best(density, near, density.kernels_along(near)), key=_value)
    target = np.inf if exact is None else exact.value
    found = _descend(start, target=target, tolerance=_ROUGHLY)
    much = _line(density)[-1:]
    much[:, -1] = math.log(_MUCH_NOISE)
    return _rival(_best(density, _within_bounds(density, much)), found)


def _rival(start: Maximum, found: Maximum, patience: Patience = PATIENT) -> Maximum:
    """The maximum that a start leads to, if it is better than the one that is found."""
    if start.value > found.value + _hopeless(start):
        return found
    return _descend(start, found, found.value, patience=patience)


def _descend(
    start: Maximum,
    found: Maximum | None = None,
    target: float = np.inf,
    tolerance: float = TOLERANCE,
    patience: Patience = PATIENT,
) -> Maximum:
    """The maximum near a start, or the one that is found if that is better."""
    density, inverse = start.density, start.inverse
    if inverse is None:
        inverse = np.diag(1 / density.curvature)
    p, value = descend(density, start.p, *_bounds(density), inverse, target, tolerance, patience)
    if found is not None and not value < found.value:
        return found
    return Maximum(density, p, value, inverse)


def _best(density: LogDensity, starts: Vector, kernels: Vector | None = None) -> Maximum:
    """The best of some places (``b x k``), as a start."""
    values = [
        density.value(p, None if kernels is None else kernels[i]) for i, p in enumerate(starts)
    ]
    index = int(np.argmin(values))
    return Maximum(density, starts[index], values[index])


def _hopeless(start: Maximum) -> float:
    in_all, each = _HOPELESS
    return max(in_all, each * start.density.X.shape[-1])


def _value(found: Maximum) -> float:
    return found.value


def _without_last(inverse: Vector | None) -> Vector | None:
    """The inverse of a matrix without its last row and column, from its inverse."""
    if inverse is None:
        return None
    last = inverse[:-1, -1]
    return inverse[:-1, :-1] - last[:, None] * (last / inverse[-1, -1])


def _bounds(density: LogDensity) -> tuple[Vector, Vector]:
    lower, upper = density.bounds.T.copy()
    if density.noise is None:
        lower[-1] = max(lower[-1], math.log(MIN_NOISE))
    return lower, upper


def _within_bounds(density: LogDensity, starts: Vector) -> Vector:
    lower, upper = _bounds(density)
    return np.minimum(np.maximum(starts, lower), upper)


def _handicap(density: LogDensity, log_noise: float) -> float:
    """Nats by which a density with noise exceeds all of it together.

    It is one per unit of noise, against one without. By Laplace's approximation, with a posterior
    of unit width in log(noise), all noise together has this much less.
    """
    return math.log(density.scale[-1]) - log_noise


def _line(density: LogDensity) -> Vector:
    """Priors' modes, with length-scales from below them to their medians, a row each.

    The value alone is had at less than half the cost of a step, so they are many.
    """
    d = density.X.shape[-1]
    starts = np.tile(density.modes, (len(START_SHARES), 1))
    starts[:, :d] += np.array(START_SHARES)[:, None] * density.scale[:d] ** 2
    return starts


def _flips(found: Maximum) -> Vector:
    """A maximum with one length-scale or another long if it is short, and short if it is long.

    Most maxima differ by which dimensions matter.
    """
    density, d = found.density, found.density.X.shape[-1]
    modes, ways = density.modes[:d], density.scale[:d] ** 2
    is_short = found.p[:d] < modes + _BETWEEN * ways
    others = modes + np.where(is_short, _LONG, _SHORT) * ways
    dims = np.argsort(found.p[:d], kind="stable")[:_MOST_FLIPS]
    starts = np.tile(found.p, (len(dims), 1))
    starts[np.arange(len(dims)), dims] = others[dims]
    return starts
