"""Runs in a box that stays, to their whole budget, and where each rule would have stopped them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch
from botorch.models import SingleTaskGP
from scipy.stats.qmc import LatinHypercube
from torch import Tensor

from benchmarks.methods.stopping import Look, make_rules
from benchmarks.problems.problem import INITIAL_PER_DIM, Problem
from benchmarks.problems.sample_paths import draw_path, known_model
from benchmarks.problems.textbook import PROBLEMS
from botorch_ubo import ExpandingBounds, TheoremBeta, fit_default_model, get_method

FUNCTIONS = ("beale", "levy3", "hartmann3", "hartmann6")
# By name: dimension, and length-scale in sides of the box. Every seed has a path of its own.
PATHS = {"path1": (1, 0.1), "path2": (2, 0.25), "path3": (3, 0.4), "path4": (4, 0.6)}
_UCB = get_method("GPUCB-Vanilla")
# All in the first box, which stays.
POLICIES = {
    "UCB, beta": replace(_UCB, beta=TheoremBeta(scale=1.0)),
    "UCB, beta/5": _UCB,
    "LogEI": get_method("EI-Vanilla"),
}

_NUM_DESIGNS = 101
_DESIGN_STREAM, _INITIAL_STREAM = 76, 77  # keep draws with the same seed apart

Key = tuple[str, str, int]  # problem, policy and seed
Run = dict[str, Any]
Fit = Callable[[Tensor, Tensor], SingleTaskGP]


@dataclass(frozen=True)
class Task:
    """A function in its domain, its maximum there, and the model of its values.

    Attributes:
        function: ``n x d`` points to ``n x 1`` values, for maximisation.
        box: ``2 x d``.
        optimum: The maximum over the box.
        fit: Data to a model: hyper-parameters are known of a path, and fitted else.
    """

    function: Callable[[Tensor], Tensor]
    box: Tensor
    optimum: float
    fit: Fit


def make_task(name: str, seed: int) -> Task:
    """A function of the textbook, or a path of ``PATHS``."""
    if name in PATHS:
        dim, lengthscale = PATHS[name]
        path = draw_path(dim, lengthscale, seed)
        box = torch.tensor([[0.0] * dim, [1.0] * dim], dtype=torch.double)
        _, top = path.maximizer_in(box)
        return Task(path, box, top, lambda X, Y: known_model(X, Y, lengthscale))
    problem: Problem = PROBLEMS[name]
    box, optimum = problem.bounds, problem.optimal_value
    if box is None or optimum is None:
        raise ValueError(f"Expected a problem with a known optimum in a domain; got {name}")
    return Task(problem, box, optimum, lambda X, Y: fit_default_model(X, Y, box))


def initial_points(box: Tensor, *entropy: int) -> Tensor:
    """A Latin hypercube of three points to a dimension."""
    dim = box.shape[-1]
    unit = LatinHypercube(dim, rng=np.random.default_rng(entropy)).random(INITIAL_PER_DIM * dim)
    return box[0] + torch.from_numpy(unit) * (box[1] - box[0])


def usual_regret(task: Task) -> float:
    """What initial points leave to gain: the median over many designs."""
    designs = (initial_points(task.box, _DESIGN_STREAM, i) for i in range(_NUM_DESIGNS))
    return median(task.optimum - float(task.function(X).max()) for X in designs)


def run_to_the_end(key: Key, settings: dict[str, Any]) -> Run:
    """Run to the whole budget, and ask every rule at every step until it would stop.

    Args:
        key: A problem, a key of ``POLICIES``, and the seed of the initial points (and the path).
        settings: ``budget`` in evaluations, the initial ones included; ``share``, epsilon as a
            share of what initial points leave to gain; ``delta``.

    Returns:
        Among others ``regrets``, of the best value so far after each evaluation; ``stops``, the
        number of evaluations at which each rule stops, or ``None``; and ``seconds`` of each rule.
    """
    name, policy, seed = key
    task = make_task(name, seed)
    epsilon = settings["share"] * usual_regret(task)
    controller = ExpandingBounds(
        task.box,
        method=POLICIES[policy],
        hard_limits=task.box,
        epsilon=(epsilon, "raw"),
        seed=seed,
    )
    rules = make_rules(settings["delta"])
    stops: dict[str, int | None] = dict.fromkeys(rules)
    seconds = dict.fromkeys(rules, 0.0)
    X = initial_points(task.box, _INITIAL_STREAM, seed)
    Y = task.function(X)
    num_initial = len(X)
    if num_initial > settings["budget"]:
        raise ValueError(f"Expected a budget of {num_initial} or more for {name}")
    while True:
        model = task.fit(X, Y)
        controller.update(model)
        steps = settings["budget"] - num_initial + 1
        look = Look(controller.context(model), X, Y, task.box, epsilon, steps, seed)
        for rule in (rule for rule, stop in stops.items() if stop is None):
            began = perf_counter()
            if rules[rule](look):
                stops[rule] = len(X)
            seconds[rule] += perf_counter() - began
        if len(X) >= settings["budget"]:
            break
        x = controller.suggest(model)
        X, Y = torch.cat([X, x]), torch.cat([Y, task.function(x)])
    best = Y.flatten().cummax(dim=0).values
    return {
        "problem": name,
        "policy": policy,
        "seed": seed,
        "initial": num_initial,
        "epsilon": epsilon,
        # The polished maximum of a path can be a rounding error below an evaluated value.
        "regrets": (task.optimum - best).clamp_min(0.0).tolist(),
        "stops": stops,
        "seconds": {rule: round(value, 2) for rule, value in seconds.items()},
    }


def key_of(run: Run) -> Key:
    """Which run it is."""
    return run["problem"], run["policy"], run["seed"]
