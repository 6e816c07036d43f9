"""Real tuning tasks from a start box at the wrong place: ``tune_svc_digits`` and its like.

The domain is what a careful practitioner would tell an optimiser that must be told; the start box
lies in it at a plateau, behind a cliff, where training diverges or where it costs a hundred times
as much. Only ratios have hard limits. Tasks with several splits are noisy: a method sees the score
of one split, drawn anew each time, and is judged by the mean over all.

The best known values and the values to start from are in ``tuning_known.json``, written by
``python -m benchmarks known``. A value counts by its share of the way from the one to the other.
"""

import json
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.problems import tuning_models as models
from benchmarks.problems.problem import (
    EVALUATIONS_PER_DIM,
    Family,
    Problem,
    Sources,
    distance_in_sides,
)

KNOWN = Path(__file__).with_name("tuning_known.json")
MIN_EVALUATIONS = 20
DIVERGED = 1e100  # a score of this size is of no model, but of an overflow: the evaluation failed
Interval = tuple[float, float]


@dataclass(frozen=True)
class Task:
    """One model to tune.

    Attributes:
        score: Parameters and ``split`` to what is to be maximised.
        domain: Sane wide limits of each parameter.
        start: The start box.
        splits: How many there are; with several, what a method sees is noisy.
        limits: Hard limits by the parameter's place.
    """

    score: Callable[..., float]
    domain: tuple[Interval, ...]
    start: tuple[Interval, ...]
    splits: int = 1
    limits: tuple[tuple[int, Interval], ...] = ()


TASKS: dict[str, Task] = {
    # Plateaus: nothing is learnt, or everything is forgotten.
    "tune_logistic": Task(models.logistic, ((-8, 4),), ((-8, -6.5),)),
    "tune_ridge": Task(models.ridge, ((-4, 8),), ((6.5, 8),)),
    "tune_elastic_net": Task(
        models.elastic_net, ((-4, 4), (0, 1)), ((2.5, 3.5), (0.7, 1)), limits=((1, (0, 1)),)
    ),
    "tune_quantile": Task(models.quantile, ((-5, 2), (-3, 3)), ((-0.3, 0.7), (1.5, 2.5))),
    "tune_svc_digits": Task(partial(models.svc, "digits"), ((-4, 6), (-6, 4)), ((2, 4), (1, 3))),
    "tune_svc_moons": Task(
        partial(models.svc, "moons"), ((-6, 6), (-6, 4)), ((-6, -4.5), (-6, -4.5)), splits=4
    ),
    "tune_svr": Task(models.svr, ((-4, 5), (-6, 3), (-4, 3)), ((-4, -2.5), (1.5, 3), (1.5, 3))),
    "tune_kernel_ridge": Task(models.kernel_ridge, ((-8, 4), (-6, 4)), ((-8, -6), (-1, 0.5))),
    "tune_tree": Task(
        models.tree, ((1, 20), (0, 2.3), (-5, 0)), ((1, 4), (1.5, 2.2), (-1, 0)), splits=4
    ),
    # Dear: many features, trees or neighbours, where few would do as badly.
    "tune_random_features": Task(
        models.random_features, ((0, 3.5), (-5, 3), (-8, 4)), ((2.9, 3.5), (1, 2.5), (-8, -6))
    ),
    "tune_neighbours": Task(models.neighbours, ((0, 2.3), (0, 2)), ((1.8, 2.3), (1.2, 1.8))),
    # Too little of everything; more of it costs a hundred times as much.
    "tune_forest": Task(
        models.forest, ((0, 2.3), (1, 15), (0, 1.9)), ((0, 0.4), (1, 3), (1.4, 1.9))
    ),
    "tune_boosting": Task(
        models.boosting,
        ((-5, 1), (0, 2.7), (1, 12), (0.05, 1), (0, 2)),
        ((-5, -4), (0, 0.5), (8, 11), (0.1, 0.3), (1.2, 1.8)),
        limits=((3, (0.01, 1)),),
    ),
    # Cliffs: training diverges, or matrices are singular.
    "tune_sgd": Task(
        models.sgd, ((-8, 2), (-6, 4), (-5, 1)), ((0.5, 2), (1, 3), (-1, 1)), splits=4
    ),
    "tune_perceptron": Task(
        models.perceptron,
        ((-5, 1), (-8, 2), (0, 2.5), (0.7, 2.3)),
        ((-0.5, 0.5), (-1, 1), (0, 0.5), (0.7, 1.2)),
    ),
    "tune_gaussian_process": Task(
        models.gaussian_process,
        ((-3, 4), (-8, 2), (-4, 3)),
        ((-3, -1.5), (-8, -6), (1.5, 3)),
    ),
}


def make_task(name: str, seed: int, sources: Sources) -> Problem:
    """A tuning task as a problem; the seed is that of the initial points and the noise."""
    task, known = TASKS[name], read_known().get(name)
    dim = len(task.domain)
    limits = torch.tensor([[-math.inf] * dim, [math.inf] * dim], dtype=torch.double)
    for place, interval in task.limits:
        limits[:, place] = torch.tensor(interval, dtype=torch.double)
    start_box = torch.tensor(task.start, dtype=torch.double).T
    optimizer = None if known is None else torch.tensor(known["x"], dtype=torch.double)
    return Problem(
        name=name,
        function=partial(_mean_scores, name),
        bounds=torch.tensor(task.domain, dtype=torch.double).T,
        optimal_value=None if known is None else known["best"],
        optimizer=optimizer,
        start_box=start_box,
        start_value=None if known is None else known["start"],
        hard_limits=limits if task.limits else None,
        distance=None if optimizer is None else distance_in_sides(optimizer, start_box),
        num_evaluations=max(MIN_EVALUATIONS, EVALUATIONS_PER_DIM * dim),
        sample=partial(_draw_score, name) if task.splits > 1 else None,
        may_fail=True,
    )


@cache
def read_known() -> dict[str, Any]:
    """Best known value ``best``, where (``x``), and the value to ``start`` from, by task."""
    return json.loads(KNOWN.read_text())["tasks"] if KNOWN.exists() else {}


@lru_cache(maxsize=8)
def score_splits(name: str, x: tuple[float, ...]) -> tuple[float, ...]:
    """The score of every split; NaN where training failed."""
    task = TASKS[name]
    return tuple(_score(task, x, split) for split in range(task.splits))


def _score(task: Task, x: Sequence[float], split: int) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence and overflow, which bad places are full of
        with np.errstate(all="ignore"):
            try:
                score = task.score(*x, split=split)
            except Exception:  # as a user's loop would note: this evaluation failed
                return math.nan
    return score if abs(score) < DIVERGED else math.nan


def _mean_scores(name: str, X: Tensor) -> Tensor:
    means = [np.mean(score_splits(name, tuple(x))) for x in X.tolist()]
    return torch.tensor(means, dtype=torch.double)


def _draw_score(name: str, x: Tensor, rng: np.random.Generator) -> float:
    return float(rng.choice(score_splits(name, tuple(x[0].tolist()))))


FAMILY = Family("tuning", "Real tuning tasks", tuple(TASKS), make_task)
