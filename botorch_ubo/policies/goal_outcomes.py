r"""What the outcomes of a model say of a goal at the evaluated points.

Posterior probabilities are those of normal distributions with the mean and the variance of a
constraint's samples: exact where a constraint is linear in the outcomes, and never rounded to
zero, so that hopeless points are still ranked.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.models.model import Model
from botorch.posteriors.multitask import MultitaskGPPosterior
from botorch.sampling.get_sampler import get_sampler
from torch import Tensor

from botorch_ubo.models.own_units import OutcomeUnits
from botorch_ubo.models.structure import spread
from botorch_ubo.models.training_data import observed_outcomes
from botorch_ubo.policies.goal import Goal
from botorch_ubo.policies.view import ModelView
from botorch_ubo.posterior import PosteriorSummary

_SAMPLES = 128
_LOG_HALF = math.log(0.5)


class GoalOutcomes(ModelView):
    """Objectives, constraints and their chances by samples, where outcomes are no objective."""

    def __init__(
        self,
        model: Model,
        initial_bounds: Tensor,
        goal: Goal,
        categories: tuple[tuple[int, int], ...] = (),
        X_baseline: Tensor | None = None,
    ) -> None:
        r"""A model in the light of a goal.

        Args:
            model: A fitted model in evaluation mode.
            initial_bounds: The first ``2 x d`` box, in raw units.
            goal: What is sought.
            categories: Column and number of values of each categorical parameter.
            X_baseline: ``n x d`` evaluated points, for a model that does not keep them.
        """
        super().__init__(model, initial_bounds, goal.maximize, None, categories, X_baseline)
        # Objective and constraints are functions of outcomes in the user's units.
        self.model, self.units = self.given, OutcomeUnits()
        self.goal = goal

    @property
    def is_multi(self) -> bool:
        """Whether several objectives are sought."""
        return self.goal.is_multi

    def check(self) -> None:
        """Refuse a model whose outcomes do not say which of them is the objective."""
        self.goal.check(self.model)

    @property
    def objective(self) -> Any:
        """There is no Gaussian process to be had: what needs one refuses."""
        raise UnsupportedError(
            f"Expected one objective that is a Gaussian process, without constraints; got "
            f"{self._what}. Confidence bounds and the expansion theorem speak of nothing else. Use "
            "a method of expected improvement without the theorem, such as EI-Turns."
        )

    @property
    def summary(self) -> PosteriorSummary:
        """The theorem is about another goal."""
        return self.objective

    @cached_property
    def samples(self) -> Tensor:
        """``s x n x m`` samples of the outcomes at each evaluated point, in raw units."""
        return self._sample(observation_noise=False)

    def _sample(self, observation_noise: bool, X: Tensor | None = None) -> Tensor:
        X = self.X_raw if X is None else X
        with torch.no_grad():
            posterior = self.model.posterior(X.unsqueeze(-2), observation_noise=observation_noise)
            joint = isinstance(posterior, MultitaskGPPosterior)
            if joint:  # BoTorch's of correlated outputs cannot be sampled point by point
                posterior = self.model.posterior(X, observation_noise=observation_noise)
            samples = get_sampler(posterior, torch.Size([_SAMPLES]), seed=0)(posterior)
        if joint:
            return samples
        samples = samples.squeeze(-2)  # s x n (x S of an ensemble) x m
        return samples.movedim(1, -2).flatten(0, -3) if samples.dim() > 3 else samples

    def expected(self, X: Tensor) -> tuple[Tensor, Tensor]:
        r"""What is expected of points that need not have been evaluated.

        Args:
            X: ``p x d`` points in raw units.

        Returns:
            ``p x k`` means of the objectives, in double, and ``p`` booleans: where the means of
            all constraints are met.
        """
        samples = self._sample(observation_noise=False, X=X)
        values = self.goal.evaluate(samples, X).mean(dim=0).double()
        if not self.goal.constraints:
            return values, torch.ones_like(values[:, 0], dtype=torch.bool)
        return values, (self.goal.violations(samples).mean(dim=0) <= 0).all(dim=-1)

    @cached_property
    def objectives(self) -> Tensor:
        """``n x k`` posterior means of the objectives, in double; large is good."""
        values = self.goal.evaluate(self.samples, self.X_raw)
        s, n = self.samples.shape[:2]
        if values.shape[:2] != (s, n) or values.dim() != 3:
            raise InputDataError(
                f"Expected one number of every point from `objective`, {s} x {n} for "
                f"{tuple(self.samples.shape)} outcomes; got {tuple(values.shape[:-1])}. Index the "
                "last dimension away, as in `lambda Y, X=None: Y[..., 0]`."
            )
        _check_numbers(values, "objective")
        return values.mean(dim=0).double()

    @cached_property
    def observed_objectives(self) -> Tensor:
        """``n x k`` observed objectives; posterior means where not all outcomes were observed."""
        Y = observed_outcomes(self.model, self.X_raw)
        if Y is None:
            return self.objectives
        return self.goal.evaluate(Y.to(self.like), self.X_raw).double().detach()

    @cached_property
    def objective_units(self) -> Tensor:
        """``k`` standard deviations of the observed objectives."""
        return self.X.new_tensor([spread(column) for column in self.observed_objectives.mT])

    @cached_property
    def violations(self) -> Tensor:
        """``s x n x c`` samples of the constraints, in double."""
        found = [constraint(self.samples) for constraint in self.goal.constraints]
        expected = self.samples.shape[:-1]
        for i, values in enumerate(found):
            if values.shape != expected:
                raise InputDataError(
                    f"Expected one number of every point from constraint {i}, {tuple(expected)} "
                    f"for {tuple(self.samples.shape)} outcomes; got {tuple(values.shape)}. Index "
                    "the last dimension away, as in `lambda Y: Y[..., 1]`."
                )
            _check_numbers(values, f"constraint {i}")
        return torch.stack(found, dim=-1).double()

    @cached_property
    def constraint_units(self) -> Tensor:
        """``c`` standard deviations of the constraints' means over the data."""
        means = self.violations.mean(dim=0)
        return self.X.new_tensor([spread(column) for column in means.mT])

    @cached_property
    def log_feasibility(self) -> Tensor:
        """``n x c`` logarithms of the probability that a constraint is met."""
        if not self.goal.constraints:
            return self.X.new_zeros(len(self.X), 0)
        mean, std = self.violations.mean(dim=0), self.violations.std(dim=0)
        # A deterministic outcome is feasible or not.
        floor = 1e-12 * self.constraint_units
        return torch.special.log_ndtr(-mean / torch.maximum(std, floor))

    @cached_property
    def feasible(self) -> Tensor:
        """``n`` booleans: which points are probably feasible, all constraints taken together."""
        return self.in_sight & (self.log_feasibility.sum(dim=-1) >= _LOG_HALF)

    @property
    def any_feasible(self) -> bool:
        """Whether there is a point that is probably feasible."""
        return bool(self.feasible.any())

    @cached_property
    def excess(self) -> Tensor:
        """``n`` sums of what the constraints' means are too large by, in units of each."""
        if not self.goal.constraints:
            return self.X.new_zeros(len(self.X))
        return (self.violations.mean(dim=0).clamp_min(0) / self.constraint_units).sum(dim=-1)

    @property
    def _what(self) -> str:
        parts = []
        if self.is_multi:
            parts.append("several objectives")
        elif self.goal.objective is not None:
            parts.append(f"a {type(self.goal.objective).__name__}")
        if self.goal.constraints:
            parts.append(f"{len(self.goal.constraints)} constraint(s)")
        return " and ".join(parts)


def _check_numbers(values: Tensor, what: str) -> None:
    """Refuse a function of outcomes that is not defined where the model expects them."""
    bad = values.isnan()
    if bad.any():
        raise InputDataError(
            f"Expected numbers from {what}; got NaN for {int(bad.sum())} of {bad.numel()} samples "
            "of the outcomes at evaluated points. It is asked for outcomes near the observed ones "
            "too: define it there, with `clamp_min` before a logarithm or a root, say."
        )
