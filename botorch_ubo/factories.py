r"""Acquisition functions as functions of the context of a step, for :class:`ExpandingBounds`.

Names with ``q`` propose several points and know pending ones, as does :class:`Repelled`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from botorch.acquisition import LogExpectedImprovement, qUpperConfidenceBound
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.logei import TAU_RELU
from botorch.acquisition.objective import PosteriorTransform, ScalarizedPosteriorTransform
from torch import Tensor

from botorch_ubo.acquisition.confidence import UnboundedUpperConfidenceBound
from botorch_ubo.acquisition.incremental import qLogIncrementalExpectedImprovement
from botorch_ubo.acquisition.penalties import HingeQuadraticPenalty, Penalty
from botorch_ubo.acquisition.quick_improvement import QuickLogExpectedImprovement
from botorch_ubo.acquisition.regularized import LogRegularizedExpectedImprovement
from botorch_ubo.acquisition.repelled import LogRepelledAcquisition
from botorch_ubo.acquisition.variance_cap import VarianceCappedLogExpectedImprovement
from botorch_ubo.context import Context
from botorch_ubo.quick_gp import QuickGP
from botorch_ubo.strategies.variance_cap import INITIAL_CAP


def log_ei(context: Context) -> AcquisitionFunction:
    """Log expected improvement over the best observation."""
    return improvement_over(context, best_observation(context))


def searching_log_ei(context: Context) -> AcquisitionFunction:
    """Log expected improvement that does not linger; see :func:`sought_value`."""
    return improvement_over(context, sought_value(context))


def q_searching_log_ei(context: Context) -> qLogIncrementalExpectedImprovement:
    """The Monte Carlo version of :func:`searching_log_ei`."""
    return _q_log_ei(context, sought_value(context))


def q_log_ei(context: Context) -> qLogIncrementalExpectedImprovement:
    """The Monte Carlo version of :func:`log_ei`."""
    return _q_log_ei(context, best_observation(context))


def ucb(context: Context) -> UnboundedUpperConfidenceBound:
    """The upper confidence bound whose ``beta`` counts steps in the current box, the context's."""
    return context.ucb


def q_ucb(context: Context) -> qUpperConfidenceBound:
    """The Monte Carlo version of the context's upper confidence bound."""
    return qUpperConfidenceBound(
        context.model, context.beta, posterior_transform=to_maximize(context)
    )


def ucb_of_run(context: Context) -> UnboundedUpperConfidenceBound:
    """Upper confidence bound whose ``beta`` counts steps of the run, not of the current box.

    For boxes that move at every step, in which the steps of the box would always be at 1.
    """
    settings = context.settings
    return UnboundedUpperConfidenceBound(
        context.model, beta_of_run(context), settings.posterior_transform, settings.maximize
    )


def q_ucb_of_run(context: Context) -> qUpperConfidenceBound:
    """The Monte Carlo version of :func:`ucb_of_run`."""
    return qUpperConfidenceBound(
        context.model, beta_of_run(context), posterior_transform=to_maximize(context)
    )


@dataclass(frozen=True)
class RegularizedLogEI:
    r"""Log expected improvement under a penalty built from the user's first box.

    Args:
        penalty: Class of the penalty.
        variant: How it enters, ``"target"`` or ``"prior_mean"``.
    """

    penalty: type[Penalty] = HingeQuadraticPenalty
    variant: str = "target"

    def __call__(self, context: Context) -> LogRegularizedExpectedImprovement:
        """Build it."""
        like = context.model.train_targets
        first = context.to_model(context.state.initial_bounds).to(like)
        return LogRegularizedExpectedImprovement(
            context.model,
            best_observation(context),
            self.penalty.from_bounds(first),
            context.summary.Y_std,
            self.variant,
            context.settings.posterior_transform,
            context.settings.maximize,
        )


@dataclass(frozen=True)
class Repelled:
    """Pending points, by repulsion, for an acquisition function without a Monte Carlo form."""

    acquisition: Callable[[Context], AcquisitionFunction]

    def __call__(self, context: Context) -> LogRepelledAcquisition:
        """Build it."""
        return LogRepelledAcquisition(self.acquisition(context))


def variance_capped_log_ei(context: Context) -> VarianceCappedLogExpectedImprovement:
    """Log expected improvement under the cap that ``VarianceCapBox`` keeps in the memory."""
    cap = context.state.memory.get("variance_cap", INITIAL_CAP)
    prior_variance = context.summary.sigma_at_infinity.square().mean()
    settings = context.settings
    return VarianceCappedLogExpectedImprovement(
        context.model,
        best_observation(context),
        cap * float(prior_variance),
        settings.posterior_transform,
        settings.maximize,
    )


def beta_of_run(context: Context) -> float:
    """``beta`` in the current box at this step of the run."""
    return context.beta_in(context.model_bounds, context.t)


def best_observation(context: Context) -> Tensor:
    """The best observed value, in its own sign (scalar, in the model's dtype)."""
    return context.Y[context.incumbent].to(context.model.train_targets)


def sought_value(context: Context) -> Tensor:
    """The value to improve on: the best posterior mean at the data, at times by a notable amount.

    Expected improvement polishes an optimum for as long as the last digits promise more than the
    unknown does. Once ``d`` evaluations have brought nothing notable, every other one asks for a
    notable improvement, which is to be had elsewhere or nowhere.
    """
    idle = context.stalled - context.X.shape[-1]
    margin = context.notable if idle >= 0 and idle % 2 == 0 else 0.0
    best = context.mean_at_data[context.believed_best].to(context.model.train_targets)
    return best + margin if context.settings.maximize else best - margin


def improvement_over(context: Context, best_f: Tensor) -> AcquisitionFunction:
    """Log expected improvement over a value."""
    model, settings = context.model, context.settings
    transform, maximize = settings.posterior_transform, settings.maximize
    on_cpu = model.train_targets.device.type == "cpu"
    if on_cpu and transform is None and isinstance(model, QuickGP) and model.has_shortcut():
        return QuickLogExpectedImprovement(model, best_f, maximize)
    return LogExpectedImprovement(model, best_f, transform, maximize)


def to_maximize(context: Context) -> PosteriorTransform | None:
    """A posterior transform under which the objective is to be maximised."""
    if context.settings.maximize:
        return context.settings.posterior_transform
    weights = context.summary.weights.to(context.model.train_targets)
    return ScalarizedPosteriorTransform(-weights, -context.summary.offset)


def _q_log_ei(context: Context, best_f: Tensor) -> qLogIncrementalExpectedImprovement:
    return qLogIncrementalExpectedImprovement(
        context.model,
        best_f if context.settings.maximize else -best_f,
        posterior_transform=to_maximize(context),
        tau_relu=TAU_RELU * context.summary.Y_std,  # BoTorch's is for outcomes of unit size
    )
