r"""What a policy may look at at one step of many runs: :class:`Context` with a batch dimension.

Points and boxes are in the model's space, of which the unit is three sides of each run's first box
and in which that is from 1/3 to 2/3; values are in standard deviations, and large is good.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from botorch_ubo.models.batched import BatchedGP, BatchedOutcomes

SIDE = 1 / 3
"""Of the first box."""


@dataclass(frozen=True)
class BatchedContext:
    """The fitted models of ``B`` runs in the light of their states."""

    X: Tensor
    """``B x n x d`` data in the model's space, in the order in which they came in."""
    gp: BatchedGP
    outcomes: BatchedOutcomes
    epsilon: Tensor
    """``B``: the accuracy."""
    box: Tensor
    """``B x 2 x d``: the current boxes."""
    num_initial: Tensor
    """``B``: data at the first step of the run; that of a run that has none yet are all."""
    num_at_expansion: Tensor
    """``B``: data when the box last moved."""

    def take(self, rows: Tensor) -> BatchedContext:
        """Some of the runs, by index."""
        outcomes = BatchedOutcomes(**{k: v[rows] for k, v in vars(self.outcomes).items()})
        return BatchedContext(
            X=self.X[rows],
            gp=self.gp.take(rows),
            outcomes=outcomes,
            epsilon=self.epsilon[rows],
            box=self.box[rows],
            num_initial=self.num_initial[rows],
            num_at_expansion=self.num_at_expansion[rows],
        )

    @property
    def present(self) -> Tensor:
        """``B x n``: which of the data are there."""
        return self.gp.present

    @property
    def d(self) -> int:
        """Number of dimensions."""
        return self.X.shape[-1]

    @cached_property
    def n(self) -> Tensor:
        """``B`` numbers of observations."""
        return self.present.sum(dim=-1)

    @property
    def t(self) -> Tensor:
        """``B`` steps of the runs, counted from 1."""
        return (self.n - self.num_initial + 1).clamp_min(1)

    @property
    def t_local(self) -> Tensor:
        """``B`` steps since the box last moved, counted from 1."""
        return (self.n - self.num_at_expansion + 1).clamp_min(1)

    @cached_property
    def values(self) -> Tensor:
        """``B x n`` posterior means at the data; minus infinity where there is none."""
        return torch.where(self.present, self.gp.mean_at_data, -torch.inf)

    @cached_property
    def observed(self) -> Tensor:
        """``B x n`` observed values; minus infinity where there is none."""
        return torch.where(self.present, self.outcomes.y, -torch.inf)

    @property
    def incumbent(self) -> Tensor:
        """``B x 1`` indices of the evaluated points with the best posterior means."""
        return self.values.argmax(dim=-1, keepdim=True)

    @property
    def best_observed(self) -> Tensor:
        """``B x 1`` indices of the best observations."""
        return self.observed.argmax(dim=-1, keepdim=True)

    @property
    def lengthscales(self) -> Tensor:
        """``B x d``."""
        return self.gp.lengthscales.squeeze(-2)

    @property
    def hull(self) -> Tensor:
        """``B x 2 x d``: the smallest boxes around the data."""
        there = self.present.unsqueeze(-1)
        lower = torch.where(there, self.X, torch.inf).amin(dim=-2)
        upper = torch.where(there, self.X, -torch.inf).amax(dim=-2)
        return torch.stack([lower, upper], dim=-2)

    def first_index(self, which: Tensor) -> Tensor:
        """``B``: the place, among the data that are there, of the first that a mask marks."""
        place = self.present.cumsum(dim=-1) - 1
        return torch.where(which & self.present, place, place.shape[-1]).amin(dim=-1)


def notable_improvement(context: BatchedContext) -> Tensor:
    """``B`` improvements that count: more than epsilon, and than what noise makes of nothing."""
    return context.epsilon + context.gp.noise.sqrt()


def rows_of(X: Tensor, index: Tensor) -> Tensor:
    """Of ``B x n x d`` points those with ``B x 1`` indices (``B x d``)."""
    return X.gather(1, index.unsqueeze(-1).expand(-1, -1, X.shape[-1])).squeeze(1)
