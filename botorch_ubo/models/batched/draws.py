r"""Random numbers of many runs at once: a function of each run's seed, the same on every device.

A generator with a state would give a run other numbers in another batch. These are hashes of seed
and index (SplitMix64 [Steele2014]): whole numbers, so that no device rounds them differently.

References:
    [Steele2014] G. L. Steele Jr., D. Lea, and C. H. Flood. Fast Splittable Pseudorandom Number
    Generators. OOPSLA 2014.
"""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

_GOLDEN = 0x9E3779B97F4A7C15
_FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def uniform(seeds: Tensor, count: int, like: Tensor) -> Tensor:
    r"""Numbers between 0 and 1, both excluded.

    Args:
        seeds: ``B`` whole numbers (``int64``).
        count: How many for each.
        like: A tensor that sets dtype and device.

    Returns:
        A ``B x count`` tensor.
    """
    index = torch.arange(1, count + 1, device=seeds.device)
    mixed = _mix(_mix(seeds).unsqueeze(-1) + index * _signed(_GOLDEN))
    digits = 23 if like.dtype == torch.float else 52  # and one for the half, lest it be rounded
    return (_shift(mixed, 64 - digits).to(like) + 0.5) * 2.0**-digits


def normal(uniforms: Tensor) -> Tensor:
    """Normal numbers from uniform ones."""
    return math.sqrt(2) * torch.erfinv(2 * uniforms - 1)


def filling(count: int, d: int, like: Tensor) -> Tensor:
    """``count x d`` space-filling points of the unit cube, to be shifted for each run."""
    return _filling(count, d, like.dtype, str(like.device))


@cache
def _filling(count: int, d: int, dtype: torch.dtype, device: str) -> Tensor:
    points = SobolEngine(d, scramble=True, seed=0).draw(count, dtype=torch.double)
    return points.to(device, dtype)


def _mix(z: Tensor) -> Tensor:
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        z = (z ^ _shift(z, shift)) * _signed(factor)
    return z ^ _shift(z, 31)


def _shift(z: Tensor, bits: int) -> Tensor:
    """To the right, with zeros from the left."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number
