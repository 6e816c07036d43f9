r"""A fitted model in the light of constraints, an objective by samples, or several objectives.

The *value* of a point is its objective where it is probably feasible. All others are below the
worst of those, by how unlikely they are to be feasible, so that whoever follows the best value
follows a feasible point, or, while there is none, the one most likely to be. With several
objectives the points of the Pareto front lead in turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import torch
from botorch.exceptions.errors import UnsupportedError
from botorch.utils.multi_objective import infer_reference_point, is_non_dominated
from torch import Tensor

from botorch_ubo.models.outcome_units import is_flat
from botorch_ubo.policies.goal_outcomes import GoalOutcomes

_NOTABLE = 1e-3  # standard deviations of an objective: less than that is no success


class GoalView(GoalOutcomes):
    """A model whose outcomes are not themselves the one objective: which of its points lead."""

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

        That of a step may be lower (:func:`botorch_ubo.policies.goal_reference.reference_point`).
        But a standard deviation of the observed objectives below the front at least. The front of
        a small first box is narrow, and beyond a reference point close to it nothing counts: it
        could not get wider.
        """
        front = self.objectives[self.incumbents]
        units = self.objective_units  # below a range of 1e-8 BoTorch takes that in place of it
        return (
            torch.minimum(infer_reference_point(front / units), (front / units).amin(0) - 1) * units
        )

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
