"""Runs of every kind to look at, made without waiting for a search."""

from __future__ import annotations

import math
from functools import cache

import torch

from botorch_ubo import (
    Categorical,
    ExpandingBounds,
    Float,
    Integer,
    OptimizationResult,
    Ordinal,
    SearchSettings,
    Trial,
    UnboundedOptimizer,
    minimize,
)
from botorch_ubo.run.goals import RunGoal
from botorch_ubo.run.ledger import Ledger
from botorch_ubo.run.recorded import RecordedRun, as_run

QUICK = SearchSettings(num_restarts=1, raw_samples=16)
SPACE = {
    "lr": Float(1e-4, 1e-2, log=True),
    "layers": Integer(1, 3, limits=(1, None)),
    "act": Categorical(["relu", "tanh", "<b>"]),
    "size": Ordinal([16, 32, 64]),
    "x & y": (-1.0, 1.0),
}
BOX = [(0.0, 1.0), (0.0, 1.0)]


def loss(p: dict) -> float:
    wrong = (p["act"] != "tanh") + abs(math.log2(p["size"] / 32))
    return math.log10(p["lr"]) ** 2 + abs(p["layers"] - 6) / 4 + wrong + (p["x & y"] - 2) ** 2


@cache
def plain_result() -> OptimizationResult:
    """Eleven evaluations of a bowl whose minimum lies outside, five of them steps of the box."""
    result = minimize(
        lambda x: (x[0] - 3) ** 2 + (x[1] - 2) ** 2, BOX, budget=11, num_initial=6, search=QUICK
    )
    assert isinstance(result, OptimizationResult)
    return result


def named_run() -> RecordedRun:
    """Parameters of every kind, with failures and a pending trial."""
    optimizer = UnboundedOptimizer(SPACE)
    for trial in optimizer.ask(12)[:-1]:
        if trial.id % 4 == 3:
            optimizer.tell_failed(trial, "ValueError: <script>alert(1)</script> diverged")
        else:
            optimizer.tell(trial, loss(dict(trial.params)))
    return as_run(optimizer)


def constrained_run(feasible: bool = True) -> RecordedRun:
    optimizer = UnboundedOptimizer(BOX, constraints=1)
    X = torch.rand(8, 2, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    shift = 0.5 if feasible else -1.0
    optimizer.add_data(X, [[float(x.sum()), float(x[0]) - shift] for x in X])
    return as_run(optimizer)


def front_run() -> RecordedRun:
    optimizer = UnboundedOptimizer(BOX, direction=["minimize", "maximize"], constraints=1)
    X = torch.rand(9, 2, generator=torch.Generator().manual_seed(1), dtype=torch.double)
    optimizer.add_data(X, [[float(x[0]), float(x[0] - x[1] ** 2), float(x[1]) - 0.4] for x in X])
    return as_run(optimizer)


def flat_run() -> RecordedRun:
    optimizer = UnboundedOptimizer(BOX)
    optimizer.add_data([[0.1, 0.2], [0.5, 0.6], [0.9, 0.1]], [2.0, 2.0, 2.0])
    return as_run(optimizer)


def failed_run() -> RecordedRun:
    optimizer = UnboundedOptimizer(BOX)
    for trial in optimizer.ask(4):
        optimizer.tell_failed(trial, "RuntimeError: no license")
    return as_run(optimizer)


def single_run() -> RecordedRun:
    optimizer = UnboundedOptimizer(BOX, direction="maximize")
    optimizer.tell(optimizer.ask(), 1.5)
    return as_run(optimizer)


def empty_run() -> RecordedRun:
    return as_run(UnboundedOptimizer(BOX))


def long_run(n: int) -> RecordedRun:
    """As many evaluations and a tenth as many failures, without any step."""
    X = torch.rand(n, 3, generator=torch.Generator().manual_seed(0), dtype=torch.double) * 2
    Y = (X - 1.3).square().sum(dim=-1)
    trials = [
        Trial(id=i, X=tuple(x), status="completed", value=y, order=i)
        for i, (x, y) in enumerate(zip(X.tolist(), Y.tolist(), strict=True))
    ]
    trials += [
        Trial(id=n + i, X=trials[i].X, status="failed", reason="OSError: disk", order=n + i)
        for i in range(n // 10)
    ]
    bounds = torch.tensor([[0.0] * 3, [1.0] * 3], dtype=torch.double)
    box = ExpandingBounds(bounds, maximize=False)
    return RecordedRun(box, Ledger(tuple(trials)), RunGoal(("minimize",)), "long")


RUNS = {
    "plain": lambda: as_run(plain_result()),
    "named": named_run,
    "constrained": constrained_run,
    "infeasible": lambda: constrained_run(feasible=False),
    "front": front_run,
    "flat": flat_run,
    "failures only": failed_run,
    "one trial": single_run,
    "empty": empty_run,
}
