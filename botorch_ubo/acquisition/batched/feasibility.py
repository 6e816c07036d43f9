"""The chance of success of :mod:`botorch_ubo.acquisition.feasibility`, of many runs at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

from botorch_ubo.models.batched import BatchedFormula, BatchedGP

_MIN_SQUARED_DISTANCE = 1e-12  # keeps the logarithm finite at a failure itself


@dataclass(frozen=True)
class BatchedLogChance:
    """``log p(x)``: the share of successes among evaluations, weighted by inverse distance."""

    evaluated: Tensor
    """``B x n x d`` successes and failures, in length-scales."""
    worked: Tensor
    """``B x n``: which are successes."""
    present: Tensor
    """``B x n``: which are there."""

    def take(self, groups: Tensor) -> BatchedLogChance:
        """The formula of some runs, by index."""
        return BatchedLogChance(**{name: value[groups] for name, value in vars(self).items()})

    def __call__(self, points: Tensor, gradient: bool = True) -> tuple[Tensor, Tensor]:
        """Values and gradients at ``B x m x d`` points."""
        power = points.shape[-1] + 1
        half = 0.5 * points.square().sum(dim=-1, keepdim=True)
        other = 0.5 * self.evaluated.square().sum(dim=-1).unsqueeze(-2)
        squared = 2 * torch.baddbmm(half + other, points, self.evaluated.mT, alpha=-1)
        near = squared <= _MIN_SQUARED_DISTANCE
        squared = squared.clamp_min(_MIN_SQUARED_DISTANCE)
        weights = -power / 2 * squared.log()
        weights = torch.where(self.present.unsqueeze(-2), weights, -torch.inf)
        good = torch.where(self.worked.unsqueeze(-2), weights, -torch.inf)
        total, of_good = weights.logsumexp(-1), good.logsumexp(-1)
        values = of_good - total
        if not gradient:
            return values, values
        share = (good - of_good.unsqueeze(-1)).exp() - (weights - total.unsqueeze(-1)).exp()
        # dlog(w_i) / dx = -power (x - e_i) / |x - e_i|^2, and none where the distance is floored
        share = torch.where(near, 0.0, share * (-power / squared))
        return values, share.sum(dim=-1, keepdim=True) * points - share @ self.evaluated


@dataclass(frozen=True)
class Positive:
    """``log softplus((v - shift) / unit)`` of a formula whose values are no logarithms."""

    formula: BatchedFormula
    shift: Tensor
    """``B``: the largest value over the data."""
    unit: Tensor
    """``B``: their range."""

    @classmethod
    def of(cls, formula: BatchedFormula, gp: BatchedGP) -> Positive:
        """With the unit of the values at the data."""
        values = formula(gp.X, False)[0]
        largest = torch.where(gp.present, values, -torch.inf).amax(dim=-1)
        unit = largest - torch.where(gp.present, values, torch.inf).amin(dim=-1)
        return cls(formula, largest, torch.where(unit > 0, unit, 1.0))

    def take(self, groups: Tensor) -> Positive:
        """The formula of some runs, by index."""
        return Positive(self.formula.take(groups), self.shift[groups], self.unit[groups])

    def __call__(self, points: Tensor, gradient: bool = True) -> tuple[Tensor, Tensor]:
        """Values and gradients at ``B x m x d`` points."""
        values, slopes = self.formula(points, gradient)
        scaled = (values - self.shift.unsqueeze(-1)) / self.unit.unsqueeze(-1)
        # log(softplus(v)) is v itself, to machine precision, long before exp(v) underflows.
        high = scaled.clamp_min(-30.0)
        soft = softplus(high)
        values = torch.where(scaled > -30, soft.log(), scaled)
        if not gradient:
            return values, slopes
        by_value = torch.where(scaled > -30, high.sigmoid() / soft, 1.0) / self.unit.unsqueeze(-1)
        return values, by_value.unsqueeze(-1) * slopes


@dataclass(frozen=True)
class Sum:
    """Two formulas added."""

    first: BatchedFormula
    second: BatchedFormula

    def take(self, groups: Tensor) -> Sum:
        """The formula of some runs, by index."""
        return Sum(self.first.take(groups), self.second.take(groups))

    def __call__(self, points: Tensor, gradient: bool = True) -> tuple[Tensor, Tensor]:
        """Values and gradients at ``B x m x d`` points."""
        values, slopes = self.first(points, gradient)
        more, steeper = self.second(points, gradient)
        return values + more, slopes + steeper
