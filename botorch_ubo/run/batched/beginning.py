"""How many runs begin: with data of their own, and with space-filling points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from botorch_ubo.controller.initial import initial_points_within
from botorch_ubo.run.batched.problem import Problem
from botorch_ubo.run.batched.single import Arguments
from botorch_ubo.run.batched.state import COMPLETED, FAILED, NONE, BatchedState


class Design:
    """The space-filling sequences of the runs, drawn on the CPU as far as they are needed."""

    def __init__(self, arguments: Arguments, hard_limits: Tensor) -> None:
        r"""The sequences of some runs.

        Args:
            arguments: What the runs were started with.
            hard_limits: ``R x 2 x d``, in dtype and device of the runs.
        """
        self._arguments, self._hard_limits = arguments, hard_limits
        self._drawn = hard_limits[:, :0]

    def points(self, count: Tensor, rows: Tensor, q: int) -> Tensor:
        r"""The next points.

        Args:
            count: ``R``: how many of its sequence each run has had.
            rows: ``R``: which runs need some.
            q: How many of each.

        Returns:
            ``R x q x d`` points; of other runs, any.
        """
        if not bool(rows.any()):
            return torch.zeros_like(self._hard_limits[:, :1]).repeat(1, q, 1)
        needed = int(torch.where(rows, count, 0).max()) + q
        if needed > self._drawn.shape[1]:
            self._drawn = self._draw(max(needed, self._arguments.num_initial))
        index = count.unsqueeze(-1) + torch.arange(q, device=count.device)
        index = index.clamp_max(self._drawn.shape[1] - 1).unsqueeze(-1)
        return self._drawn.gather(1, index.expand(-1, -1, self._drawn.shape[-1]))

    def _draw(self, size: int) -> Tensor:
        given, hard = self._arguments, self._hard_limits
        span = given.method.initial_span
        drawn = [
            initial_points_within(box, limit, size, span, seed)
            for box, limit, seed in zip(given.boxes, given.limits, given.seeds, strict=True)
        ]
        return torch.clamp(torch.stack(drawn).to(hard), hard[:, :1], hard[:, 1:])


def begin_with_data(
    problem: Problem, given: Sequence[tuple[Tensor, Sequence[float]]], largest: float
) -> BatchedState:
    r"""Runs with evaluations that were not asked for.

    Args:
        problem: What stays the same.
        given: ``n x d`` points and ``n`` values of each run, in double on the CPU.
        largest: Size at which a value counts as a failure, as NaN does.

    Returns:
        The state.
    """
    state = BatchedState.begin(problem.first)
    counts = torch.tensor([len(values) for _, values in given])
    width = int(counts.max())
    X = torch.zeros(len(given), width, state.X.shape[-1], dtype=torch.double)
    Y = torch.zeros(len(given), width, dtype=torch.double)
    for run, (points, values) in enumerate(given):
        X[run, : len(values)] = points
        Y[run, : len(values)] = torch.tensor(values, dtype=torch.double)
    there = (torch.arange(width) < counts.unsqueeze(-1)).to(state.X.device)
    hard = problem.hard_limits  # beyond which a rounding may have brought a point
    X = torch.clamp(X.to(state.X), hard[:, :1], hard[:, 1:])
    Y = Y.to(state.Y)
    good = there & (Y.abs() < largest)
    status = torch.where(good, COMPLETED, torch.where(there, FAILED, NONE))
    return replace(
        state,
        X=torch.where(there.unsqueeze(-1), X, 0.0),
        Y=torch.where(good, Y, 0.0),
        status=status.to(torch.int8),
        count=counts.to(state.count),
    )
