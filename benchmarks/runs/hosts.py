"""What the command ``hosts`` runs: each host's own default, and ours in it, from one wrong start.

The hosts are told wide limits, which is all that they can be told; ours is told the start too. A
function of the record counts the evaluations, so that a host may ask as it likes.
"""

import json
import math
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems import tuning_models

RANDOM = 6  # evaluations before Xopt's first model, as many as ours has
Pair = tuple[float, float]
Params = dict[str, float]


@dataclass(frozen=True)
class HostProblem:
    """A loss of two parameters, wide limits and a wrong start.

    Attributes:
        loss: Values by name to what is to be minimised.
        limits: Of each parameter; all are on a logarithmic scale whose limits are positive.
        start: A box at the wrong place.
    """

    loss: Callable[[Params], float]
    limits: dict[str, Pair]
    start: dict[str, Pair]

    def is_log(self, name: str) -> bool:
        return self.limits[name][0] > 0


@dataclass
class Log:
    """What a run evaluated, and the seconds that it took to decide."""

    values: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def best(self) -> float:
        return min(self.values)


def _far(p: Params) -> float:
    return (p["x"] - 12) ** 2 / 10 + math.log10(p["rate"] / 32) ** 2


def _svc(p: Params) -> float:
    return 1 - tuning_models.svc("digits", math.log10(p["C"]), math.log10(p["gamma"]), split=0)


PROBLEMS: dict[str, HostProblem] = {
    "far": HostProblem(
        _far,
        {"x": (-1e6, 1e6), "rate": (1e-12, 1e6)},
        {"x": (-1.0, 1.0), "rate": (1e-3, 1e-1)},
    ),
    "svc": HostProblem(
        _svc,
        {"C": (1e-12, 1e12), "gamma": (1e-12, 1e12)},
        {"C": (1e2, 1e4), "gamma": (1e1, 1e3)},
    ),
}


def run_host(host: str, ours: bool, problem: HostProblem, budget: int, seed: int) -> Log:
    """One run in a host."""
    log = Log()
    evaluating = 0.0

    def loss(params: Params) -> float:
        nonlocal evaluating
        if len(log.values) >= budget:
            raise _BudgetUsedUp
        began = time.perf_counter()
        log.values.append(problem.loss({name: float(params[name]) for name in problem.limits}))
        evaluating += time.perf_counter() - began
        return log.values[-1]

    began = time.perf_counter()
    with warnings.catch_warnings(), suppress(_BudgetUsedUp):
        warnings.simplefilter("ignore")  # hosts' own, about pandas and points out of their boxes
        HOSTS[host](ours, problem, loss, budget, seed)
    log.seconds = time.perf_counter() - began - evaluating
    return log


class _BudgetUsedUp(Exception):
    pass


def _scipy(ours: bool, problem: HostProblem, loss: Any, budget: int, seed: int) -> None:
    """Logarithms are the user's business in SciPy."""
    from scipy.optimize import minimize

    from botorch_ubo.integrations.scipy import expanding

    names = list(problem.limits)

    def to(name: str, x: float) -> float:
        return math.log(x) if problem.is_log(name) else x

    def f(u: Any) -> float:
        values = {n: math.exp(x) if problem.is_log(n) else x for n, x in zip(names, u, strict=True)}
        return loss(values)

    bounds = [(to(n, low), to(n, high)) for n, (low, high) in problem.limits.items()]
    boxes = np.array([[to(n, low), to(n, high)] for n, (low, high) in problem.start.items()])
    center, half = boxes.mean(axis=1), (boxes[:, 1] - boxes[:, 0]) / 2
    if ours:
        options = {"scale": half, "maxfev": budget, "seed": seed}
        minimize(f, center, method=expanding, bounds=bounds, options=options)
    else:
        shift = np.random.default_rng(seed).uniform(-1, 1, len(center))
        minimize(f, center + shift * half, bounds=bounds)  # L-BFGS-B


def _optuna(ours: bool, problem: HostProblem, loss: Any, budget: int, seed: int) -> None:
    import optuna

    from botorch_ubo.integrations.optuna import UBOSampler

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial: Any) -> float:
        return loss(
            {
                n: trial.suggest_float(n, *pair, log=problem.is_log(n))
                for n, pair in problem.limits.items()
            }
        )

    sampler = (
        UBOSampler(problem.start, seed=seed) if ours else optuna.samplers.TPESampler(seed=seed)
    )
    optuna.create_study(sampler=sampler).optimize(objective, n_trials=budget)


def _gest(ours: bool, problem: HostProblem, loss: Any, budget: int, seed: int) -> None:
    """Xopt; VOCS have no logarithms, so its own generator gets exponents of ten."""
    import torch
    from gest_api.vocs import VOCS
    from xopt import Evaluator, Xopt
    from xopt.generators.bayesian import ExpectedImprovementGenerator

    from botorch_ubo.integrations.gest import UBOGenerator

    def exponents(point: Params) -> dict[str, float]:
        return {
            "f": loss(
                {n: 10 ** point[n] if problem.is_log(n) else point[n] for n in problem.limits}
            )
        }

    if ours:
        limits = {n: list(pair) for n, pair in problem.limits.items()}
        vocs = VOCS(variables=limits, objectives={"f": "MINIMIZE"})
        logs = tuple(filter(problem.is_log, problem.limits))
        generator: Any = UBOGenerator(vocs, problem.start, log=logs, seed=seed)
        function: Any = lambda point: {"f": loss(point)}  # noqa: E731
    else:
        torch.manual_seed(seed)
        limits = {
            n: [math.log10(x) if problem.is_log(n) else x for x in pair]
            for n, pair in problem.limits.items()
        }
        vocs = VOCS(variables=limits, objectives={"f": "MINIMIZE"})
        generator, function = ExpectedImprovementGenerator(vocs=vocs), exponents
    host = Xopt(generator=generator, evaluator=Evaluator(function=function))
    if not ours:
        np.random.seed(seed)
        host.random_evaluate(RANDOM)
    for _ in range(budget if ours else budget - RANDOM):
        host.step()


def _ax(ours: bool, problem: HostProblem, loss: Any, budget: int, seed: int) -> None:
    import logging

    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig
    from ax.utils.common.logger import set_ax_logger_levels

    from botorch_ubo.integrations.ax import expanding_strategy

    set_ax_logger_levels(logging.ERROR)
    client = Client(random_seed=seed)
    client.configure_experiment(
        parameters=[
            RangeParameterConfig(
                name=n,
                bounds=pair,
                parameter_type="float",
                scaling="log" if problem.is_log(n) else "linear",
            )
            for n, pair in problem.limits.items()
        ]
    )
    client.configure_optimization(objective="-loss")
    if ours:
        client.set_generation_strategy(expanding_strategy(problem.start, seed=seed))
    for _ in range(budget):
        for index, parameters in client.get_next_trials(max_trials=1).items():
            client.complete_trial(index, raw_data={"loss": loss(parameters)})


HOSTS: dict[str, Callable[..., None]] = {
    "SciPy": _scipy,
    "Optuna": _optuna,
    "Xopt": _gest,
    "Ax": _ax,
}
DEFAULTS = {
    "SciPy": "L-BFGS-B",
    "Optuna": "TPESampler",
    "Xopt": "ExpectedImprovementGenerator",
    "Ax": "its default strategy",
}


def read_hosts(output: Path | None, budget: int) -> list[dict[str, Any]]:
    """The runs that a file has, if they are of this budget."""
    if output is None or not output.exists():
        return []
    content = json.loads(output.read_text())
    return list(content["runs"]) if content["budget"] == budget else []
