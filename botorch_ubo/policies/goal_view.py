r"""A fitted model in the light of constraints, an objective by samples, or several objectives.

The *value* of a point is its objective where it is probably feasible. All others are below the
worst of those, by how unlikely they are to be feasible, so that whoever follows the best value
follows a feasible point, or, while there is none, the one most likely to be. With several
objectives the points of the Pareto front lead in turn.

Posterior probabilities are those of normal distributions with the mean and the variance of a
constraint's samples: exact where a constraint is linear in the outcomes, and never rounded to
zero, so that hopeless points are still ranked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.models.model import Model
from botorch.posteriors.multitask import MultitaskGPPosterior
from botorch.sampling.get_sampler import get_sampler
from botorch.utils.multi_objective import infer_reference_point, is_non_dominated
from torch import Tensor

from botorch_ubo.models.outcome_units import is_flat
from botorch_ubo.models.own_units import OutcomeUnits
from botorch_ubo.models.structure import spread
from botorch_ubo.models.training_data import observed_outcomes
from botorch_ubo.policies.goal import Goal
from botorch_ubo.policies.view import ModelView
from botorch_ubo.posterior import PosteriorSummary

_SAMPLES = 128
_LOG_HALF = math.log(0.5)
_NOTABLE = 1e-3  # standard deviations of an objective: less than that is no success


class GoalView(ModelView):
    """A model whose outcomes are not themselves the one objective."""

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

    def _sample(self, observation_noise: bool) -> Tensor:
        X = self.X_raw.unsqueeze(-2)
        with torch.no_grad():
            posterior = self.model.posterior(X, observation_noise=observation_noise)
            joint = isinstance(posterior, MultitaskGPPosterior)
            if joint:  # BoTorch's of correlated outputs cannot be sampled point by point
                posterior = self.model.posterior(
                    self.X_raw, observation_noise=observation_noise
                )
            samples = get_sampler(posterior, torch.Size([_SAMPLES]), seed=0)(posterior)
        if joint:
            return samples
        samples = samples.squeeze(-2)  # s x n (x S of an ensemble) x m
        return samples.movedim(1, -2).flatten(0, -3) if samples.dim() > 3 else samples

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

    @cached_property
    def values(self) -> Tensor:
        """``n`` posterior means of the objective; below all others where probably infeasible."""
        self._one_objective()
        return self._ranked(self.objectives[:, 0])

    @cached_property
    def observed(self) -> Tensor:
        """``n`` observed values of the objective, likewise."""
        self._one_objective()
        return self._ranked(self.observed_objectives[:, 0])

    def _ranked(self, values: Tensor) -> Tensor:
        # Not by the chance of being feasible: the surer the model, the smaller it is, and any step
        # towards feasibility would count as a leap.
        unit = float(self.objective_units[0])
        worst = values[self.feasible].min() if self.any_feasible else values.new_zeros(())
        return torch.where(self.feasible, values, worst - unit * self.excess)

    @cached_property
    def incumbents(self) -> Tensor:
        """Indices of the points that lead: the Pareto front of the probably feasible, or the best.

        While none is probably feasible, the one that is most likely to be.
        """
        if not self.any_feasible:
            chance = self.log_feasibility.sum(dim=-1).where(self.in_sight, -torch.inf)
            return chance.argmax().reshape(1)
        if not self.is_multi:
            return self.values.argmax().reshape(1)
        index = self.feasible.nonzero().squeeze(-1)
        return index[is_non_dominated(self.objectives[index], deduplicate=True)]

    @property
    def incumbent(self) -> int:
        """Index of the point that leads: with several objectives, each of the front in turn."""
        return int(self.incumbents[len(self.X_raw) % len(self.incumbents)])

    @property
    def best_observed(self) -> int:
        """Index of the best observation; with several objectives, of the point that leads."""
        return self.incumbent if self.is_multi else int(self.observed.argmax())

    @cached_property
    def leading(self) -> Tensor:
        """``n`` booleans: which points the box may follow.

        Those that are probably feasible, if any is; with several objectives those of them that
        were at the front when they came, since a dominated one is no sign of where to go.
        """
        candidates = self.feasible if self.any_feasible else torch.ones_like(self.feasible)
        return candidates & self._arrived(0.0) if self.is_multi else candidates

    def last_improvement(self, notable: float) -> int:
        """Index of the point that last brought anything notable."""
        if not self.is_multi:
            return super().last_improvement(notable)
        arrived = (self._arrived(notable) & self.leading).nonzero()
        return int(arrived[-1]) if len(arrived) else 0

    def as_good_as_best(self, notable: float) -> Tensor:
        """``n`` booleans: which points are as good as the one that leads.

        Of several objectives that one alone, since the others of the front are good otherwise.
        """
        if not self.is_multi:
            return super().as_good_as_best(notable)
        equal = torch.zeros_like(self.in_sight)
        equal[self.incumbent] = True
        return equal

    @property
    def scores(self) -> Tensor:
        """``n`` values of which a new record is a success.

        With several objectives the number of points that have got to the front by then, 0 for one
        that did not.
        """
        if not self.is_multi:
            return super().scores
        arrived = self._arrived(_NOTABLE) & self.leading
        return torch.where(arrived, arrived.cumsum(dim=0), 0).double()

    def _arrived(self, margin: float) -> Tensor:
        """Which points no earlier one dominated by less than a margin, in units of each."""
        scaled = self.objectives / self.objective_units
        # gap[i, j]: by how much j falls short of i in the objective in which it does so most.
        gap = (scaled.unsqueeze(1) - scaled.unsqueeze(0)).amax(dim=-1)
        earlier = torch.ones_like(gap, dtype=torch.bool).tril(-1) & self.feasible
        return ((gap > margin) | ~earlier).all(dim=-1)

    @cached_property
    def reference_point(self) -> Tensor:
        """``k`` values that the front is better than, as BoTorch infers them from it now.

        But a standard deviation of the observed objectives below the front at least. The front of
        a small first box is narrow, and beyond a reference point close to it nothing counts: it
        could not get wider.
        """
        front = self.objectives[self.incumbents]
        inferred = infer_reference_point(front)
        return torch.minimum(inferred, front.amin(dim=0) - self.objective_units)

    @cached_property
    def baseline(self) -> Tensor:
        """``r x d`` points that are best, or on the front, in some sample; raw units.

        Noisy expected improvement is over these: the others have no part in it, and cost time.
        While none is feasible in any sample, all points.
        """
        values = self.goal.evaluate(self.samples, self.X_raw)  # s x n x k
        feasible = self.in_sight.expand(values.shape[:-1])
        if self.goal.constraints:
            feasible = feasible & (self.violations <= 0).all(dim=-1)
        if not feasible.any():
            return self.X_raw
        worst = values.amin(dim=(0, 1)) - 1
        values = torch.where(feasible.unsqueeze(-1), values, worst)
        best = is_non_dominated(values, deduplicate=False) & feasible
        return self.X_raw[best.any(dim=0)]

    @cached_property
    def flat(self) -> bool:
        """Whether the observed objectives are equal up to rounding, each of them."""
        return all(is_flat(column.reshape(-1, 1)) for column in self.observed_objectives.mT)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the observed objective; several are counted in their own."""
        return 1.0 if self.is_multi else float(self.objective_units[0])

    @cached_property
    def range(self) -> float:
        """Largest minus smallest observed objective; 1 if they are equal, or for several."""
        if self.is_multi:
            return 1.0
        Y = self.observed_objectives
        return float(Y.max() - Y.min()) or 1.0

    @cached_property
    def noise_std(self) -> float:
        """Standard deviation of the noise of the objective, the largest in units of several."""
        noisy = self._sample(observation_noise=True)
        with_noise = self.goal.evaluate(noisy, self.X_raw).var(dim=0)
        without = self.goal.evaluate(self.samples, self.X_raw).var(dim=0)
        noise = (with_noise - without).clamp_min(0).mean(dim=0).sqrt().double()
        return float((noise / self.objective_units).max()) * self.spread

    def explain(self) -> Mapping[str, Any]:
        """Who leads, how sure its feasibility is, and which constraint kept the box from others."""
        told = dict(super().explain())
        if self.is_multi:
            told["front"] = self.incumbents.tolist()
            told["reference_point"] = self.reference_point.tolist()
        if not self.goal.constraints:
            return told
        lead = self.incumbent
        told["feasibility"] = self.log_feasibility[lead].exp().tolist()
        if not self.any_feasible:
            told["constraint"] = int(self.log_feasibility[lead].argmin())
            told["constrained"] = (
                f"no point is probably feasible; constraint {told['constraint']} is furthest from "
                "being met where the chance is best"
            )
            return told
        tempting = self._tempting()
        if tempting is not None:
            told["constraint"] = int(self.log_feasibility[tempting].argmin())
            told["constrained"] = (
                f"constraint {told['constraint']} keeps it from a better value at point {tempting}"
            )
        return told

    def _tempting(self) -> int | None:
        """The infeasible point that would lead if constraints did not matter, if there is one."""
        if self.is_multi:
            front = is_non_dominated(self.objectives) & ~self.feasible
            index = front.nonzero().squeeze(-1)
            if not len(index):
                return None
            return int(index[self.log_feasibility[index].sum(dim=-1).argmin()])
        best = int(self.objectives[:, 0].argmax())
        return None if self.feasible[best] else best

    def _one_objective(self) -> None:
        if self.is_multi:
            raise UnsupportedError(
                f"Expected one objective; got {self._what}, of which no point has one value. Use "
                "a method that follows the Pareto front, such as EI-Turns or HuBO-EI."
            )

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


def check_epsilon_unit(goal: Goal, unit: str) -> None:
    """Refuse an accuracy in raw units of several objectives, which have no common one."""
    if goal.is_multi and unit == "raw":
        raise InputDataError(
            "Expected `epsilon` in standard deviations with several objectives; got raw units, of "
            "which each has its own. Pass a number alone."
        )
