"""Hard limits: no box, initial point or rounding crosses them, compared with no tolerance."""

import math
import random

import torch
from torch import Tensor

from benchmarks.torture.small import METHODS
from benchmarks.torture.tally import Tally, expect
from botorch_ubo import ExpandingBounds, UnboundedOptimizer
from botorch_ubo.boxes import cast_inward, clip, fit_inside

_AT_ONCE = 10_000
_DTYPES = (torch.float, torch.double)


def crossed(X: Tensor, limits: Tensor) -> Tensor:
    """Which elements are beyond the limits or no numbers."""
    X = X.detach().double()
    return (X < limits[0]) | (X > limits[1]) | ~X.isfinite()


def random_side(chance: random.Random, wild: bool) -> tuple[float, float]:
    """An interval: ordinary; or tiny, huge, a few numbers wide, far from zero, or denormal."""
    lower = chance.choice([0.0, chance.uniform(-10, 10), chance.gauss(0, 1) * 1e3])
    kind = chance.random()
    if kind < 0.5 or not wild:
        return lower, lower + 10.0 ** chance.uniform(-4, 5)
    if kind < 0.7:
        lower = chance.gauss(0, 1) * 10.0 ** chance.uniform(-12, 100)
        return lower, lower + abs(lower) * 10.0 ** chance.uniform(-9, 3)
    if kind < 0.85:
        upper = lower
        for _ in range(chance.randint(1, 2000)):
            upper = math.nextafter(upper, math.inf)
        return lower, upper
    return chance.choice([(0.0, 5e-324 * chance.randint(1, 9)), (-1e-310, 1e-309),
                          (-1e308, 1e308), (0.0, 10.0 ** chance.uniform(-12, 100))])  # fmt: skip


def random_case(chance: random.Random, most_dims: int = 4) -> tuple[Tensor, Tensor]:
    """A box, and limits that touch it, are one number away, leave room or are absent."""
    box, limits = [], []
    wild = chance.random() < 0.4  # of which many are refused
    for _ in range(chance.randint(1, most_dims)):
        lower, upper = random_side(chance, wild)
        side = min(upper - lower, 1e307)
        rooms = [math.inf, 0.0, side * chance.uniform(1e-3, 3)]
        below, above = chance.choice(rooms), chance.choice(rooms)
        low, high = lower - below, upper + above
        if chance.random() < 0.1:
            low, high = math.nextafter(lower, -math.inf), math.nextafter(upper, math.inf)
        box.append((lower, upper))
        limits.append((low, high))
    pair = [torch.tensor(rows, dtype=torch.double).T.contiguous() for rows in (box, limits)]
    return pair[0], pair[1]


def attack_designs(count: int, seed: int) -> Tally:
    """Initial points of ``ExpandingBounds`` and trials of an optimizer's initial design."""
    tally, chance = Tally("hard limits: initial designs"), random.Random(seed)
    for number in range(count):
        box, limits = random_case(chance)
        dtype, method, n = chance.choice(_DTYPES), chance.choice(METHODS), chance.randint(1, 9)
        with tally.attempt(f"{dtype} {method} box {box.tolist()} in {limits.tolist()}"):
            if number % 4 == 0:
                run = UnboundedOptimizer(box, hard_limits=limits, method=method, seed=number)
                found = torch.tensor([trial.X for trial in run.ask(n)], dtype=torch.double)
            else:
                first = cast_inward(box, torch.empty(0, dtype=dtype))
                controller = ExpandingBounds(first, hard_limits=limits, method=method, seed=number)
                found = controller.initial_points(n)
                expect(found.dtype == dtype, f"a design of {found.dtype}")
            expect(found.shape == (n, box.shape[-1]), f"a design of shape {tuple(found.shape)}")
            expect(not crossed(found, limits).any(), f"a design at {found.tolist()}")
    return tally


def attack_algebra(count: int, seed: int) -> Tally:
    """``clip``, ``fit_inside`` and ``cast_inward``, each dimension of a wide box being a case."""
    tally, chance = Tally("hard limits: clip, fit_inside, cast_inward"), random.Random(seed)
    while tally.tried < count:
        pool = [random_case(chance, 8) for _ in range(50)]
        some = [torch.cat(parts, dim=-1) for parts in zip(*pool, strict=True)]
        wide = min(_AT_ONCE, count - tally.tried)
        generator = torch.Generator().manual_seed(chance.randrange(2**31))
        pick = torch.randint(some[0].shape[-1], (wide,), generator=generator)
        box, limits = some[0][:, pick], some[1][:, pick]
        shift, factor = torch.rand(2, wide, generator=generator, dtype=torch.double)
        side = (box[1] - box[0]).clamp(max=1e300)
        lower = box[0] + (6 * shift - 3) * side
        moved = torch.stack([lower, lower + 9 * factor * side])
        moved = moved.clamp(-1.7e308, 1.7e308)
        bad = crossed(clip(moved, limits), limits).any(dim=0)
        fitted = fit_inside(moved, limits)
        bad |= crossed(fitted, limits).any(dim=0) | (fitted[0] > fitted[1])
        for dtype in _DTYPES:
            cast = cast_inward(fitted, torch.empty(0, dtype=dtype)).double()
            room = cast[0] < cast[1]  # single precision may not tell the faces apart
            bad |= room & (cast.isfinite() & crossed(cast, fitted)).any(dim=0)
        tally.add(wide, int(bad.sum()), "a limit crossed")
    return tally
