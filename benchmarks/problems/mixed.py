"""Parameters of several kinds, from a start box at the wrong place: ``mixed_svc`` and its like.

Logarithms, integers, orders and categories: five models of scikit-learn to tune, and four formulas
whose optimum is known. The domain is what a careful practitioner would tell an optimiser that must
be told. Points are coordinates of the parameters (:mod:`botorch_ubo.spaces`).
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.problems import mixed_models as models
from benchmarks.problems.problem import INITIAL_PER_DIM, Family, Problem, Sources
from botorch_ubo.controller.initial_in_space import initial_point_of
from botorch_ubo.spaces import Categorical, Float, Integer, Ordinal, Parameter, Space

Parameters = dict[str, Parameter]


@dataclass(frozen=True)
class Task:
    """What to maximise, of which parameters.

    Attributes:
        score: Values by name to what is to be maximised.
        start: Parameters with their start boxes and limits.
        domain: Ends of the domain of those that have a box.
        optimal_value: The largest score, if it is known.
    """

    score: Callable[[dict[str, Any]], float]
    start: Parameters
    domain: dict[str, tuple[float, float]]
    optimal_value: float | None = None


def _log(low: float, high: float) -> Float:
    return Float(low, high, log=True)


def _count(low: int, high: int, log: bool = False) -> Integer:
    return Integer(low, high, log, limits=(1, None))


_SHARE = Float(0.05, 0.2, limits=(0.01, 1.0))

TASKS: dict[str, Task] = {
    "mixed_svc": Task(
        models.svc,
        {
            "C": _log(1e-6, 1e-4),
            "gamma": _log(1e1, 1e3),
            "kernel": Categorical(["rbf", "poly", "sigmoid"]),
        },
        {"C": (1e-4, 1e6), "gamma": (1e-6, 1e4)},
    ),
    "mixed_forest": Task(
        models.forest,
        {
            "trees": _count(1, 3, log=True),
            "depth": _count(1, 3),
            "features": _SHARE,
            "criterion": Categorical(["gini", "entropy", "log_loss"]),
        },
        {"trees": (1, 200), "depth": (1, 20), "features": (0.01, 1.0)},
    ),
    "mixed_perceptron": Task(
        models.perceptron,
        {
            "rate": _log(1e-6, 1e-5),
            "decay": _log(1e0, 1e2),
            "units": _count(1, 3, log=True),
            "activation": Categorical(["relu", "tanh", "logistic"]),
        },
        {"rate": (1e-5, 1e0), "decay": (1e-8, 1e2), "units": (1, 100)},
    ),
    "mixed_boosting": Task(
        models.boosting,
        {
            "rate": _log(1e-5, 1e-4),
            "trees": _count(1, 4, log=True),
            "depth": _count(1, 2),
            "share": _SHARE,
            "loss": Categorical(["squared_error", "absolute_error", "huber"]),
        },
        {"rate": (1e-5, 10.0), "trees": (1, 200), "depth": (1, 12), "share": (0.05, 1.0)},
    ),
    "mixed_neighbours": Task(
        models.neighbours,
        {
            "k": _count(60, 150, log=True),
            "power": Float(6.0, 9.0, limits=(1.0, 100.0)),
            "weights": Categorical(["uniform", "distance"]),
        },
        {"k": (1, 200), "power": (1.0, 10.0)},
    ),
    "mixed_integers": Task(
        models.integers,
        {"a": Integer(0, 4), "b": Integer(0, 4)},
        {"a": (-50, 100), "b": (-50, 100)},
        0.0,
    ),
    "mixed_hills": Task(
        models.hills,
        {
            "x": Float(-1.0, 1.0),
            "y": Float(-1.0, 1.0),
            "hill": Categorical(["a", "b", "c", "d"]),
        },
        {"x": (-10.0, 20.0), "y": (-10.0, 20.0)},
        0.0,
    ),
    "mixed_all": Task(
        models.everything,
        {
            "rate": _log(1e-4, 1e-2),
            "n": _count(1, 4),
            "size": Ordinal([8, 16, 32, 64, 128]),
            "kind": Categorical(["a", "b", "c"]),
            "x": Float(-1.0, 1.0),
        },
        {"rate": (1e-6, 1e3), "n": (1, 50), "x": (-10.0, 10.0)},
        0.0,
    ),
    "mixed_flags": Task(
        models.flags,
        {
            **{f"flag{i}": Categorical([False, True]) for i in range(4)},
            "x": Float(-1.0, 1.0),
        },
        {"x": (-10.0, 10.0)},
        0.0,
    ),
}


def make_mixed(name: str, seed: int, sources: Sources) -> Problem:
    """A task as a problem; the seed is that of the initial points."""
    task = TASKS[name]
    space = Space(task.start)
    domain = Space({n: _widened(p, task.domain.get(n)) for n, p in task.start.items()})
    count = INITIAL_PER_DIM * len(space)
    points = [initial_point_of(space, i, 1.0, seed) for i in range(count)]
    return Problem(
        name=name,
        function=partial(_evaluate, task, space),
        bounds=domain.bounds,
        optimal_value=task.optimal_value,
        optimizer=None,
        start_box=space.bounds,
        start_points=torch.tensor(points, dtype=torch.double),
        hard_limits=space.limits,
        may_fail=True,
        space=space,
        domain=domain,
    )


def _widened(parameter: Parameter, ends: tuple[float, float] | None) -> Parameter:
    """A parameter told its domain."""
    if isinstance(parameter, Float) and ends is not None:
        return Float(*ends, parameter.log, limits=ends)
    if isinstance(parameter, Integer) and ends is not None:
        low, high = (int(x) for x in ends)
        return Integer(low, high, parameter.log, limits=(low, high))
    return parameter


def _evaluate(task: Task, space: Space, X: Tensor) -> Tensor:
    values = []
    for row in X.tolist():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of trainings that do not converge
            try:
                values.append(float(task.score(space.decode(row))))
            except (ValueError, ArithmeticError):  # what scikit-learn refuses or cannot compute
                values.append(math.nan)
    return torch.tensor(values, dtype=torch.double)


FAMILY = Family(
    "mixed",
    "Logarithms, integers, orders and categories, from a start box at the wrong place",
    tuple(TASKS),
    make_mixed,
)
