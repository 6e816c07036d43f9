r"""One step of many runs: data to models, models to boxes, boxes to candidates.

The way of a datum in ARCHITECTURE.md, with a batch dimension. Nothing in it leaves the device but
the numbers of runs that a loop goes on with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from botorch_ubo.acquisition.batched import (
    BatchedLogChance,
    Positive,
    Sum,
    maximize_batched,
)
from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.controller import Method
from botorch_ubo.controller.batched import (
    BatchedMove,
    Limits,
    failing_sides,
    fit_inside,
    move_boxes,
)
from botorch_ubo.models.batched import (
    BatchedConfidenceBound,
    BatchedFormula,
    BatchedGP,
    BatchedLogEI,
    BatchedPendingLogEI,
    fit_batched,
    in_sight,
    pending_outcomes,
    standardize_outcomes,
)
from botorch_ubo.policies.batched import BatchedContext, confidence_beta
from botorch_ubo.policies.beta import TheoremBeta
from botorch_ubo.run.batched.problem import Problem
from botorch_ubo.run.batched.state import COMPLETED, FAILED, BatchedState
from botorch_ubo.strategies import HyperharmonicBox, TheoremBox, TurnsBox
from botorch_ubo.strategies.batched import (
    BatchedProposal,
    hyperharmonic_boxes,
    improvement_boxes,
    refine_in_balls,
    theorem_boxes,
    turns_boxes,
)


@dataclass(frozen=True)
class Step:
    """What a step has come to; boxes are in raw units."""

    X: Tensor
    """``R x q x d`` candidates."""
    bounds: Tensor
    """``R x 2 x d``."""
    n: Tensor
    """``R``: data of the models."""
    moved: Tensor
    """``R``: whether the method moved the box."""
    epsilon: Tensor
    """``R``: the accuracy in raw units."""
    scale: Tensor
    """``R``: raw units per unit of the models."""
    move: BatchedMove
    proposal: BatchedProposal | None
    """Of boxes that move at every step."""


@torch.no_grad()
def suggest_batched(problem: Problem, state: BatchedState, q: int = 1) -> Step:
    r"""Fit, move the boxes, and maximise the acquisition function in them.

    Args:
        problem: What stays the same.
        state: The runs, each with a completed trial at least.
        q: Candidates of each run, chosen one after another; more than one of the improvement only.

    Returns:
        The step; the state is left as it is.
    """
    X_failed, _, failed = state.first_of(FAILED)
    context, new = _context(problem, state)
    good, bad = context.X, problem.to_model(X_failed)
    failing = failing_sides(good, context.present, bad, failed)
    limits = Limits(
        problem.to_model(problem.hard_limits),
        problem.max_growth,
        problem.method.blind_limit,
        problem.method.strategy.nested,
    )
    chance = None
    if X_failed.shape[1]:
        evaluated = torch.cat([good, bad], dim=1) / context.gp.lengthscales
        origin = context.gp.origin / context.gp.lengthscales
        worked = torch.cat([context.present, torch.zeros_like(failed)], dim=1)
        present = torch.cat([context.present, failed], dim=1)
        chance = BatchedLogChance(evaluated - origin, worked, present)
    seeds = problem.seeds + 1009 * context.n
    if isinstance(problem.method.strategy, TheoremBox):
        proposal = None
        found = _theorem_step(problem, context, new, limits, failing, chance, seeds)
    else:
        proposal = _propose(problem.method, context, limits.hard)
        found = _improvement_step(problem, context, proposal, limits, failing, chance, seeds, q)
    points, move, moved = found
    bounds = torch.where(moved[:, None, None], problem.to_raw(move.box), state.bounds)
    hard = problem.hard_limits
    bounds = torch.clamp(bounds, hard[:, :1], hard[:, 1:])
    candidate = torch.clamp(problem.to_raw(points), hard[:, :1], hard[:, 1:])
    scale = context.outcomes.scale
    epsilon = context.epsilon * scale
    return Step(candidate, bounds, context.n, moved, epsilon, scale, move, proposal)


def _context(problem: Problem, state: BatchedState) -> tuple[BatchedContext, Tensor]:
    """The fitted models in the light of the state, and which runs have their first step."""
    X, Y, present = state.first_of(COMPLETED)
    X = problem.to_model(X)
    from_center = 3 * (X - 0.5)  # in sides of the first box
    present = in_sight(from_center, present)
    outcomes = standardize_outcomes(from_center, problem.sign * Y, present)
    gp = BatchedGP.of(X, outcomes.y, present, fit_batched(X, outcomes.y, present))
    n = present.sum(dim=-1)
    new = state.num_initial < 0
    epsilon = torch.full_like(outcomes.scale, problem.epsilon)
    if problem.epsilon_unit == "raw":
        epsilon = epsilon / outcomes.scale
    elif problem.epsilon_unit == "range":
        least = torch.where(present, outcomes.y, torch.inf).amin(dim=-1)
        most = torch.where(present, outcomes.y, -torch.inf).amax(dim=-1)
        epsilon = torch.where(outcomes.flat, epsilon, epsilon * (most - least))
    context = BatchedContext(
        X=X,
        gp=gp,
        outcomes=outcomes,
        epsilon=epsilon,
        box=problem.to_model(state.bounds),
        num_initial=torch.where(new, n, state.num_initial),
        num_at_expansion=torch.where(new, n, state.num_at_expansion),
    )
    return context, new


def _improvement_step(
    problem: Problem,
    context: BatchedContext,
    proposal: BatchedProposal,
    limits: Limits,
    failing: Tensor,
    chance: BatchedLogChance | None,
    seeds: Tensor,
    q: int,
) -> tuple[Tensor, BatchedMove, Tensor]:
    """A box that moves at every step, and log expected improvement over the best observation."""
    move = move_boxes(context, proposal.bounds, limits, failing)
    boxes = [fit_inside(part, move.box) for part in proposal.boxes] or [move.box]
    parts, rows = torch.stack(boxes, dim=1), torch.arange(len(seeds), device=seeds.device)
    best_f = context.observed.amax(dim=-1)
    formula: BatchedFormula = BatchedLogEI(context.gp, best_f)
    chosen = list[Tensor]()
    for i in range(q):
        if chosen:
            pending = context.gp.to_points(torch.stack(chosen, dim=1))
            e = pending_outcomes(seeds, i, best_f)
            formula = BatchedPendingLogEI.of(context.gp, best_f, pending, e)
        sought = formula if chance is None else Sum(formula, chance)
        box = parts[rows, (context.t - 1 + i) % len(boxes)]  # the one whose turn it is
        chosen.append(_search(context, sought, box, seeds + i, problem.search)[0])
    X = torch.stack(chosen, dim=1)
    return X, move, torch.ones_like(context.epsilon, dtype=torch.bool)


def _propose(method: Method, context: BatchedContext, hard: Tensor) -> BatchedProposal:
    strategy = method.strategy
    if isinstance(strategy, TurnsBox):
        return turns_boxes(strategy, context, hard)
    if isinstance(strategy, HyperharmonicBox):
        return hyperharmonic_boxes(strategy, context)
    return improvement_boxes(context)


def _theorem_step(
    problem: Problem,
    context: BatchedContext,
    new: Tensor,
    limits: Limits,
    failing: Tensor,
    chance: BatchedLogChance | None,
    seeds: Tensor,
) -> tuple[Tensor, BatchedMove, Tensor]:
    """A box that moves when it is exhausted, and the upper confidence bound."""
    schedule = problem.method.schedule
    strategy = problem.method.strategy
    assert isinstance(schedule, TheoremBeta) and isinstance(strategy, TheoremBox)
    bound = _confidence_bound(context, schedule)
    X, value = _search(context, bound, context.box, seeds, problem.search)
    lower = BatchedConfidenceBound(context.gp, -bound.root)(context.gp.X, False)[0]
    largest = torch.where(context.present, lower, -torch.inf).amax(dim=-1)
    # The unit of epsilon is that of the slack, too.
    unit = torch.ones_like(context.epsilon)
    if problem.epsilon_unit == "range":
        unit = context.epsilon / problem.epsilon
    slack = unit / context.t_local.to(value).square()
    regret = value - largest + slack
    fires = new | ((slack <= context.epsilon) & (regret <= context.epsilon))
    rows = fires.nonzero().squeeze(-1)
    move = _no_move(context)
    if len(rows):
        own = replace(limits, hard=limits.hard[rows])
        part = context.take(rows)
        moved = move_boxes(part, theorem_boxes(part, schedule).bounds, own, failing[rows])
        move = move.put(rows, moved)
        n = torch.where(fires, context.n, context.num_at_expansion)
        context = replace(context, box=move.box, num_at_expansion=n)
        bound = _confidence_bound(context, schedule)
        X[rows], value[rows] = _search(
            context.take(rows), bound.take(rows), move.box[rows], seeds[rows], problem.search
        )
    if chance is not None:  # no theorem is about a bound that is weighted
        weighted = Sum(Positive.of(bound, context.gp), chance)
        X = _search(context, weighted, context.box, seeds, problem.search)[0]
    elif strategy.refinement:
        X = refine_in_balls(context, bound, X, value, seeds)
    return X.unsqueeze(1), move, fires


def _confidence_bound(context: BatchedContext, schedule: TheoremBeta) -> BatchedConfidenceBound:
    beta = confidence_beta(context, schedule, context.t_local, context.box)
    return BatchedConfidenceBound(context.gp, beta.sqrt())


def _no_move(context: BatchedContext) -> BatchedMove:
    none = torch.zeros_like(context.box, dtype=torch.bool)
    return BatchedMove(context.box, none, none, none, none[:, 0, 0].to(torch.int8))


def _search(
    context: BatchedContext,
    formula: BatchedFormula,
    box: Tensor,
    seeds: Tensor,
    search: SearchSettings,
) -> tuple[Tensor, Tensor]:
    """The best points of boxes of the models' space, and their values."""
    found = maximize_batched(formula, context.gp, context.gp.to_points(box), seeds, search)
    X = context.gp.from_points(found.points.unsqueeze(-2)).squeeze(-2)
    return torch.clamp(X, box[:, 0], box[:, 1]), found.values
