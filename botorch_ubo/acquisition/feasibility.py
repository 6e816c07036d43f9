r"""Keep away from where evaluations failed: an acquisition function times a chance of success.

The chance is the share of successes among the evaluations around a point, weighted by inverse
distance (Shepard's interpolation of "it worked" and "it did not"),

``p(x) = sum_{s worked} |x - s|^-(d+1) / sum_{e any} |x - e|^-(d+1)``,

with distances in length-scales. It is 0 at a failure, 1 at a success, and the share of all
successes far away from both. It has no scale of its own, so that the edge of what works is
approached by something like bisection, however wide the box. Failures stay out of the model: they
bring no information on values, and unlike pending points no outcome to count on.

Weighting expected improvement by a chance of feasibility goes back to [Schonlau1998].

References:
    [Schonlau1998] M. Schonlau, W. J. Welch, and D. R. Jones. Global versus local search in
    constrained optimization of computer models. IMS Lecture Notes 34, 1998.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.utils.transforms import t_batch_mode_transform
from gpytorch.models import ExactGP
from torch import Tensor
from torch.nn.functional import softplus

from botorch_ubo.acquisition.batched import BatchedForm, BatchedLogChance, Sum, batched_form
from botorch_ubo.compat.botorch_private import LogValues, has_log_values
from botorch_ubo.models.quick import (
    Array,
    ClosedForm,
    ValuesAndGradients,
    closed_form,
    minus_half_squares,
)
from botorch_ubo.models.space import to_model_space

_MIN_SQUARED_DISTANCE = 1e-12  # keeps the logarithm finite at a failure itself


class LogFeasibilityWeighted(LogValues, AcquisitionFunction):
    r"""``log a(x) + log p(x)`` for an acquisition function ``a`` and a chance of success ``p``.

    ``a`` itself is used if its values are logarithms. For any other ``v``, it is the logarithm of
    ``softplus((v - m) / s)``, with ``m`` and ``s`` its maximum and range over the successes: a
    monotone function of ``v`` that is positive, as a product with a chance needs it.

    Example:
        >>> acqf = LogExpectedImprovement(model, best_f)
        >>> acqf = LogFeasibilityWeighted(acqf, X, X_failed, lengthscales)
    """

    model: ExactGP

    def __init__(
        self,
        acq_function: AcquisitionFunction,
        X_success: Tensor,
        X_failed: Tensor,
        lengthscales: Tensor,
    ) -> None:
        r"""``log a(x) + log p(x)``.

        Args:
            acq_function: The acquisition function, of an exact GP; pending points are its own.
            X_success: ``n x d`` points whose evaluation succeeded, in raw units.
            X_failed: ``m x d`` points whose evaluation failed, in raw units.
            lengthscales: ``d``-dim units of distance, in the model's input space.
        """
        super().__init__(model=acq_function.model)
        self.acq_function = acq_function
        self.num_success = len(X_success)
        self.X = torch.cat([X_success, X_failed.to(X_success)]).detach()
        self.lengthscales = lengthscales.to(X_success)
        self.points = to_model_space(self.model, self.X).detach() / self.lengthscales
        self.power = X_success.shape[-1] + 1
        self.shift, self.unit = 0.0, 1.0
        if not has_log_values(acq_function):
            with torch.no_grad():
                values = acq_function(X_success.unsqueeze(-2))
            self.shift = float(values.max())
            self.unit = float(values.max() - values.min()) or 1.0

    @property
    def X_pending(self) -> Tensor | None:  # type: ignore[override]
        """Pending points of the acquisition function; absent if it takes none."""
        return self.acq_function.X_pending

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:
        r"""Hand pending points to the acquisition function.

        Args:
            X_pending: ``m x d`` points that are being evaluated.
        """
        self.acq_function.set_X_pending(X_pending)

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]  # annotated for the base only
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate on the candidate set X.

        Args:
            X: A ``(b) x 1 x d``-dim tensor of design points.

        Returns:
            A ``(b)``-dim tensor of values.
        """
        value = self.acq_function(X)
        if not has_log_values(self.acq_function):
            scaled = (value - self.shift) / self.unit
            # log(softplus(v)) is v itself, to machine precision, long before exp(v) underflows.
            value = torch.where(scaled > -30, softplus(scaled.clamp_min(-30)).log(), scaled)
        return value + self.log_chance(X.squeeze(-2))

    def closed_form(self) -> ClosedForm | None:
        """The sum of the acquisition function's formula and the chance's, if the former has one."""
        if type(self) is not LogFeasibilityWeighted or not has_log_values(self.acq_function):
            return None
        base = closed_form(self.acq_function)
        if base is None:
            return None
        # Length-scales of the formula's points per one of ours, from a step along each dimension.
        ends = torch.stack([base.origin, base.origin + 1 / base.slope[0]])
        step = to_model_space(self.model, ends).diff(dim=0).squeeze(0) / self.lengthscales
        unit = np.abs(step.double().numpy())
        chance = _LogChance(unit, unit * base.to_points(self.X), self.num_success, self.power)
        return replace(base, formula=_Sum(base.formula, chance))

    def batched_form(self) -> BatchedForm | None:
        """The same on a device: of a model whose length-scales are ours."""
        if type(self) is not LogFeasibilityWeighted or not has_log_values(self.acq_function):
            return None
        base = batched_form(self.acq_function)
        if base is None:
            return None
        evaluated = base.gp.to_points(self.X.unsqueeze(0))
        present = torch.ones_like(evaluated[..., 0], dtype=torch.bool)
        worked = torch.arange(len(self.X), device=self.X.device) < self.num_success
        chance = BatchedLogChance(evaluated, worked.unsqueeze(0), present)
        return replace(base, formula=Sum(base.formula, chance))

    def log_chance(self, X: Tensor) -> Tensor:
        """Logarithm of the chance of success at ``b x d`` points (``b``)."""
        scaled = to_model_space(self.model, X) / self.lengthscales
        squared = (scaled.unsqueeze(-2) - self.points).square().sum(dim=-1)  # b x (n + m)
        weights = -self.power / 2 * squared.clamp_min(_MIN_SQUARED_DISTANCE).log()
        return weights[..., : self.num_success].logsumexp(dim=-1) - weights.logsumexp(dim=-1)


@dataclass(frozen=True)
class _LogChance:
    """:meth:`LogFeasibilityWeighted.log_chance` in numpy, with its gradient."""

    unit: Array
    """``d``-dim: our length-scales per one of the points'."""
    evaluated: Array
    """``n x d`` successes, then failures, in our length-scales."""
    num_success: int
    power: int

    def __call__(self, points: Array, gradient: bool = True) -> tuple[Array, Array]:
        points = points * self.unit
        squared = -2 * minus_half_squares(points, self.evaluated)  # b x n
        near = squared <= _MIN_SQUARED_DISTANCE
        squared[near] = _MIN_SQUARED_DISTANCE
        weights = -self.power / 2 * np.log(squared)
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
        total = weights.sum(axis=-1)
        # Next to a failure in many dimensions the share of all successes underflows.
        good = np.maximum(weights[:, : self.num_success].sum(axis=-1), np.finfo(float).tiny)
        values = np.log(good / total)
        if not gradient:
            return values, np.empty((0, points.shape[-1]))
        share = -weights / total[:, None]
        share[:, : self.num_success] += weights[:, : self.num_success] / good[:, None]
        # dlog(w_i) / dx = -power (x - e_i) / |x - e_i|^2, and none where the distance is floored
        share *= -self.power / squared
        share[near] = 0.0
        slope = share.sum(axis=-1)[:, None] * points - share @ self.evaluated
        return values, slope * self.unit


@dataclass(frozen=True)
class _Sum:
    """Two formulas added."""

    first: ValuesAndGradients
    second: ValuesAndGradients

    def __call__(self, points: Array, gradient: bool = True) -> tuple[Array, Array]:
        values, slopes = self.first(points, gradient)
        more, steeper = self.second(points, gradient)
        return values + more, slopes + steeper
