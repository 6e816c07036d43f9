r"""A fitted model as a policy sees it: data, posterior at the data, lengths; nothing of the run.

Values are in the model's own, standardised units (raw ones if it does not standardise), and
:attr:`ModelView.model` is the model in those; :attr:`ModelView.given` is the user's.

Everything is computed at most once, and only if asked for. What the theorem needs
(:attr:`ModelView.summary`) is refused for models that it does not cover; all else is there for any
GP with training data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import torch
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.models.transforms.outcome import Standardize
from torch import Tensor

from botorch_ubo.acquisition.search import Neighborhood
from botorch_ubo.models.outcome_units import is_flat
from botorch_ubo.models.own_units import in_own_units
from botorch_ubo.models.quick import QuickGP, SelectedGP
from botorch_ubo.models.sight import in_sight
from botorch_ubo.models.space import box_to_model_space, to_model_space
from botorch_ubo.models.structure import objective_noise, spread, sub_models
from botorch_ubo.models.training_data import (
    check_fitted,
    check_one_objective,
    observed_objective,
    tensor_like,
    training_inputs,
)
from botorch_ubo.policies.prior import Prior
from botorch_ubo.posterior import PosteriorSummary, summarize_posterior
from botorch_ubo.posterior.kernel_reach import LOG_UNIT_CORRELATION

_LOG_NEGLIGIBLE = math.log(1e-3)  # correlation below which a datum tells next to nothing


class ModelView:
    """A fitted model, its data in the model's space and its values such that large is good."""

    def __init__(
        self,
        model: Model,
        initial_bounds: Tensor,
        maximize: bool = True,
        posterior_transform: PosteriorTransform | None = None,
        categories: tuple[tuple[int, int], ...] = (),
        X_baseline: Tensor | None = None,
    ) -> None:
        r"""A fitted model as a policy sees it.

        Args:
            model: A fitted GP in evaluation mode.
            initial_bounds: The first ``2 x d`` box, in raw units.
            maximize: Whether large outcomes are good.
            posterior_transform: What makes one objective of several outputs.
            categories: Column and number of values of each categorical parameter.
            X_baseline: ``n x d`` evaluated points, for a model that does not keep them.
        """
        self.categories = categories
        self.given: Any = check_fitted(model, X_baseline)
        self.X_baseline = X_baseline
        self.model: Any
        self.model, self.posterior_transform, self.units = in_own_units(model, posterior_transform)
        self.initial_bounds = initial_bounds
        self.maximize = maximize

    @property
    def objective(self) -> tuple[PosteriorTransform | None, bool]:
        """Posterior transform and sign: the last arguments of an analytic acquisition function."""
        return self.posterior_transform, self.maximize

    def check(self) -> None:
        """Refuse a model of other outputs than the goal is about."""
        check_one_objective(self.model, self.posterior_transform)

    @property
    def is_multi(self) -> bool:
        """Whether several objectives are sought."""
        return False

    @cached_property
    def like(self) -> Tensor:
        """An empty tensor of the model's dtype and device."""
        return tensor_like(self.model)

    @cached_property
    def X_raw(self) -> Tensor:
        """``n x d`` evaluated points in raw units, in the model's dtype."""
        return training_inputs(self.model, self.X_baseline)

    @cached_property
    def X(self) -> Tensor:
        """``n x d`` training inputs in the model's space, in double on its device."""
        return to_model_space(self.model, self.X_raw.double())

    @cached_property
    def first_box(self) -> Tensor:
        """The user's ``2 x d`` box in the model's space, in double on its device."""
        return box_to_model_space(self.model, self.initial_bounds.to(self.X))

    @cached_property
    def observed(self) -> Tensor:
        """``n`` observed values; large is good.

        Posterior means, where the model does not keep an outcome of every point.
        """
        Y = observed_objective(self.model, self.posterior_transform, self.X_raw)
        if Y is None:
            return self.values.double()
        return Y if self.maximize else -Y

    @property
    def has_mean(self) -> bool:
        """Whether the posterior has a mean in closed form; after some outcome transforms, not.

        That is so of all models but those with a transform of outcomes that is not linear.
        """
        if isinstance(getattr(self.model, "outcome_transform", None), Standardize | None):
            return True
        try:
            with torch.no_grad():
                _ = self.model.posterior(self.X_raw[:1]).mean
        except NotImplementedError:
            return False
        return True

    @cached_property
    def values(self) -> Tensor:
        """``n`` posterior means at the data; large is good."""
        # Of all data, and of nothing else: what a model is conditioned on may be some of them.
        if type(self.model) is QuickGP and self.posterior_transform is None:
            own = self.model.means_at_data()
            if own is not None and self.X_baseline is None:
                return own if self.maximize else -own
        with torch.no_grad():
            posterior = self.model.posterior(
                self.X_raw.unsqueeze(-2), posterior_transform=self.posterior_transform
            )
            # ``n x 1 x 1``, or ``n x S x 1 x 1`` of an ensemble, whose members are averaged.
            mean = posterior.mean.reshape(len(self.X_raw), -1).mean(dim=-1)
        return mean if self.maximize else -mean

    @cached_property
    def incumbent(self) -> int:
        """Index of the evaluated point with the best posterior mean; the luckiest is another."""
        return int(self.values.where(self.in_sight, -torch.inf).argmax())

    @property
    def incumbents(self) -> Tensor:
        """Indices of all points that may lead; of one objective, the incumbent."""
        return torch.tensor([self.incumbent], device=self.X_raw.device)

    @property
    def leading(self) -> Tensor:
        """``n`` booleans: which points the box may follow."""
        return torch.ones(len(self.X_raw), dtype=torch.bool, device=self.X_raw.device)

    @property
    def any_feasible(self) -> bool:
        """Whether there is a point that is probably feasible; without constraints, any is."""
        return True

    def last_improvement(self, notable: float) -> int:
        """Index of the point that first was about as good as the best, to a notable amount."""
        values = self.values
        return int((values >= values.max() - notable).nonzero()[0])

    def as_good_as_best(self, notable: float) -> Tensor:
        """``n`` booleans: which points are as good as the incumbent, to a notable amount."""
        best = self.values[self.incumbent]
        return (self.values >= best - notable) & self.in_sight

    @property
    def scores(self) -> Tensor:
        """``n`` observed values in standard deviations: a new record is a success."""
        return self.observed / self.spread

    def explain(self) -> Mapping[str, Any]:
        """What a record should say of the model and the goal, as JSON values."""
        parts = sub_models(self.model)
        selected = [len(part.selected) for part in parts if isinstance(part, SelectedGP)]
        return {"data_in_model": max(selected)} if selected else {}

    @property
    def best_observed(self) -> int:
        """Index of the best observation."""
        return int(self.observed.where(self.in_sight, -torch.inf).argmax())

    @cached_property
    def in_sight(self) -> Tensor:
        """``n``-dim mask of the data that are not out of sight of the others; see ``models.sight``.

        Data that are decide nothing: they are no incumbent, and no box reaches for them.
        """
        return in_sight(self.X, self.first_box)

    @cached_property
    def flat(self) -> bool:
        """Whether the observed values are equal up to rounding."""
        return is_flat(self.units.location + self.units.scale * self.observed.reshape(-1, 1))

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the observed values; 1 if they are equal."""
        return 1.0 if self.flat else spread(self.observed)

    @cached_property
    def range(self) -> float:
        """Largest minus smallest observed value; 1 if they are equal."""
        return 1.0 if self.flat else float(self.observed.max() - self.observed.min())

    def to_raw_value(self, value: float) -> float:
        """A value of the objective, of which the larger is the better, in the user's terms."""
        return self.units.location + self.units.scale * (value if self.maximize else -value)

    def to_raw_difference(self, difference: float) -> float:
        """A difference of values in the user's unit."""
        return self.units.scale * difference

    @cached_property
    def noise_std(self) -> float:
        """Standard deviation of the objective's noise, averaged over the data."""
        variance = objective_noise(self.model, self.posterior_transform)
        if variance is not None:
            return float(variance.sqrt().mean())
        X, transform = self.X_raw.unsqueeze(-2), self.posterior_transform
        with torch.no_grad():
            with_noise, without = (
                self.model.posterior(X, observation_noise=noise, posterior_transform=transform)
                for noise in (True, False)
            )
            return float((with_noise.variance - without.variance).clamp_min(0).mean().sqrt())

    @cached_property
    def lengthscales(self) -> Tensor:
        """``d``-dim: where the correlation is exp(-1/2), an RBF's length-scale.

        A side of the first box along dimensions in which the kernel does not decay, as between
        categories.
        """
        return self._prior.half_widths(LOG_UNIT_CORRELATION, torch.amin)

    @cached_property
    def slopes(self) -> Tensor:
        """``d``-dim standard deviations of the objective's partial derivatives (``s_j``).

        Per unit of the model's space, the largest over the members of an ensemble.
        Where they do not follow from the kernel, one spread of the values per length-scale.
        """
        found = self._prior.slopes
        return self.spread / self.lengthscales if found is None else found

    @cached_property
    def relative_slopes(self) -> Tensor:
        """``d``-dim :attr:`slopes` in prior standard deviations of the objective.

        Of an ensemble the largest over its members, each in its own unit.
        """
        found = self._prior.relative_slopes
        return 1 / self.lengthscales if found is None else found

    @cached_property
    def neighborhood(self) -> Neighborhood:
        """The data, their length-scales and reach, to place the starts of a search by."""
        reach = self._prior.half_widths(_LOG_NEGLIGIBLE, torch.amax)
        return Neighborhood(self.model, self.X, self.lengthscales, reach, self.categories)

    @cached_property
    def summary(self) -> PosteriorSummary:
        """The posterior as the theorem sees it, of the objective to be maximised."""
        return summarize_posterior(self.model, self.posterior_transform, self.maximize)

    def require_theorem(self) -> PosteriorSummary:
        """The summary, or an ``UnsupportedError`` that says why the theorem has none."""
        return self.summary

    @cached_property
    def _prior(self) -> Prior:
        """What the kernels tell of lengths and slopes."""
        return Prior(
            self.model, self.posterior_transform, self.X, self.first_box, self.initial_bounds
        )
