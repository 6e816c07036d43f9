"""What is remembered of the steps of many runs, and how one run's share of it looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from botorch_ubo.controller.batched import GUARDED
from botorch_ubo.controller.guard import HELD_IN_SIGHT, held_blind
from botorch_ubo.policies.state import BoxState
from botorch_ubo.policies.triggers import Always
from botorch_ubo.records import ExpansionRecord, Side, StepRecord, as_box
from botorch_ubo.records.box_values import SIDE_NAMES
from botorch_ubo.run.batched.problem import Problem
from botorch_ubo.run.batched.state import BatchedState
from botorch_ubo.run.batched.step import Step
from botorch_ubo.strategies import TurnsBox
from botorch_ubo.strategies.batched import BatchedProposal
from botorch_ubo.strategies.turns import explain


@dataclass(frozen=True)
class StepsTaken:
    """One step of those runs that took part in it."""

    runs: Tensor
    """Their indices, ``B``."""
    bounds: Tensor
    """``B x 2 x d``: the boxes after it, in raw units."""
    n: Tensor
    """``B``: data of the models."""
    moved: Tensor
    """``B``: whether the method moved the box."""
    epsilon: Tensor
    """``B``, in raw units."""
    stopped_by_limit: Tensor
    """``B x 2 x d`` booleans, like the next two."""
    capped: Tensor
    held: Tensor
    guarded: Tensor
    """``B``: see :class:`BatchedMove`."""
    led: Tensor
    """``B x d``: see :class:`BatchedProposal`, as for the next."""
    searching: Tensor
    """``B``, as the next."""
    plateau: Tensor

    @classmethod
    def of(cls, runs: Tensor, step: Step) -> StepsTaken:
        """What there is to remember of a step."""
        move = step.move
        masks = (move.stopped_by_limit, move.capped, move.held, move.guarded)
        none = torch.zeros_like(move.capped[:, 0])
        said = step.proposal or BatchedProposal(step.bounds)
        led = none if said.led is None else said.led
        searching = none[:, 0] if said.searching is None else said.searching
        plateau = none[:, 0] if said.plateau is None else said.plateau
        kept = (step.bounds, step.n, step.moved, step.epsilon)
        return cls(runs, *kept, *masks, led, searching, plateau)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {it.name: getattr(self, it.name).tolist() for it in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], like: Tensor) -> StepsTaken:
        """The inverse of :meth:`to_dict`, in dtype and device of a tensor."""
        kinds = {"bounds": like.dtype, "epsilon": like.dtype, "runs": torch.long, "n": torch.long}
        kinds["guarded"] = torch.int8
        parts = {
            it.name: torch.tensor(
                values[it.name], dtype=kinds.get(it.name, torch.bool), device=like.device
            )
            for it in fields(cls)
        }
        return cls(**parts)


def box_state(
    problem: Problem, state: BatchedState, steps: Sequence[StepsTaken], run: int
) -> BoxState:
    r"""The state that a controller of one run would have.

    Args:
        problem: What stays the same.
        state: All runs.
        steps: All that were taken, oldest first.
        run: Which run.

    Returns:
        The state, in double on the CPU.
    """
    first = problem.first[run].to("cpu", torch.double)
    bounds, history, trace = first, list[ExpansionRecord](), list[StepRecord]()
    num_initial = int(state.num_initial[run])
    for taken in steps:
        (found,) = (taken.runs == run).nonzero(as_tuple=True)
        if not len(found):
            continue
        row = int(found[0])
        n, epsilon = int(taken.n[row]), float(taken.epsilon[row])
        new = taken.bounds[row].to("cpu", torch.double)
        trace.append(StepRecord(n, epsilon, None, None))
        if bool(taken.moved[row]):
            history.append(
                ExpansionRecord(
                    iteration=max(1, n - num_initial + 1),
                    num_observations=n,
                    strategy=problem.method.strategy.name,
                    trigger=_reason(problem, first_step=not history),
                    regret_bound=None,
                    epsilon=epsilon,
                    beta=None,
                    old_bounds=as_box(bounds),
                    new_bounds=as_box(new),
                    stopped_by_limit=_sides(taken.stopped_by_limit[row]),
                    capped=_sides(taken.capped[row]),
                    held=_sides(taken.held[row]),
                    details=_details(problem, taken, row),
                )
            )
        bounds = new
    return BoxState(
        initial_bounds=first,
        bounds=bounds,
        num_initial=None if num_initial < 0 else num_initial,
        num_at_expansion=int(state.num_at_expansion[run]),
        num_observed=trace[-1].num_observations if trace else 0,
        history=tuple(history),
        trace=tuple(trace),
    )


def _reason(problem: Problem, first_step: bool) -> str:
    if isinstance(problem.method.trigger, Always):
        return "every step"
    return "first step" if first_step else "regret bound at or below epsilon"


def _details(problem: Problem, taken: StepsTaken, row: int) -> dict[str, str]:
    """The words of the record of one run, as its controller would have written them."""
    words = list[str]()
    if isinstance(problem.method.strategy, TurnsBox):
        led = taken.led[row].nonzero().flatten().tolist()
        words.append(explain(led, bool(taken.searching[row]), bool(taken.plateau[row])))
    guarded = int(taken.guarded[row])
    if guarded:
        blind = held_blind(problem.method.blind_limit, GUARDED[guarded])
        words.append(blind if GUARDED[guarded] else HELD_IN_SIGHT)
    return {"why": "; ".join(words)} if words else {}


def _sides(mask: Tensor) -> tuple[Side, ...]:
    """The sides that a ``2 x d`` mask marks."""
    return tuple((dim, SIDE_NAMES[row]) for row, dim in mask.nonzero().tolist())
