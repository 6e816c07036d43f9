"""Data and arguments that make no sense: used without harm, or refused in words."""

import math
import random
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.torture.small import BOX, FASTEST, METHODS, bowl
from benchmarks.torture.tally import Tally, expect
from botorch_ubo import ExpandingBounds, UnboundedOptimizer, minimize

_GRID = [[x / 2, y / 2] for x in range(-2, 3) for y in range(3)]
_NAN, _INF = math.nan, math.inf
# Points and outcomes, of any number.
DATA: dict[str, tuple[list[list[float]], list[float]]] = {
    "one point": ([[0.0, 1.0]], [1.0]),
    "one point ten times": ([[0.0, 1.0]] * 10, [1.0] * 10),
    "one point, ten outcomes": ([[0.0, 1.0]] * 10, [float(i) for i in range(10)]),
    "flat": (_GRID, [3.0] * 15),
    "flat but for one": (_GRID, [3.0] * 14 + [4.0]),
    "flat up to rounding": (_GRID, [1.0 + 1e-16 * i for i in range(15)]),
    "all zero": (_GRID, [0.0] * 15),
    "a large offset": (_GRID, [1.0 + 1e-9 * x[0] ** 2 for x in _GRID]),
    "on a line": ([[x / 7, 1.0] for x in range(-7, 8)], [float(x) for x in range(15)]),
    "at two points": ([[0.0, 0.0], [1.0, 1.0]] * 6, [0.0, 1.0] * 6),
    "nearly one point": ([[1e-15 * i, 1.0] for i in range(9)], [float(i) for i in range(9)]),
    "noise": (_GRID, [math.sin(1e5 * (x[0] + 2 * x[1])) for x in _GRID]),
    "an outlier of 1e149": (_GRID, [1e149] + [bowl(x) for x in _GRID[1:]]),
    "an outlier of -1e149": (_GRID, [-1e149] + [bowl(x) for x in _GRID[1:]]),
    "from 1e-300 to 1e140": (_GRID, [10.0 ** (-300 + 31 * i) for i in range(15)]),
    "denormal": (_GRID, [5e-324 * i for i in range(15)]),
    "huge": (_GRID, [1e149 * (-1) ** i for i in range(15)]),
    "not numbers": (_GRID, [_NAN, _INF, -_INF] * 5),
    "half not numbers": (_GRID, [_NAN if i % 2 else float(i) for i in range(15)]),
    "far": ([*_GRID, [1e12, 0.5]], [*map(bowl, _GRID), 1e24]),
    "farther": ([*_GRID, [1e200, 0.5]], [*map(bowl, _GRID), -1.0]),
    "all far": ([[x[0] + 1e20, x[1]] for x in _GRID], [*map(bowl, _GRID)]),
}
_WRONG: tuple[Any, ...] = (None, "x", b"x", _NAN, _INF, -1, [], {}, object(), 2.5, 1j, "1", [1, 2])
_LIMITS = (5, "x", {0: 1}, {0: ("0", 1)}, {9: (0, 1)}, {0: (1, 0)}, {0: (_NAN, 1)}, {0: (2, 3)},
           {"x": (0, 1)}, [(0, 1)], torch.zeros(3), {0: ([], 1)})  # fmt: skip
_BOXES = (None, 5, "x", [], [[]], [(0,)], [(0, 1, 2)], [(1, 0)], [(0, 0)], [(_NAN, 1)], ["01"],
          [(0, _INF)], [(-1e308, 1e308)], [(0, 5e-324)], [("0", "1")], [(None, 1)], {}, [(0, 1j)],
          torch.zeros(2, 0), torch.zeros(3, 2), np.zeros((2, 2)), [(1.0, 1.0 + 4e-16)])  # fmt: skip


def wrong_arguments() -> dict[str, Callable[[], Any]]:
    """Calls of which each must be refused."""
    calls: dict[str, Callable[[], Any]] = {}

    def add(name: str, call: Callable[[Any], Any], values: tuple[Any, ...]) -> None:
        for number, value in enumerate(values):
            calls[f"{name}, {number}: {repr(value)[:40]}"] = partial(call, value)

    def asked() -> UnboundedOptimizer:
        run = UnboundedOptimizer(BOX, **FASTEST)
        run.ask(2)
        return run

    no_counts = tuple(value for value in _WRONG if value is not None)
    add("bounds", lambda value: UnboundedOptimizer(value), _BOXES)
    add("box", lambda value: ExpandingBounds(value), _BOXES)
    add("hard_limits", lambda value: UnboundedOptimizer(BOX, hard_limits=value), _LIMITS)
    add("set_hard_limits", lambda value: asked().set_hard_limits(value), _LIMITS[:-5])
    add("num_initial", lambda value: UnboundedOptimizer(BOX, num_initial=value), no_counts)
    add("budget", lambda value: minimize(bowl, BOX, budget=value), (*_WRONG, 0))
    add("seed", lambda value: UnboundedOptimizer(BOX, seed=value),
        (None, "x", 2.5, _NAN, [], 2**64, -(2**70)))  # fmt: skip
    add("method", lambda value: UnboundedOptimizer(BOX, method=value), (*_WRONG, "EI"))
    add("direction", lambda value: UnboundedOptimizer(BOX, direction=value), _WRONG)
    add("epsilon", lambda value: UnboundedOptimizer(BOX, epsilon=value),
        (None, "x", _NAN, _INF, -1, 0, [], {}, object(), 1j, (0.1, "x"), (1, 2, 3)))  # fmt: skip
    add("max_growth", lambda value: UnboundedOptimizer(BOX, max_growth=value),
        ("x", _NAN, -1, 0, [], {}, object(), 1j))  # fmt: skip
    add("search", lambda value: UnboundedOptimizer(BOX, search=value), _WRONG[1:])
    add("tell", lambda value: asked().tell(0, value), (None, "x", [], {}, [1, 2], 1j, object()))
    add("tell whom", lambda value: asked().tell(value, 1.0), (*_WRONG, 7))
    add("ask", lambda value: asked().ask(value), no_counts)
    add("add_data", lambda value: asked().add_data(value, [1.0]),
        (*_WRONG, [[1.0]], [[_NAN, 1.0]], [["x", "y"]], [[0.0, 0.0]] * 2))  # fmt: skip
    add("input_type", lambda value: minimize(bowl, BOX, budget=2, input_type=value), _WRONG)
    add("catch", lambda value: minimize(bowl, BOX, budget=2, catch=value), _WRONG[:6])
    return calls


def attack_arguments(count: int, seed: int) -> Tally:
    """Arguments that must be refused; one that is not is a loss."""
    tally, calls = Tally("arguments that make no sense"), wrong_arguments()
    for name in random.Random(seed).sample(sorted(calls), min(count, len(calls))):
        with tally.attempt(name):
            calls[name]()
            expect(False, "it was accepted")
    return tally


def attack_data(count: int, seed: int) -> Tally:
    """Data with every method: two trials are proposed, and every outcome stays what it is."""
    tally = Tally("degenerate data, all methods")
    cases = [(method, name) for method in METHODS for name in DATA]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method, name in random.Random(seed).sample(cases, min(count, len(cases))):
            X, Y = DATA[name]
            with tally.attempt(f"{name}, {method}", may_refuse=name in ("all far", "huge")):
                run = UnboundedOptimizer(BOX, method=method, num_initial=len(Y), **FASTEST)
                run.add_data(X, Y)
                for _ in range(2):
                    trial = run.ask()
                    expect(all(map(math.isfinite, trial.X)), f"proposed {trial.X}")
                    run.tell(trial, bowl(trial.X))
                kept = [trial.value for trial in run.trials[: len(Y)]]
                told = [y if abs(y) < 1e150 else None for y in Y]  # no number: a failed trial
                expect(kept == told, f"told {told}, kept {kept}")
                expect(bool(run.box.bounds.isfinite().all()), f"the box is {run.box.bounds}")
    return tally
