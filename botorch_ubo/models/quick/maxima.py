r"""Where the density of the hyper-parameters is largest, among several maxima."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from botorch_ubo.models.quick.density import LogDensity, Vector
from botorch_ubo.models.quick.descent import descend

EXACT_NOISE = 1e-6
"""Noise of exact observations, relative to the outcomes' variance: what gpytorch allows."""
MIN_NOISE = 1e-4
"""Least noise that is inferred, as in BoTorch, where the model's constraint allows less."""
START_SHARES = (-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0)  # of the way from the mode to the median
_NUM_DRAWS = 8
_MUCH_NOISE = 0.3
_HOPELESS = 30.0  # nats that a descent is not expected to make up for


@dataclass(frozen=True)
class Maximum:
    """A maximum of a density, of which the negative is minimised."""

    density: LogDensity
    p: Vector
    value: float


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
    found = _minimize(density, _starts(density))
    if density.noise is None:
        noisy = _starts(density)[-1]
        noisy[-1] = math.log(_MUCH_NOISE)
        found = _minimize(density, [noisy], found)
        if try_exact and density.bounds[-1, 0] < math.log(1.01 * EXACT_NOISE):
            exact = density.with_noise(EXACT_NOISE)
            starts = [*_starts(exact), found.p[:-1]]
            other = _minimize(exact, starts, found, _handicap(density, found.p[-1]))
            smooth = density.roughness(other.p) < max_roughening * density.roughness(found.p)
            if smooth or other.value < found.value:
                found = other
    return _minimize(found.density, _draws(found.density), found)


def _draws(density: LogDensity) -> list[Vector]:
    """A few draws between modes and medians of the priors, others with every number of data."""
    generator = np.random.default_rng(len(density.X))
    center = density.loc - 0.5 * density.scale**2
    return [*(center + 0.7 * density.scale * generator.standard_normal((_NUM_DRAWS, len(center))))]


def _handicap(density: LogDensity, log_noise: float) -> float:
    """Nats by which a density with noise exceeds all of it together.

    It is one per unit of noise, against one without. By Laplace's approximation, with a posterior
    of unit width in log(noise), all noise together has this much less.
    """
    return math.log(density.scale[-1]) - log_noise


def _starts(density: LogDensity) -> list[Vector]:
    """Priors' modes, with length-scales from below them to their medians.

    The value alone is had at less than half the cost of a step, so they are many.
    """
    d = density.X.shape[-1]
    starts = []
    for share in START_SHARES:
        start = density.modes.copy()
        start[:d] += share * density.scale[:d] ** 2
        starts.append(start)
    return starts


def _minimize(
    density: LogDensity,
    starts: list[Vector],
    rival: Maximum | None = None,
    handicap: float = 0.0,
) -> Maximum:
    """Descend from the best of the starts; the rival, if that comes out or is sure to be better.

    The handicap is the rival's, in nats.
    """
    lower, upper = density.bounds.T.copy()
    if density.noise is None:
        lower[-1] = max(lower[-1], math.log(MIN_NOISE))
    starts = [np.clip(start, lower, upper) for start in starts]
    values = [density.value(start) for start in starts]
    if rival is not None and min(values) > rival.value + handicap + _HOPELESS:
        return rival
    start = starts[int(np.argmin(values))]
    target = np.inf if rival is None else rival.value + handicap
    p, value = descend(density, start, lower, upper, density.curvature, target)
    if rival is not None and not value < rival.value + handicap:
        return rival
    return Maximum(density, p, value)
