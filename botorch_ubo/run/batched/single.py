"""One run, taken out of many: an optimizer that goes on alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from botorch_ubo.controller import Method
from botorch_ubo.policies.state import BoxState, Settings
from botorch_ubo.run import trials
from botorch_ubo.run.arguments import Direction
from botorch_ubo.run.batched.history import StepsTaken, box_state
from botorch_ubo.run.batched.problem import Problem
from botorch_ubo.run.batched.state import COMPLETED, FAILED, BatchedState
from botorch_ubo.run.ledger import Ledger
from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.replay import box_events, trial_events
from botorch_ubo.run.trials import Trial


@dataclass(frozen=True)
class Arguments:
    """What the runs were started with, in double on the CPU."""

    boxes: Tensor
    """``R x 2 x d``."""
    limits: Tensor
    """``R x 2 x d``."""
    seeds: list[int]
    method: Method
    num_initial: int
    direction: Direction
    settings: Settings
    """Of the first run; accuracy, growth and search are those of all."""


def run_alone(
    arguments: Arguments,
    problem: Problem,
    state: BatchedState,
    steps: Sequence[StepsTaken],
    run: int,
    num_given: int,
) -> UnboundedOptimizer:
    r"""One of many runs as an optimizer of its own.

    Args:
        arguments: What the runs were started with.
        problem: The same as tensors.
        state: All runs.
        steps: All steps that were taken.
        run: Which run.
        num_given: Trials of it that were not asked for.

    Returns:
        An optimizer with the run's trials, box and records, in memory.
    """
    settings = arguments.settings
    optimizer = UnboundedOptimizer(
        arguments.boxes[run],
        direction=arguments.direction,
        method=arguments.method,
        hard_limits=arguments.limits[run],
        num_initial=arguments.num_initial,
        epsilon=(settings.epsilon, settings.epsilon_unit),
        max_growth=settings.max_growth,
        seed=arguments.seeds[run],
        search=settings.search,
    )
    ledger = _ledger(state, run, num_given)
    box = box_state(problem, state, steps, run)
    first = BoxState(box.initial_bounds, box.initial_bounds)
    moves = box_events(first, box) if box.trace else []
    optimizer.journal.resume([*trial_events(Ledger(), ledger), *moves])
    return optimizer


def _ledger(state: BatchedState, run: int, num_given: int) -> Ledger:
    count = int(state.count[run])
    X = state.X[run, :count].to("cpu", torch.double).tolist()
    Y, status = state.Y[run, :count].tolist(), state.status[run, :count].tolist()
    made = list[Trial]()
    order = 0
    for index, (point, value, what) in enumerate(zip(X, Y, status, strict=True)):
        trial = Trial(id=index, X=tuple(point), asked=index >= num_given)
        if what == COMPLETED:
            trial = _told(trial, order, status=trials.COMPLETED, value=value)
        elif what == FAILED:
            trial = _told(trial, order, status=trials.FAILED, reason="no value came back")
        order += trial.order is not None
        made.append(trial)
    return Ledger(tuple(made))


def _told(trial: Trial, order: int, **outcome: object) -> Trial:
    values = {"id": trial.id, "X": trial.X, "asked": trial.asked, "order": order, **outcome}
    return Trial(**values)  # type: ignore[arg-type]  # the fields of one
