r"""``ExpandingBounds``: a bounds tensor that grows from the GP posterior.

It is the one object that holds state. At each step it asks a trigger whether to move the box
and a strategy where to, applies hard limits and a growth cap, writes down why, and maximises an
acquisition function in the result.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import BotorchTensorDimensionError, InputDataError
from botorch.models.model import Model
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.acquisition.feasibility import LogFeasibilityWeighted
from botorch_ubo.beta import BetaSchedule, ConstantBeta, PublishedBeta, TheoremBeta
from botorch_ubo.boxes import (
    HardLimits,
    cast_inward,
    check_bounds,
    check_inside,
    clip,
    parse_hard_limits,
)
from botorch_ubo.candidates import SearchSettings
from botorch_ubo.context import (
    BoxState,
    Context,
    Settings,
    StepRecord,
    fingerprint,
    training_inputs,
)
from botorch_ubo.expansion import OnExpand, certify_now, expand
from botorch_ubo.factories import q_searching_log_ei, q_ucb, searching_log_ei, ucb
from botorch_ubo.posterior import check_model
from botorch_ubo.records import Certificate, ExpansionRecord
from botorch_ubo.seeding import seeded
from botorch_ubo.serialization import state_from_dict, state_to_dict
from botorch_ubo.strategies.base import Strategy
from botorch_ubo.strategies.published import PublishedBox
from botorch_ubo.strategies.roaming import RoamingBox
from botorch_ubo.strategies.theorem import TheoremBox
from botorch_ubo.suggestion import (
    AcquisitionFactory,
    build_acquisition,
    maximize_among_pending,
)
from botorch_ubo.triggers import Always, FirstStep, RegretBound, Trigger

logger = logging.getLogger("botorch_ubo")

EPSILON_UNITS = ("std", "range", "raw")


class ExpandingBounds:
    r"""A box that grows from the posterior of each new model, in place of fixed bounds.

    By default this is EI-Roaming: log expected improvement in a box that follows the incumbent,
    grows slowly where it is and fast where it is led (:mod:`botorch_ubo.strategies.roaming`).
    :meth:`corrected` is GPUCB-UBO, the paper's method, and :meth:`as_published` the same with its
    published constants. Any GP that :func:`botorch_ubo.posterior.check_model` accepts will do.

    Example:
        >>> box = ExpandingBounds(initial_bounds)
        >>> for _ in range(budget):
        >>>     model = fit_default_model(X, Y, initial_bounds)
        >>>     x = box.suggest(model)
        >>>     X, Y = torch.cat([X, x]), torch.cat([Y, f(x)])
    """

    def __init__(
        self,
        bounds: Tensor,
        *,
        epsilon: float = 0.05,
        epsilon_unit: str = "std",
        hard_limits: HardLimits = None,
        max_growth: float = 10.0,
        maximize: bool = True,
        posterior_transform: PosteriorTransform | None = None,
        strategy: Strategy | None = None,
        trigger: Trigger | None = None,
        beta: BetaSchedule | float | None = None,
        acquisition: AcquisitionFactory | None = None,
        batch_acquisition: AcquisitionFactory | None = None,
        on_expand: OnExpand | None = None,
        num_restarts: int = 4,
        raw_samples: int = 512,
        options: dict[str, bool | float | int | str] | None = None,
        seed: int = 0,
    ) -> None:
        r"""A box that grows from the posterior of each new model.

        Args:
            bounds: A ``2 x d`` tensor, a rough guess of where the optimum is.
            epsilon: Accuracy at which a box counts as exhausted, in ``epsilon_unit``.
            epsilon_unit: ``"std"`` or ``"range"`` of the observed outcomes, or ``"raw"``.
            hard_limits: Limits that nothing crosses: a mapping ``{dim: (lower, upper)}``, a
                sequence of ``d`` pairs, or a ``2 x d`` tensor; ``None`` leaves a side free.
            max_growth: How far a face may move in one expansion, in sides of the current box
                (or of the first, if it has shrunk), measured in the model's input space.
            maximize: If True, consider the problem a maximization problem.
            posterior_transform: A ScalarizedPosteriorTransform for a multi-output model.
            strategy: Where to move the box; :class:`RoamingBox` by default.
            trigger: When to move it; at every step by default.
            beta: A schedule or a constant; ``beta_t`` of Theorem 5.1 times 1/5 by default.
            acquisition: A function from the context of a step to the acquisition function of
                :meth:`suggest`; :func:`~botorch_ubo.factories.searching_log_ei` by default.
            batch_acquisition: The same for several candidates or pending points, with
                ``X_pending``; :func:`~botorch_ubo.factories.q_searching_log_ei` unless
                ``acquisition`` is given.
            on_expand: Called with the record of a planned move. ``True`` or ``None`` accepts it,
                ``False`` refuses it, a ``2 x d`` tensor within the planned box shrinks it.
            num_restarts: Restarts of an acquisition optimisation, from the best samples well
                apart from each other.
            raw_samples: Samples from which the restarts are chosen.
            options: Options of ``optimize_acqf``.
            seed: Seed of all random choices.
        """
        bounds = check_bounds(bounds)
        limits = parse_hard_limits(hard_limits, bounds.shape[-1])
        initial = bounds.to("cpu", torch.double)
        check_inside(initial, limits, "`bounds`")
        if epsilon_unit not in EPSILON_UNITS:
            raise InputDataError(
                f"Expected `epsilon_unit` to be one of {EPSILON_UNITS}; got {epsilon_unit!r}."
            )
        if not 0 < epsilon < float("inf"):
            raise InputDataError(
                f"Expected a positive finite `epsilon`; got {epsilon}. 0.05 is five percent of "
                "the outcomes' standard deviation."
            )
        if not max_growth > 0:
            raise InputDataError(f"Expected a positive `max_growth`; got {max_growth}.")
        self._like = torch.empty(0, dtype=bounds.dtype, device=bounds.device)
        self.strategy = RoamingBox() if strategy is None else strategy
        self.trigger = Always() if trigger is None else trigger
        if acquisition is None:
            batch_acquisition = batch_acquisition or q_searching_log_ei
        self.acquisition = acquisition or searching_log_ei
        self.batch_acquisition = batch_acquisition
        self.on_expand = on_expand
        schedule = TheoremBeta() if beta is None else beta
        self.settings = Settings(
            epsilon=float(epsilon),
            epsilon_unit=epsilon_unit,
            beta=schedule if isinstance(schedule, BetaSchedule) else ConstantBeta(float(schedule)),
            hard_limits=limits,
            max_growth=float(max_growth),
            maximize=maximize,
            posterior_transform=posterior_transform,
            seed=operator.index(seed),
            search=SearchSettings(num_restarts, raw_samples, options),
        )
        self._state = BoxState(initial_bounds=initial, bounds=initial)
        self._last: tuple[str, Context] | None = None

    @classmethod
    def corrected(cls, bounds: Tensor, **kwargs: Any) -> ExpandingBounds:
        """GPUCB-UBO with its constants, scales and trigger as the theorems need them.

        Keyword arguments replace parts of it, as they replace parts of the default.
        """
        preset: dict[str, Any] = {
            "strategy": TheoremBox(),
            "trigger": FirstStep() | RegretBound(),
            "acquisition": ucb,
            "batch_acquisition": None if "acquisition" in kwargs else q_ucb,
        }
        return cls(bounds, **{**preset, **kwargs})

    @classmethod
    def as_published(cls, bounds: Tensor, **kwargs: Any) -> ExpandingBounds:
        """GPUCB-UBO with box, constants, trigger and units as the authors' experiments ran it.

        The model is the caller's: theirs had one length-scale, an output scale, no noise and no
        priors (:func:`botorch_ubo.models.published_model`).
        """
        preset: dict[str, Any] = {
            "epsilon_unit": "range",
            "strategy": PublishedBox(),
            "trigger": FirstStep() | RegretBound(include_candidate=True),
            "beta": PublishedBeta(),
            "max_growth": float("inf"),
        }
        return cls.corrected(bounds, **{**preset, **kwargs})

    @property
    def bounds(self) -> Tensor:
        """The current ``2 x d`` box, in the dtype and device of the first."""
        return cast_inward(self._state.bounds, self._like)

    @property
    def initial_bounds(self) -> Tensor:
        """The first ``2 x d`` box."""
        return self._state.initial_bounds.to(self._like)

    @property
    def hard_limits(self) -> Tensor:
        """``2 x d`` limits, infinite on free sides."""
        return self.settings.hard_limits.to(self._like)

    @property
    def history(self) -> tuple[ExpansionRecord, ...]:
        """One record per move of the box, oldest first."""
        return self._state.history

    @property
    def trace(self) -> tuple[StepRecord, ...]:
        """One record per update, oldest first: epsilon, beta and, where known, the regret bound."""
        return self._state.trace

    @property
    def certificate(self) -> Certificate | None:
        """The latest box that was found exhausted, if any was."""
        return self._state.certificate

    def update(self, model: ExactGP) -> ExpansionRecord | None:
        r"""Recompute the box from the posterior of a model.

        An update with the same training data as the last changes nothing and returns the same.

        Args:
            model: A fitted exact GP.

        Returns:
            The record of the move, or ``None`` if the box stays.
        """
        return self._step(model)[0]

    def suggest(
        self,
        model: ExactGP,
        acq_function: AcquisitionFunction | Callable[[Model], AcquisitionFunction] | None = None,
        q: int = 1,
        X_pending: Tensor | None = None,
        X_failed: Tensor | None = None,
    ) -> Tensor:
        r"""Update the box and maximise an acquisition function in it.

        Args:
            model: A fitted exact GP.
            acq_function: An acquisition function built on ``model``, or a function that builds
                one from it; that of the constructor by default.
            q: The number of candidates. More than one, like pending points, needs an acquisition
                function with ``X_pending``; by default the constructor's ``batch_acquisition``.
            X_pending: ``m x d`` points that are being evaluated. They keep candidates away, but
                neither move the box nor count for the trigger.
            X_failed: ``m x d`` points whose evaluation failed. They keep candidates away, more so
                where nothing nearby has succeeded, and have no other effect.

        Returns:
            A ``q x d`` tensor of candidates in the model's dtype and device. Asked again with
            the same data, it returns the same.
        """
        if q < 1:
            raise InputDataError(f"Expected q >= 1; got {q}.")
        _, context = self._step(model)
        batch = q > 1 or X_pending is not None
        plain = acq_function is None and self.acquisition is ucb
        if plain and not batch and X_failed is None:
            X, _ = context.ucb_maximizer
            X = self.strategy.refine(context, X)
        else:
            with seeded(context.seed):  # Monte Carlo samplers draw a seed of their own
                factory = self.batch_acquisition if batch else self.acquisition
                acqf = build_acquisition(acq_function, factory, context)
                if X_failed is not None:
                    lengthscales = context.radius.lengthscales
                    acqf = LogFeasibilityWeighted(acqf, context.X, X_failed, lengthscales)
            X = maximize_among_pending(acqf, context, q, X_pending)
        return clip(X, cast_inward(self.settings.hard_limits, X))

    def context(self, model: ExactGP) -> Context:
        r"""What a policy would see of a model now; the state is left as it is.

        Args:
            model: A fitted exact GP.

        Returns:
            The context, from which confidence bounds, radius and regret bound can be read.
        """
        return Context(check_model(model), self._state, self.settings)

    def certify(self, model: ExactGP) -> Certificate | None:
        r"""Whether the box, as it is now, is exhausted to the accuracy epsilon; changes nothing.

        The paper's trigger asks at every step, and :attr:`certificate` is what it found. A box
        that moves at every step, as the default's, is judged when this is called.

        Args:
            model: A fitted exact GP.

        Returns:
            The certificate, or ``None`` if the regret bound is above epsilon.
        """
        return certify_now(self.context(model))

    def state_dict(self) -> dict[str, Any]:
        """The state as JSON values; settings are the constructor's and not part of it."""
        return state_to_dict(self._state)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        r"""Take over a state saved by :meth:`state_dict` from a controller with equal settings.

        Args:
            state_dict: The saved state.
        """
        state = state_from_dict(state_dict, self.settings.hard_limits)
        if state.initial_bounds.shape != self._state.initial_bounds.shape:
            raise BotorchTensorDimensionError(
                f"Expected a state of {self._state.initial_bounds.shape[-1]} dimensions; got "
                f"{state.initial_bounds.shape[-1]}."
            )
        self._state, self._last = state, None

    def _step(self, model: ExactGP) -> tuple[ExpansionRecord | None, Context]:
        check_model(model)
        X = training_inputs(model)
        self._check_data(X, model)
        data = fingerprint(X, model.train_targets)
        state = self._state
        if data == state.fingerprint:
            moved = bool(state.history) and state.history[-1].num_observations == len(X)
            return state.history[-1] if moved else None, self._context(model, data, None)
        context = Context(model, state, self.settings)
        reason = self.trigger(context)
        first = state.num_initial is None
        record: ExpansionRecord | None = None
        if reason is None:
            _ = context.radius  # an unusable model is refused before the state changes
            new = state
        else:
            new, record = expand(context, self.strategy, reason, self.on_expand)
            if record.notable:
                logger.info("%s", record)
        new = replace(
            new,
            num_initial=len(X) if first else state.num_initial,
            num_at_expansion=len(X) if first or record else state.num_at_expansion,
            num_observed=len(X),
            fingerprint=data,
            trace=(*state.trace, StepRecord.of(context)),
        )
        # A context of the unmoved box keeps what the trigger computed; its counters are equal.
        self._state = new
        keep = context if record is None and not first else context.moved(new)
        return record, self._context(model, data, keep)

    def _context(self, model: ExactGP, data: str, context: Context | None) -> Context:
        """The context of the current state; the last one again for the same model."""
        key = data + fingerprint(*(p for p in model.parameters()))
        if context is None and self._last is not None and self._last[0] == key:
            return self._last[1]
        context = context or Context(model, self._state, self.settings)
        self._last = key, context
        return context

    def _check_data(self, X: Tensor, model: ExactGP) -> None:
        d = self._state.bounds.shape[-1]
        if X.shape[-1] != d:
            raise BotorchTensorDimensionError(
                f"Expected a model of {d} inputs, as many as the bounds have; got {X.shape[-1]}."
            )
        check_inside(X, self.settings.hard_limits, "the model's training inputs")
        if not model.train_targets.isfinite().all():
            raise InputDataError(
                "Expected finite training targets; got NaN or infinity. Leave failed evaluations "
                "out of the model."
            )
