"""Units: outcomes times a factor plus an offset, and inputs per dimension, change no proposal."""

import random
import warnings
from functools import cache

import torch
from torch import Tensor

from benchmarks.torture.small import METHODS
from benchmarks.torture.tally import Tally, expect
from botorch_ubo import ExpandingBounds, SearchSettings

_BOX = torch.tensor([[-1.0, 0.0], [1.0, 3.0]], dtype=torch.double)
_N = 12
_STEPS = 2
_SEARCH = SearchSettings(num_restarts=2, raw_samples=64)
Proposals = tuple[list[Tensor], list[Tensor]]


def attack_units(count: int, seed: int) -> Tally:
    """A run of two steps in some units per attempt, compared with the one in plain units."""
    tally, chance = Tally("units of outcomes and inputs"), random.Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count):
            method = METHODS[number % len(METHODS)]
            scale = 10.0 ** chance.uniform(-200, 140)
            offset = chance.choice([0.0, 0.0, 10.0 ** chance.uniform(-3, 6), 1e9])
            units = [1.0, 1.0]
            if chance.random() < 0.5:
                units = [10.0 ** chance.uniform(-150, 150) for _ in range(2)]
            sign = chance.choice([1.0, -1.0])
            what = f"{method}: outcomes times {scale:.3g}, offset {offset:.3g}, inputs {units}"
            with tally.attempt(what, may_refuse=False):
                found = propose(method, scale, chance.choice([1, -1]) * offset, units, sign)
                # An offset takes digits from the outcomes: of 1e9 it leaves six.
                sides = 1e-6 if not offset else 1e-3 if offset <= 1e6 else float("inf")
                _compare(found, _plain(method), sides)
    return tally


def propose(method: str, scale: float, offset: float, units: list[float], sign: float) -> Proposals:
    """Points and boxes in plain units, of steps in others."""
    unit = torch.tensor(units, dtype=torch.double)
    generator = torch.Generator().manual_seed(3)
    X = _BOX[0] + (_BOX[1] - _BOX[0]) * torch.rand(_N, 2, generator=generator, dtype=torch.double)
    bounds = ExpandingBounds(_BOX * unit, method=method, maximize=sign > 0, search=_SEARCH)
    points, boxes = [], []
    for _ in range(_STEPS):
        model = bounds.fit(X * unit, scale * (sign * _objective(X) + offset))
        x = bounds.suggest(model) / unit
        X = torch.cat([X, x])
        points.append(x)
        boxes.append(bounds.bounds / unit)
    return points, boxes


@cache
def _plain(method: str) -> Proposals:
    return propose(method, 1.0, 0.0, [1.0, 1.0], 1.0)


def _objective(X: Tensor) -> Tensor:
    waves, bowl = torch.sin(2 * X), (X - 1.5).square()
    return waves.sum(-1, keepdim=True) - 0.2 * bowl.sum(-1, keepdim=True)


def _compare(found: Proposals, plain: Proposals, sides: float) -> None:
    side = _BOX[1] - _BOX[0]
    for name, ours, theirs in zip(("point", "box"), found, plain, strict=True):
        for step, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            expect(bool(one.isfinite().all()), f"a {name} of {one.tolist()}")
            apart = float(((one - other).abs() / (side + other.abs())).max())
            expect(apart <= sides, f"the {name} of step {step} is {apart:.2g} sides away")
