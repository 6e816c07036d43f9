r"""Acquisition functions for constraints, objectives by samples, and several objectives.

All of them know pending points, so that one factory serves single candidates and batches. BoTorch's
temperatures are made for outcomes of unit size; here they are in the outcomes' own units.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.logei import (
    TAU_MAX,
    TAU_RELU,
    qLogExpectedImprovement,
    qLogNoisyExpectedImprovement,
)
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.acquisition.multi_objective.parego import qLogNParEGO
from botorch.exceptions.errors import UnsupportedError
from botorch.models.gpytorch import GPyTorchModel
from botorch.sampling.base import MCSampler
from botorch.sampling.get_sampler import get_sampler
from botorch.utils.sampling import sample_simplex
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.acquisition.own_draws import RepeatableLogNEI, RepeatableLogNParEGO
from botorch_ubo.models.quick import QuickLogExpectedHypervolumeImprovement, QuickModelList
from botorch_ubo.models.structure import sub_models
from botorch_ubo.models.training_data import observed_outcomes
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.goal import Constraint
from botorch_ubo.policies.goal_lines import goal_lines
from botorch_ubo.policies.goal_reference import reference_point
from botorch_ubo.policies.goal_view import GoalView

_NUM_SAMPLES = 128
_NUM_SAMPLES_OF_CELLS = 32
"""With three objectives or more, each sample's front costs a partition of space: milliseconds."""
_NOISE_TO_SPEAK_OF = 0.05  # standard deviations of an objective
_ETA = 1e-3  # BoTorch's temperature of a constraint, in units of the constraint
_MAX_HYPERVOLUME_OBJECTIVES = 4
"""Beyond so many objectives the boxes under a front are too many; weights are drawn instead."""


def constrained_q_log_nei(context: Context) -> qLogNoisyExpectedImprovement:
    """Log noisy expected improvement over the evaluated points, under constraints if any."""
    view = goal_view(context)
    acquisition = RepeatableLogNEI if view.goal.constraints else qLogNoisyExpectedImprovement
    return acquisition(
        view.model,
        view.baseline,
        sampler=_sampler(context),
        objective=view.goal.as_objective(),
        constraints=_constraints(view),
        eta=_eta(view),
        tau_relu=TAU_RELU * view.spread,
        tau_max=TAU_MAX * view.spread,
        prune_baseline=False,
        cache_root=_cache_root(view),
    )


def constrained_q_log_ei(context: Context) -> qLogExpectedImprovement:
    """Log expected improvement over the best posterior mean of what is probably feasible.

    It costs less than :func:`constrained_q_log_nei`, and is the same where observations are exact.
    While nothing is probably feasible, the value to improve on is below all that was seen, so that
    the chance of being feasible decides.
    """
    view = goal_view(context)
    values = view.objectives[:, 0]
    best = values[view.feasible].max() if view.any_feasible else values.min() - view.spread
    return qLogExpectedImprovement(
        view.model,
        best.to(view.like),
        sampler=_sampler(context),
        objective=view.goal.as_objective(),
        constraints=_constraints(view),
        eta=_eta(view),
        tau_relu=TAU_RELU * view.spread,
        tau_max=TAU_MAX * view.spread,
    )


def q_log_nehvi(context: Context) -> qLogNoisyExpectedHypervolumeImprovement:
    """Log noisy expected hypervolume improvement beyond the reference point of this step.

    Objectives are counted from the reference point in standard deviations of the observed ones.
    """
    view = goal_view(context)
    reference = reference_point(context, view).to(view.like)
    units = view.objective_units.to(view.like)
    samples = _NUM_SAMPLES if len(units) == 2 else _NUM_SAMPLES_OF_CELLS
    return qLogNoisyExpectedHypervolumeImprovement(
        view.model,
        torch.zeros_like(reference),
        view.baseline,
        sampler=_sampler(context, samples),
        objective=view.goal.as_objectives(reference, units),
        constraints=_constraints(view),
        eta=_eta(view),
        prune_baseline=False,
        cache_root=_cache_root(view),
    )


def q_log_nparego(context: Context) -> qLogNParEGO:
    """Log noisy expected improvement of the objectives under weights drawn for this step."""
    view = goal_view(context)
    units = view.objective_units.to(view.like)
    acquisition = RepeatableLogNParEGO if view.goal.constraints else qLogNParEGO
    return acquisition(
        view.model,
        view.baseline,
        scalarization_weights=sample_simplex(len(units), seed=context.seed).squeeze(0).to(units),
        sampler=_sampler(context),
        objective=view.goal.as_objectives(torch.zeros_like(units), units),
        constraints=_constraints(view),
        eta=_eta(view),
        prune_baseline=False,
        cache_root=_cache_root(view),
    )


def log_ehvi(context: Context) -> QuickLogExpectedHypervolumeImprovement | None:
    """The formula of :func:`q_log_nehvi` for two objectives; ``None`` where it does not hold.

    It is over the posterior means of the front, not over what they may be: with noise to speak of
    that is something else, and there is no formula.
    """
    view = goal_view(context)
    model, Y = view.model, observed_outcomes(view.model, view.X_raw)
    quick = isinstance(model, QuickModelList) and view.like.device.type == "cpu"
    if not quick or Y is None or model.factored() is None or len(view.objective_units) != 2:
        return None
    lines = goal_lines(view.goal, Y.to(view.like), view.X_raw)
    if lines is None or view.noise_std > _NOISE_TO_SPEAK_OF:
        return None
    front = view.incumbents if view.any_feasible else view.incumbents[:0]
    return QuickLogExpectedHypervolumeImprovement(
        model,
        lines[0],
        view.X_raw[front],
        reference_point(context, view),
        partial(q_log_nehvi, context),
        lines[1],
    )


def hypervolume_or_parego(context: Context) -> AcquisitionFunction:
    """:func:`log_ehvi` or :func:`q_log_nehvi`; :func:`q_log_nparego` beyond four objectives."""
    if len(goal_view(context).objective_units) > _MAX_HYPERVOLUME_OBJECTIVES:
        return q_log_nparego(context)
    return log_ehvi(context) or q_log_nehvi(context)


def goal_view(context: Context) -> GoalView:
    """The view of a context that has constraints, an objective by samples, or several."""
    if not isinstance(context.view, GoalView):
        raise UnsupportedError(
            "Expected `objective` or `constraints` for this acquisition function; got one plain "
            "objective. Use `botorch_ubo.policies.factories.log_ei` or `q_log_ei` for that."
        )
    return context.view


def _constraints(view: GoalView) -> list[Constraint] | None:
    return list(view.goal.constraints) or None


def _cache_root(view: GoalView) -> bool | None:
    """BoTorch's choice, but where it fails or costs more than it saves: the quick list."""
    parts = sub_models(view.model)
    without = isinstance(view.model, QuickModelList) or not all(
        isinstance(part, ExactGP) and isinstance(part, GPyTorchModel) for part in parts
    )
    return False if without else None


def _sampler(context: Context, num_samples: int = _NUM_SAMPLES) -> MCSampler:
    """BoTorch's own choice, which would take its seed from the process-wide generator."""
    with torch.no_grad():
        posterior: Any = context.model.posterior(context.view.X_raw[:1])
    return get_sampler(posterior, torch.Size([num_samples]), seed=context.seed)


def _eta(view: GoalView) -> float | Tensor:
    if not view.goal.constraints:
        return _ETA
    return _ETA * view.constraint_units.to(view.like)
