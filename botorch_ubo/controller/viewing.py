"""From a model to the view of it that serves the goal of a run."""

from __future__ import annotations

from dataclasses import replace

from botorch.acquisition.objective import IdentityMCObjective
from botorch.exceptions.errors import InputDataError
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo.boxes import check_inside
from botorch_ubo.models.training_data import training_targets
from botorch_ubo.policies.goal_view import GoalView
from botorch_ubo.policies.state import Settings
from botorch_ubo.policies.view import ModelView


def view_of(
    model: Model,
    initial_bounds: Tensor,
    limits: Tensor,
    settings: Settings,
    X_baseline: Tensor | None = None,
) -> ModelView:
    r"""Look at a model, and refuse one that does not fit the box.

    Args:
        model: A fitted model.
        initial_bounds: The first ``2 x d`` box.
        limits: ``2 x d`` limits within which all data must be.
        settings: With the goal of the run and its named parameters, if it has any.
        X_baseline: ``n x d`` evaluated points of a model that does not keep them.

    Returns:
        The view.
    """
    goal = settings.goal
    categories = () if settings.space is None else settings.space.categories
    view: ModelView
    if goal.is_plain:
        transform = goal.posterior_transform
        view = ModelView(model, initial_bounds, goal.maximize, transform, categories, X_baseline)
        view.check()
        if not view.has_mean:  # then by samples
            goal = replace(goal, objective=IdentityMCObjective())
    if not goal.is_plain:
        view = GoalView(model, initial_bounds, goal, categories, X_baseline)
        view.check()
    d = initial_bounds.shape[-1]
    if view.X_raw.shape[-1] != d:
        raise InputDataError(
            f"Expected a model of {d} inputs, as many as the bounds have; got "
            f"{view.X_raw.shape[-1]}."
        )
    check_inside(view.X_raw, limits, "the model's training inputs")
    if not all(targets.isfinite().all() for targets in training_targets(model)):
        raise InputDataError(
            "Expected finite training targets; got NaN or infinity. Leave failed evaluations "
            "out of the model."
        )
    return view
