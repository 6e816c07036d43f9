r"""Acquisition functions as functions of the context of a step, for methods to name.

Names with ``q`` propose several points and know pending ones, as does :class:`Repelled`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from botorch.acquisition import LogExpectedImprovement, qUpperConfidenceBound
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.logei import TAU_RELU
from botorch.acquisition.objective import PosteriorTransform, ScalarizedPosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.sampling import SobolQMCNormalSampler
from torch import Tensor

from botorch_ubo.acquisition.batched import LogEIOnDevice
from botorch_ubo.acquisition.confidence import UnboundedUpperConfidenceBound
from botorch_ubo.acquisition.incremental import qLogIncrementalExpectedImprovement
from botorch_ubo.acquisition.repelled import LogRepelledAcquisition
from botorch_ubo.compat.deprecated import moved_names
from botorch_ubo.models.quick import QuickGP, QuickLogExpectedImprovement
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.progress import evaluations_without_improvement, notable_improvement

_NUM_SAMPLES = 512  # of the joint posterior, as many as BoTorch draws

AcquisitionFactory = Callable[[Context], AcquisitionFunction]


def log_ei(context: Context) -> AcquisitionFunction:
    """Log expected improvement over the best observation."""
    return log_ei_over(context, best_observation(context))


def searching_log_ei(context: Context) -> AcquisitionFunction:
    """Log expected improvement that does not linger; see :func:`best_mean_with_margin`."""
    return log_ei_over(context, best_mean_with_margin(context))


def q_log_ei(context: Context) -> AcquisitionFunction:
    """:func:`log_ei` of one more point, beyond what pending ones may bring."""
    return q_log_ei_over(context, best_observation(context))


def q_searching_log_ei(context: Context) -> AcquisitionFunction:
    """:func:`searching_log_ei` of one more point, beyond what pending ones may bring."""
    return q_log_ei_over(context, best_mean_with_margin(context))


def ucb(context: Context) -> UnboundedUpperConfidenceBound:
    """The upper confidence bound whose ``beta`` counts steps in the current box."""
    return context.confidence.ucb


def q_ucb(context: Context) -> qUpperConfidenceBound:
    """The Monte Carlo version of :func:`ucb`."""
    return _q_ucb(context, context.confidence.beta)


def ucb_of_run(context: Context) -> UnboundedUpperConfidenceBound:
    """The upper confidence bound whose ``beta`` counts steps of the run."""
    return context.confidence.bounds(context.confidence.beta_of_run)[0]


def q_ucb_of_run(context: Context) -> qUpperConfidenceBound:
    """The Monte Carlo version of :func:`ucb_of_run`."""
    return _q_ucb(context, context.confidence.beta_of_run)


@dataclass(frozen=True)
class Repelled:
    """Pending points, by repulsion, for an acquisition function without a Monte Carlo form."""

    acquisition: AcquisitionFactory

    def __call__(self, context: Context) -> LogRepelledAcquisition:
        """Build it."""
        return LogRepelledAcquisition(self.acquisition(context))


def best_observation(context: Context) -> Tensor:
    """The best observed value in its own sign, the ``best_f`` of :func:`log_ei` (a scalar)."""
    return _own_sign(context, context.observed[context.best_observed])


def best_mean_with_margin(context: Context) -> Tensor:
    """The value to improve on: the best posterior mean at the data, at times by a notable amount.

    Expected improvement polishes an optimum for as long as the last digits promise more than the
    unknown does. Once ``d`` evaluations have brought nothing notable, every other one asks for a
    notable improvement, which is to be had elsewhere or nowhere.
    """
    idle = evaluations_without_improvement(context) - context.d
    margin = notable_improvement(context) if idle >= 0 and idle % 2 == 0 else 0.0
    return _own_sign(context, context.values[context.incumbent] + margin)


def log_ei_over(context: Context, best_f: Tensor) -> AcquisitionFunction:
    """Log expected improvement over a value in its own sign."""
    view = context.view
    return _quick_log_ei(context, best_f) or LogExpectedImprovement(
        view.model, best_f, view.posterior_transform, view.maximize
    )


def q_log_ei_over(context: Context, best_f: Tensor) -> AcquisitionFunction:
    """:func:`log_ei_over` of one more point, by Monte Carlo where no formula is at hand."""
    return _quick_log_ei(context, best_f) or qLogIncrementalExpectedImprovement(
        context.model,
        best_f if context.view.maximize else -best_f,
        sampler=_sampler(context),
        posterior_transform=to_maximize(context),
        tau_relu=TAU_RELU * context.view.spread,  # BoTorch's is for outcomes of unit size
    )


def to_maximize(context: Context) -> PosteriorTransform | None:
    """A posterior transform under which the objective is to be maximised."""
    transform = context.view.posterior_transform
    if context.view.maximize:
        return transform
    if transform is None:
        return ScalarizedPosteriorTransform(-context.view.like.new_ones(1))
    return _negative(transform)


def _quick_log_ei(context: Context, best_f: Tensor) -> AcquisitionFunction | None:
    """The quick form, where its formulas hold; it knows pending points.

    It is numpy's for a model on the CPU; on another device it stays there.
    """
    view = context.view
    model = view.model
    plain = view.posterior_transform is None and isinstance(model, QuickGP)
    if not plain or not model.has_shortcut():
        return None
    if view.like.device.type == "cpu":
        return QuickLogExpectedImprovement(model, best_f, view.maximize, seed=context.seed)
    in_own_units = getattr(model, "outcome_transform", None) is None
    if not model.factored().affine or not in_own_units:
        return None
    return LogEIOnDevice(model, best_f, view.maximize, context.seed)


def _negative(transform: PosteriorTransform) -> PosteriorTransform:
    """The negative of a linear posterior transform."""
    if not isinstance(transform, ScalarizedPosteriorTransform):
        raise UnsupportedError(
            "Expected a ScalarizedPosteriorTransform where the objective is to be minimised; got "
            f"{type(transform).__name__}. Model the negative, and maximise."
        )
    return ScalarizedPosteriorTransform(-transform.get_buffer("weights"), -transform.offset)


def _q_ucb(context: Context, beta: float) -> qUpperConfidenceBound:
    return qUpperConfidenceBound(
        context.model, beta, _sampler(context), posterior_transform=to_maximize(context)
    )


def _sampler(context: Context) -> SobolQMCNormalSampler:
    """BoTorch's own choice, which would take its seed from the process-wide generator."""
    return SobolQMCNormalSampler(torch.Size([_NUM_SAMPLES]), seed=context.seed)


def _own_sign(context: Context, value: Tensor) -> Tensor:
    """A value that is large where it is good, in the objective's sign and the model's dtype."""
    return (value if context.view.maximize else -value).to(context.view.like)


__getattr__ = moved_names(
    __name__,
    {
        "improvement_over": "log_ei_over",
        "sought_value": "best_mean_with_margin",
        "variance_capped_log_ei": "botorch_ubo.strategies.variance_cap.variance_capped_log_ei",
    },
)
