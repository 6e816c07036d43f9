r"""The starts of :mod:`botorch_ubo.acquisition.search.starts`, for a formula in numpy.

The same three sources (near the data, on the shell where they cease to matter, space-filling) are
in the units of the formula. The best few samples are looked around once more: where a ripple is
much narrower than a length-scale, the best sample is on the wrong one.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import qmc
from torch import Tensor

from botorch_ubo.acquisition.search.starts import Neighborhood, best_apart
from botorch_ubo.models.quick import Array, ClosedForm
from botorch_ubo.models.space import from_model_space

_AROUND = 16  # data, and samples, that are looked around
_RESERVED = 4  # of which one restart is of the space-filling part


def quick_starts(
    form: ClosedForm,
    box: Array,
    neighborhood: Neighborhood,
    seed: int,
    num_restarts: int,
    raw_samples: int,
) -> Array:
    r"""Draw samples and keep the most promising, well apart.

    Args:
        form: The formula.
        box: ``2 x d``, in its units.
        neighborhood: The data and their reach.
        seed: Of a private generator.
        num_restarts: The number of starts.
        raw_samples: The number of samples.

    Returns:
        At most ``num_restarts`` rows, ``b x d``.
    """
    X, lengths, reach = _in_units_of(form, neighborhood)
    lower, upper = box
    generator = np.random.default_rng(seed)
    d, part = X.shape[-1], raw_samples // 4
    shift = generator.random(d)
    normal = _normals(d, 3 * part, int(generator.integers(3 * part)))
    normal = normal * (1.0 - 2.0 * generator.integers(2, size=d))
    sizes = generator.permuted(_fractions(part), axis=-1)
    filling = _sobol(d, 2 * part) + shift
    filling -= filling >= 1.0
    filling *= upper - lower
    filling += lower
    inside = np.minimum(np.maximum(X, lower), upper)
    at_data = _values(form, inside)
    top = _best(at_data, _AROUND)
    near = _around(inside[top], sizes[0], normal[:part] * lengths)
    direction = normal[part : 2 * part]
    norms = np.sqrt(np.einsum("ij,ij->i", direction, direction))
    direction *= ((0.3 + 0.7 * sizes[1]) / norms)[:, None]
    shell = X[np.arange(part) % len(X)] + direction * reach
    samples = np.concatenate([filling, near, shell, inside[top]])
    np.minimum(np.maximum(samples, lower, out=samples), upper, out=samples)
    values = _values(form, samples)
    again = _around(samples[_best(values, _AROUND)], sizes[2], normal[2 * part :] * lengths / 2)
    np.minimum(np.maximum(again, lower, out=again), upper, out=again)
    samples, values = np.concatenate([samples, again]), np.append(values, _values(form, again))
    places = samples / lengths
    reserved = num_restarts // _RESERVED
    chosen = best_apart(values, places, num_restarts - reserved)
    own = values[: len(filling)].copy()  # far hills that the data do not suggest
    own[[i for i in chosen if i < len(own)]] = -np.inf
    return samples[chosen + best_apart(own, places[: len(own)], reserved)]


def _values(form: ClosedForm, points: Array) -> Array:
    """The ``b`` values at ``b x d`` points, or rough ones; a NaN counts as minus infinity."""
    values, _ = (form.rough or form.formula)(points, gradient=False)
    return np.where(np.isnan(values), -np.inf, values)


def _in_units_of(form: ClosedForm, neighborhood: Neighborhood) -> tuple[Array, Array, Array]:
    """Data, length-scales and reach in the formula's units, by one call of an affine map."""
    X = neighborhood.X
    ends = torch.stack([neighborhood.lengthscales, neighborhood.reach, torch.zeros_like(X[0])])
    raw: Tensor = from_model_space(neighborhood.model, torch.cat([X, ends])).to(form.slope)
    points = form.to_points(raw)
    lengths = np.abs(points[-3:-1] - points[-1])
    return points[:-3], lengths[0], lengths[1]


def _around(centers: Array, sizes: Array, steps: Array) -> Array:
    """Steps of 0.01 to 1 times those given: a hill may be much narrower than a length-scale."""
    return centers[np.arange(len(sizes)) % len(centers)] + (0.01**sizes)[:, None] * steps


def _best(values: Array, count: int) -> NDArray[np.intp]:
    """Indices of the largest values, in order."""
    if len(values) > 8 * count:  # fewer to be put in order
        top = np.argpartition(-values, count)[:count]
        return top[np.argsort(-values[top], kind="stable")]
    return np.argsort(-values, kind="stable")[:count]


@lru_cache(maxsize=16)
def _sobol(d: int, count: int) -> Array:
    """Space-filling points of the unit cube, the same for all; a random shift makes them others."""
    power = max(1, (count - 1).bit_length())
    points: Array = qmc.Sobol(d, scramble=True, rng=np.random.default_rng(0)).random_base2(power)
    points = points[:count]
    points.setflags(write=False)
    return points


def _normals(d: int, count: int, first: int) -> Array:
    """Normal steps, always the same ones in a circle, of which any may be the first."""
    steps = _normal_table(d, count)
    return np.concatenate([steps[first:], steps[:first]])


@lru_cache(maxsize=16)
def _normal_table(d: int, count: int) -> Array:
    steps = np.random.default_rng(0).standard_normal((count, d))
    steps.setflags(write=False)
    return steps


@lru_cache(maxsize=16)
def _fractions(count: int) -> Array:
    rows = np.tile(np.linspace(0, 1, count), (3, 1))
    rows.setflags(write=False)
    return rows
