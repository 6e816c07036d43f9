"""The state of many runs: tensors of one dtype on one device, replaced as a whole."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import torch
from torch import Tensor

NONE, PENDING, COMPLETED, FAILED = 0, 1, 2, 3
"""What became of a trial; ``NONE`` where a run has fewer trials than others."""


@dataclass(frozen=True)
class BatchedState:
    """Trials and boxes of ``R`` runs, of ``N`` trials at most, in raw units and the user's sign."""

    X: Tensor
    """``R x N x d``; zero where there is no trial."""
    Y: Tensor
    """``R x N``; zero where there is no value."""
    status: Tensor
    """``R x N`` (``int8``)."""
    count: Tensor
    """``R``: trials of each run, which are its first ones."""
    active: Tensor
    """``R``: which runs go on."""
    bounds: Tensor
    """``R x 2 x d``: the boxes as they are."""
    num_initial: Tensor
    """``R``: data at the first step with a model; -1 before it."""
    num_at_expansion: Tensor
    """``R``: data when the box last moved."""

    @classmethod
    def begin(cls, bounds: Tensor) -> BatchedState:
        """Without any trial, in ``R x 2 x d`` boxes."""
        R, _, d = bounds.shape
        none = torch.zeros(R, dtype=torch.long, device=bounds.device)
        return cls(
            X=bounds.new_zeros(R, 0, d),
            Y=bounds.new_zeros(R, 0),
            status=torch.zeros(R, 0, dtype=torch.int8, device=bounds.device),
            count=none,
            active=torch.ones_like(none, dtype=torch.bool),
            bounds=bounds,
            num_initial=none - 1,
            num_at_expansion=none,
        )

    def take(self, rows: Tensor) -> Self:
        """Some of the runs, by index."""
        return replace(self, **{it.name: getattr(self, it.name)[rows] for it in fields(self)})

    def to(self, like: Tensor) -> Self:
        """On another device, in another precision."""
        parts: dict[str, Any] = {}
        for it in fields(self):
            value = getattr(self, it.name)
            parts[it.name] = value.to(like) if value.is_floating_point() else value.to(like.device)
        return replace(self, **parts)

    @property
    def num_completed(self) -> Tensor:
        """``R`` numbers of data."""
        return (self.status == COMPLETED).sum(dim=-1)

    def append(self, X: Tensor, rows: Tensor, status: int = PENDING) -> Self:
        r"""Add one trial to some runs.

        Args:
            X: ``R x d`` points; those of other runs are not looked at.
            rows: ``R``: which runs.
            status: Of the new trials.
        """
        room = self._with_room()
        at = torch.nn.functional.one_hot(self.count, room.X.shape[1]).bool() & rows.unsqueeze(-1)
        return replace(
            room,
            X=torch.where(at.unsqueeze(-1), X.unsqueeze(-2), room.X),
            status=torch.where(at, status, room.status).to(torch.int8),
            count=self.count + rows,
        )

    def tell(self, Y: Tensor, largest: float) -> Self:
        r"""Give pending trials their values.

        Args:
            Y: ``R x q`` values, of each run's pending trials in their order.
            largest: Size at which a value counts as a failure, as NaN does.
        """
        pending = self.status == PENDING
        Y = Y.gather(1, (pending.cumsum(dim=-1) - 1).clamp(0, Y.shape[-1] - 1))
        good = pending & (Y.abs() < largest)
        status = torch.where(pending, FAILED, self.status)
        return replace(
            self,
            Y=torch.where(good, Y, self.Y),
            status=torch.where(good, COMPLETED, status).to(torch.int8),
        )

    def _with_room(self) -> Self:
        """With a column for one more trial of the longest run."""
        R, N, d = self.X.shape
        if not R or int(self.count.max()) < N:
            return self
        return replace(
            self,
            X=torch.cat([self.X, self.X.new_zeros(R, 1, d)], dim=1),
            Y=torch.cat([self.Y, self.Y.new_zeros(R, 1)], dim=1),
            status=torch.cat([self.status, self.status.new_zeros(R, 1)], dim=1),
        )

    def first_of(self, status: int) -> tuple[Tensor, Tensor, Tensor]:
        """Trials of a status in their order: ``R x n x d``, ``R x n`` values and which are there.

        ``n`` is the largest number of any run.
        """
        there = self.status == status
        width = int(there.sum(dim=-1).max()) if there.numel() else 0
        order = there.to(torch.int8).argsort(dim=-1, descending=True, stable=True)[:, :width]
        X = self.X.gather(1, order.unsqueeze(-1).expand(-1, -1, self.X.shape[-1]))
        return X, self.Y.gather(1, order), there.gather(1, order)
