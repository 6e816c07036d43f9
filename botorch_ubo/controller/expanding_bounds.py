r"""``ExpandingBounds``: a bounds tensor that grows from the GP posterior.

It is the one object that holds state. At each step it asks its method's trigger whether to move
the box and its strategy where to, applies hard limits and a growth cap, writes down why, and
maximises an acquisition function in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.objective import MCAcquisitionObjective, PosteriorTransform
from botorch.exceptions.errors import InputDataError
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo.acquisition.search import (
    InputArguments,
    InputSpace,
    SearchSettings,
    StartsAroundData,
)
from botorch_ubo.boxes import (
    HardLimits,
    cast_inward,
    check_bounds,
    check_resolvable,
    clip,
)
from botorch_ubo.compat.deprecated import warn_moved
from botorch_ubo.controller.arguments import (
    Epsilon,
    check_number,
    check_points,
    check_settings,
    check_tensors,
)
from botorch_ubo.controller.certify import as_whole_box, certify
from botorch_ubo.controller.fingerprint import fingerprint
from botorch_ubo.controller.initial_in_space import initial_points_of
from botorch_ubo.controller.memory import BoxWithMemory
from botorch_ubo.controller.method import DEFAULT_METHOD, Method, get_method
from botorch_ubo.controller.not_psd import refusing_indefinite
from botorch_ubo.controller.old_arguments import taking_old_arguments
from botorch_ubo.controller.rebuilding import rebuilt_state
from botorch_ubo.controller.review import OnExpand, check_on_expand
from botorch_ubo.controller.step import LastStep, take_step
from botorch_ubo.controller.suggestion import (
    candidates,
    check_categories,
    choose_factory,
    lattice_of,
)
from botorch_ubo.controller.viewing import view_of
from botorch_ubo.models import fit_default_model, fit_default_models
from botorch_ubo.models.training_data import training_targets
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.goal import Constraint, check_goal
from botorch_ubo.policies.state import BoxState
from botorch_ubo.policies.strategy import Strategy
from botorch_ubo.policies.view import ModelView
from botorch_ubo.records import Certificate, ExpansionRecord
from botorch_ubo.spaces import Space


class ExpandingBounds(BoxWithMemory):
    r"""A box that grows from the posterior of each new model, in place of fixed bounds.

    Which models will do is the method's business. The default and every method without a theorem
    take any GP of BoTorch, lists and multi-task models among them; the paper's take those that
    :func:`botorch_ubo.posterior.check_model` accepts.

    Example:
        >>> box = ExpandingBounds(bounds)
        >>> for _ in range(budget):
        >>>     x = box.suggest(box.fit(X, Y))
        >>>     X, Y = torch.cat([X, x]), torch.cat([Y, f(x)])
    """

    @taking_old_arguments
    def __init__(
        self,
        bounds: Tensor | Space,
        *,
        method: str | Method = DEFAULT_METHOD,
        epsilon: Epsilon = 0.05,
        hard_limits: HardLimits = None,
        max_growth: float | None = None,
        maximize: bool = True,
        posterior_transform: PosteriorTransform | None = None,
        objective: MCAcquisitionObjective | None = None,
        constraints: Sequence[Constraint] | None = None,
        on_expand: OnExpand | None = None,
        search: SearchSettings | None = None,
        seed: int = 0,
    ) -> None:
        r"""A box that grows from the posterior of each new model.

        Args:
            bounds: A ``2 x d`` tensor, a rough guess of where the optimum is; or a space, of
                whose coordinates all points and boxes then are, and which has its own limits.
            method: A name of :func:`botorch_ubo.available_methods`, or a method of one's own.
            epsilon: Accuracy at which a box counts as exhausted, and improvement that is worth
                noting: in standard deviations of the observed outcomes (in the method's unit, to
                be exact), or a pair such as ``(0.1, "raw")``, ``(0.1, "range")``.
            hard_limits: Limits that nothing crosses: a mapping ``{dim: (lower, upper)}``, a
                sequence of ``d`` pairs, or a ``2 x d`` tensor; ``None`` leaves a side free.
            max_growth: How far a face may move in one expansion, in sides of the current box
                (or of the first, if it has shrunk), measured in the model's input space; 10
                unless the method says otherwise.
            maximize: If True, consider the problem a maximization problem; with several
                objectives, all of them.
            posterior_transform: A PosteriorTransform that makes one objective of a multi-output
                model.
            objective: An MCAcquisitionObjective that makes one objective of the model's outcomes
                by samples, or an MCMultiOutputObjective for several, whose Pareto front leads.
            constraints: Outcome constraints: functions from ``... x m`` outcomes to ``...``
                numbers, feasible where they are not positive. The box follows points that are
                probably feasible.
            on_expand: Called with the record of a planned move. ``True`` or ``None`` accepts it,
                ``False`` refuses it, a ``2 x d`` tensor within the planned box shrinks it.
            search: How hard to search for the maximum of an acquisition function.
            seed: Seed of all random choices.
        """
        space = bounds if isinstance(bounds, Space) else None
        if space is not None:
            if hard_limits is not None:
                raise InputDataError(
                    "Expected limits with the parameters of a space, as in `Float(1, 2, "
                    f"limits=(0, None))`; got `hard_limits`={hard_limits!r}."
                )
            hard_limits = space.limits
        bounds = check_bounds(bounds.bounds if isinstance(bounds, Space) else bounds)
        check_resolvable(bounds)
        initial = bounds.to("cpu", torch.double)
        self.method = get_method(method)
        settings = check_settings(
            self.method,
            initial,
            epsilon=epsilon,
            hard_limits=hard_limits,
            max_growth=max_growth,
            goal=check_goal(maximize, posterior_transform, objective, constraints),
            search=search,
            seed=seed,
            space=space,
        )
        self.on_expand = check_on_expand(on_expand)
        self._last: LastStep | None = None
        super().__init__(self.method.name, settings, bounds)

    @classmethod
    def corrected(cls, bounds: Tensor, **kwargs: Any) -> ExpandingBounds:
        """The name of 0.1.0 for ``method="GPUCB-UBO"``."""
        warn_moved("ExpandingBounds.corrected", 'ExpandingBounds with method="GPUCB-UBO"')
        return cls(bounds, method="GPUCB-UBO", **kwargs)

    @classmethod
    def as_published(cls, bounds: Tensor, **kwargs: Any) -> ExpandingBounds:
        """The name of 0.1.0 for ``method="GPUCB-UBO (as published)"``."""
        name = "GPUCB-UBO (as published)"
        warn_moved("ExpandingBounds.as_published", f"ExpandingBounds with method={name!r}")
        return cls(bounds, method=name, **kwargs)

    @property
    def strategy(self) -> Strategy:
        """Where the box moves: the method's."""
        return self.method.strategy

    def initial_points(self, n: int) -> Tensor:
        r"""Space-filling points to begin with, as the method wants them.

        Args:
            n: How many; ``3 d``, say. The first of more are the same.

        Returns:
            An ``n x d`` tensor within the hard limits, in and, with the default, around the box.
        """
        span = self.method.initial_span
        X = initial_points_of(self.settings, self._state.initial_bounds, n, span)
        return clip(X.to(self._like), cast_inward(self.settings.hard_limits, self._like))

    def fit(self, X: Tensor, Y: Tensor, Yvar: Tensor | None = None) -> SingleTaskGP | ModelListGP:
        r"""Fit the recommended model, with the box's own sign and first box.

        Args:
            X: ``n x d`` inputs.
            Y: ``n x m`` outcomes, in their own sign.
            Yvar: ``n x m`` observation variances, if known.

        Returns:
            The fitted model (see :func:`botorch_ubo.fit_default_model`); for several outcomes a
            list of such models.
        """
        check_tensors(X=X, Y=Y, Yvar=Yvar)
        bounds = self._state.initial_bounds.to(X)
        goal, space = self.settings.goal, self.settings.space
        categorical = () if space is None else [column for column, _ in space.categories]
        if goal.is_plain and Y.shape[-1] == 1:
            return fit_default_model(X, Y, bounds, Yvar, goal.maximize, categorical)
        return fit_default_models(X, Y, bounds, Yvar, goal.directions(Y), categorical)

    @refusing_indefinite
    def update(
        self, model: Model, X_failed: Tensor | None = None, X_baseline: Tensor | None = None
    ) -> ExpansionRecord | None:
        r"""Recompute the box from the posterior of a model.

        An update with the same training data as the last changes nothing and returns the same.

        Args:
            model: A fitted model.
            X_failed: ``m x d`` points whose evaluation failed. The box does not grow on a side
                beyond which several have failed and none has succeeded.
            X_baseline: ``n x d`` evaluated points, for a model that does not keep them.

        Returns:
            The record of the move, or ``None`` if the box stays.
        """
        X_failed = check_points(X_failed, self._state.initial_bounds, "X_failed")
        return self._step(self._view(model, X_baseline), X_failed)[0]

    @refusing_indefinite
    def suggest(
        self,
        model: Model,
        acq_function: AcquisitionFunction | Callable[[Model], AcquisitionFunction] | None = None,
        q: int = 1,
        X_pending: Tensor | None = None,
        X_failed: Tensor | None = None,
        X_baseline: Tensor | None = None,
        **inputs: Unpack[InputArguments],
    ) -> Tensor:
        r"""Update the box and maximise an acquisition function in it.

        Args:
            model: A fitted model.
            acq_function: Any acquisition function built on ``model``, or a function that builds
                one from it; the method's by default.
            q: The number of candidates. More than one, like pending points, needs an acquisition
                function with ``X_pending`` or a joint one; by default the method's
                ``batch_acquisition``.
            X_pending: ``m x d`` points that are being evaluated. They keep candidates away, but
                neither move the box nor count for the trigger.
            X_failed: ``m x d`` points whose evaluation failed. They keep candidates away, more so
                where nothing nearby has succeeded, and hold the box as in :meth:`update`.
            X_baseline: ``n x d`` evaluated points, for a model that does not keep them.
            inputs: ``inequality_constraints``, ``equality_constraints``,
                ``nonlinear_inequality_constraints`` and ``fixed_features`` of ``optimize_acqf``,
                ``discrete_dims`` and ``cat_dims`` of ``optimize_acqf_mixed_alternating``: see
                :class:`botorch_ubo.acquisition.search.InputSpace`.

        Returns:
            A ``q x d`` tensor of candidates in the model's dtype and device. Asked again with
            the same data, it returns the same.
        """
        q, first_box = check_number(q), self._state.initial_bounds
        space = InputSpace(**inputs)
        space.check(first_box.shape[-1])
        X_pending = check_points(X_pending, first_box, "X_pending")
        X_failed = check_points(X_failed, first_box, "X_failed")
        view = self._view(model, X_baseline)
        check_categories(view, space)
        factory = None
        if acq_function is None:
            factory = choose_factory(self.method, view, batch=q > 1 or X_pending is not None)
        before = self._state
        _, context = self._step(view, X_failed)
        try:
            acqf, X = candidates(context, acq_function, factory, q, X_pending, X_failed, space)
            if space.is_free:
                X = self.method.strategy.refine(context, X, acqf)
            lattice = lattice_of(context, X_pending, X_failed)
            if lattice is not None:
                return lattice.settle_all(acqf, X)
        except Exception:
            self.restore(before)  # whoever gets no candidates has not taken a step
            raise
        return clip(X, cast_inward(self.settings.hard_limits, X))

    def starts(self, model: Model, X_baseline: Tensor | None = None) -> StartsAroundData:
        r"""Starts of a search in a wide box, for an ``optimize_acqf`` call of one's own.

        Args:
            model: A fitted model.
            X_baseline: ``n x d`` evaluated points, for a model that does not keep them.

        Returns:
            An ``ic_generator``; it draws near the data, where they cease to matter, and in between.

        Example:
            >>> optimize_acqf(
            >>>     acqf, box.bounds, q=1, num_restarts=4, raw_samples=512,
            >>>     ic_generator=box.starts(model),
            >>> )
        """
        context = self.context(model, X_baseline)
        return StartsAroundData(context.view.neighborhood, context.seed)

    def context(self, model: Model, X_baseline: Tensor | None = None) -> Context:
        r"""What a policy would see of a model now; the state is left as it is.

        Args:
            model: A fitted model.
            X_baseline: ``n x d`` evaluated points, for a model that does not keep them.

        Returns:
            The context, from which confidence bounds, radius and regret bound can be read.
        """
        return Context(self._view(model, X_baseline), self._state, self.settings)

    def certify(self, model: Model) -> Certificate | None:
        r"""Whether the box, as it is now, is exhausted to the accuracy epsilon; changes nothing.

        The paper's trigger asks at every step, and :attr:`certificate` is what it found. A box
        that moves at every step, as the default's, is judged when this is called.

        Args:
            model: A fitted exact GP with a stationary prior; others are refused.

        Returns:
            The certificate, or ``None`` if the regret bound is above epsilon.
        """
        return certify(as_whole_box(self.context(model)))

    def restore(self, state: BoxState) -> None:
        """Go back to a :attr:`state` of this controller."""
        if state is not self._state:
            self._last = None
        super().restore(state)

    def rebuild(self, X: Tensor, num_initial: int) -> None:
        r"""Take over the state that a run with these data has reached, without its steps.

        Args:
            X: ``n x d`` evaluated points, in the order in which they came in.
            num_initial: How many of them there were at the first step.

        Raises:
            UnsupportedError: If the method's box depends on more than the data.
        """
        self._state = rebuilt_state(self._state, self.method, X, num_initial)
        self._last = None

    def _step(
        self, view: ModelView, X_failed: Tensor | None
    ) -> tuple[ExpansionRecord | None, Context]:
        state = self._state
        X = view.X_raw
        data = fingerprint(X, *training_targets(view.model))
        context = Context(view, state, self.settings)
        if data == state.fingerprint:
            if self._last is None or not self._last.is_of(context.model, data):
                self._last = LastStep.of(context, data)
            moved = bool(state.history) and state.history[-1].num_observations == len(X)
            return state.history[-1] if moved else None, self._last.context
        self._state, record, context = take_step(
            context, self.method, data, X_failed, self.on_expand
        )
        self._last = LastStep.of(context, data)
        return record, context

    def _view(self, model: Model, X_baseline: Tensor | None = None) -> ModelView:
        first, limits = self._state.initial_bounds, self.data_limits
        return view_of(model, first, limits, self.settings, X_baseline)
