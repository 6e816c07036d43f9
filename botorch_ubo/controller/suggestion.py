"""From the context of a step to candidates: which acquisition function, and its maximum."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import torch
from botorch.acquisition.acquisition import (
    AcquisitionFunction,
    MCSamplerMixin,
    OneShotAcquisitionFunction,
)
from botorch.acquisition.fixed_feature import FixedFeatureAcquisitionFunction
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.models.model import Model
from botorch.sampling import SobolQMCNormalSampler
from torch import Tensor

from botorch_ubo.acquisition.feasibility import LogFeasibilityWeighted
from botorch_ubo.acquisition.search import (
    InputSpace,
    Lattice,
    PrivateDraws,
    StartsAroundData,
    check_pending,
    is_joint,
    maximize_acquisition,
    maximize_in_space,
    needs_own_search,
)
from botorch_ubo.acquisition.search.categories import open_categories
from botorch_ubo.boxes import hull
from botorch_ubo.controller.method import Method
from botorch_ubo.models.structure import categorical_columns
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.factories import AcquisitionFactory
from botorch_ubo.policies.goal_view import GoalView
from botorch_ubo.policies.view import ModelView

_FREE = InputSpace()
_NOISE_THAT_REPEATS = 0.03  # of the outcomes' variance
_NUM_OTHERS = 16  # places well apart, in place of a candidate that is known


def choose_factory(method: Method, view: ModelView, batch: bool) -> AcquisitionFactory:
    r"""Which of a method's acquisition functions serves a goal.

    Args:
        method: The method.
        view: The model in the light of the goal.
        batch: Whether several candidates are wanted, or some are pending.

    Returns:
        The factory.

    Raises:
        UnsupportedError: If the method has none for that.
    """
    if isinstance(view, GoalView):
        name = "multi_acquisition" if view.is_multi else "constrained_acquisition"
        factory: AcquisitionFactory | None = getattr(method, name)
        if factory is None:
            raise UnsupportedError(
                f"Expected a method with `{name}` for "
                f"{'several objectives' if view.is_multi else 'an `objective` or `constraints`'}; "
                f"{method.name} has none. Use EI-Turns, pass an acquisition function, or give "
                f"the method one: `replace(method, {name}=...)`, see "
                "botorch_ubo.policies.goal_factories."
            )
        return factory
    factory = method.batch_acquisition if batch else method.acquisition
    if factory is None:
        raise UnsupportedError(
            "Expected a method with `batch_acquisition` for several candidates or pending points, "
            "since its `acquisition` proposes one point at a time. Give the method a factory of a "
            "q-acquisition such as `botorch_ubo.policies.factories.q_log_ei`, or ask for one point "
            "with none pending."
        )
    return factory


def build_acquisition(
    acq_function: AcquisitionFunction | Callable[[Model], AcquisitionFunction] | None,
    factory: AcquisitionFactory | None,
    context: Context,
) -> AcquisitionFunction:
    r"""The acquisition function of a step.

    Args:
        acq_function: What the caller of ``suggest`` gave: one, a function that builds one from
            the model, or ``None``.
        factory: The method's, for ``None``.
        context: The fitted model and the controller's state.

    Returns:
        The acquisition function.
    """
    if acq_function is not None:
        given: Any = acq_function
        if callable(given) and not isinstance(given, AcquisitionFunction):
            given = given(context.view.given)
        check_acquisition(given)
        return seed_sampler(given, context.seed)
    assert factory is not None  # chosen for whoever gives none
    return factory(context)


def check_acquisition(acq_function: object) -> None:
    """Refuse what is no acquisition function of a model's inputs."""
    if not isinstance(acq_function, AcquisitionFunction):
        raise InputDataError(
            "Expected an AcquisitionFunction of BoTorch, or a function that builds one from a "
            f"model; got {acq_function!r}. Derive it from AcquisitionFunction."
        )
    if isinstance(acq_function, FixedFeatureAcquisitionFunction):
        raise UnsupportedError(
            "Expected an acquisition function of all inputs; got FixedFeatureAcquisitionFunction, "
            "which is one of some. Pass the function that it wraps, and `fixed_features` to "
            "`suggest`."
        )


def check_categories(view: ModelView, space: InputSpace) -> None:
    r"""Refuse to search between the categories of a model that nobody has named.

    Args:
        view: The model's view.
        space: What the caller of ``suggest`` said of the inputs.
    """
    named = {column for column, _ in view.categories}
    for part in (space.cat_dims, space.discrete_dims, space.fixed_features):
        named |= {i % view.X_raw.shape[-1] for i in part or ()}
    missing = sorted(categorical_columns(view.given) - named)
    if missing:
        raise InputDataError(
            f"Expected the values of inputs {missing}, which the model takes for categories: there "
            "is nothing between them to search. Pass `cat_dims={index: values}` to `suggest`, or "
            "`fixed_features`."
        )


def seed_sampler(acq_function: AcquisitionFunction, seed: int) -> AcquisitionFunction:
    r"""Give a Monte Carlo acquisition function without a sampler the one that BoTorch would.

    BoTorch's would draw its seed from the process-wide generator at the first evaluation, so that
    the same question got another answer each time.

    Args:
        acq_function: Any acquisition function.
        seed: The seed.

    Returns:
        The same acquisition function.
    """
    # Look-ahead functions have several samplers, and not this one.
    missing = getattr(acq_function, "sampler", _FREE) is None
    if isinstance(acq_function, MCSamplerMixin) and missing:
        acq_function.sampler = SobolQMCNormalSampler(acq_function.sample_shape, seed=seed)
    return acq_function


def repeatable(acq_function: object, seed: int) -> AbstractContextManager[Any]:
    r"""The same draws for the same question, where the caller gives the acquisition function.

    Those of the methods have samplers and generators of their own. Others may draw as they are
    built or first evaluated (Thompson samples, optimal samples of entropy search); a private
    generator is put in the place of that of the process.

    Args:
        acq_function: What the caller gave, or ``None``.
        seed: The seed.

    Returns:
        A context manager.
    """
    return nullcontext() if acq_function is None else PrivateDraws(seed)


def check_can_be_weighted(acq_function: AcquisitionFunction) -> None:
    """Refuse a one-shot function with failures: its values are of fantasies, not of a point."""
    if isinstance(acq_function, OneShotAcquisitionFunction):
        raise UnsupportedError(
            "Expected an acquisition function of candidates alone with `X_failed`: its values are "
            f"weighted by the chance of success; got {type(acq_function).__name__}, which is "
            "maximised over fantasies too. Leave `X_failed` out of `suggest` and pass it to "
            "`update`, or use another acquisition function."
        )


def candidates(
    context: Context,
    acq_function: AcquisitionFunction | Callable[[Model], AcquisitionFunction] | None,
    factory: AcquisitionFactory | None,
    q: int,
    X_pending: Tensor | None,
    X_failed: Tensor | None,
    space: InputSpace,
) -> tuple[AcquisitionFunction, Tensor]:
    r"""Build the acquisition function of a step and maximise it.

    Args:
        context: The fitted model and the controller's state.
        acq_function: See :func:`build_acquisition`.
        factory: Likewise.
        q: The number of candidates.
        X_pending: ``m x d`` points that are being evaluated.
        X_failed: ``m x d`` points whose evaluation failed, if there are any.
        space: What candidates must satisfy beside the box.

    Returns:
        The acquisition function, and a ``q x d`` tensor of candidates.
    """
    with repeatable(acq_function, context.seed):
        acqf = build_acquisition(acq_function, factory, context)
        if X_failed is not None:
            check_can_be_weighted(acqf)
            acqf = LogFeasibilityWeighted(acqf, context.view.X_raw, X_failed, context.lengthscales)
        lattice = lattice_of(context, X_pending, X_failed)
        return acqf, maximize_among_pending(acqf, context, q, X_pending, lattice, space)


def maximize_among_pending(
    acq_function: AcquisitionFunction,
    context: Context,
    q: int,
    X_pending: Tensor | None,
    lattice: Lattice | None = None,
    space: InputSpace = _FREE,
) -> Tensor:
    r"""Maximise an acquisition function in the boxes of a step, away from pending points.

    Args:
        acq_function: The acquisition function; its own pending points are put back afterwards.
        context: The fitted model and the controller's state.
        q: The number of candidates.
        X_pending: ``m x d`` points that are being evaluated.
        lattice: Where candidates are to be points that can be evaluated, and have not been.
        space: What candidates must satisfy beside the box.

    Returns:
        A ``q x d`` tensor of candidates.
    """
    if q == 1 and X_pending is None and space.is_free and context.confidence.is_ucb(acq_function):
        return context.confidence.ucb_maximizer[0]  # a trigger may have searched for it already
    before = getattr(acq_function, "X_pending", None)
    if X_pending is not None:
        if not hasattr(acq_function, "X_pending"):
            raise UnsupportedError(
                "Expected an acquisition function that supports pending points; got "
                f"{type(acq_function).__name__}. Use a q-acquisition such as "
                "qLogExpectedImprovement."
            )
        acq_function.set_X_pending(X_pending.to(context.view.X_raw))
    try:
        boxes = context.search_boxes
        # What satisfies constraints may not be in the box whose turn it is.
        if not context.settings.strategy.takes_turns or boxes.dim() == 2 or not space.is_free:
            return _search(acq_function, context, boxes, q, context.seed, lattice, space)
        turn = context.t - 1 + (0 if X_pending is None else len(X_pending))
        return _search_in_turn(acq_function, context, boxes, turn, q, lattice, space)
    finally:
        if X_pending is not None:
            acq_function.set_X_pending(before)


def _search_in_turn(
    acq_function: AcquisitionFunction,
    context: Context,
    boxes: Tensor,
    turn: int,
    q: int,
    lattice: Lattice | None,
    space: InputSpace,
) -> Tensor:
    """One candidate after another, each in the box whose turn it is."""
    if q == 1 or is_joint(acq_function):  # a joint function chooses all of them at once
        box = boxes[turn // q % len(boxes)]
        return _search(acq_function, context, box, q, context.seed, lattice, space)
    check_pending(acq_function, q)
    base_pending = acq_function.X_pending
    chosen: list[Tensor] = []
    try:
        for i in range(q):
            box = boxes[(turn + i) % len(boxes)]
            X = _search(acq_function, context, box, 1, context.seed + i, lattice, space)
            lattice = None if lattice is None else lattice.taking(X)
            chosen.append(X)
            pending = chosen if base_pending is None else [base_pending, *chosen]
            acq_function.set_X_pending(torch.cat(pending))
    finally:
        acq_function.set_X_pending(base_pending)
    return torch.cat(chosen)


def _search(
    acq_function: AcquisitionFunction,
    context: Context,
    boxes: Tensor,
    q: int,
    seed: int,
    lattice: Lattice | None,
    space: InputSpace,
) -> Tensor:
    view, settings = context.view, context.settings.search
    if needs_own_search(acq_function, q, space):
        return maximize_in_space(acq_function, boxes, view.neighborhood, q, seed, settings, space)
    X, _ = maximize_acquisition(acq_function, boxes, view.neighborhood, q, seed, settings, lattice)
    return X


def lattice_of(
    context: Context, X_pending: Tensor | None, X_failed: Tensor | None
) -> Lattice | None:
    r"""What can be evaluated, and what is known already.

    A point that is known, pending or failed is proposed again only where the data told of noise:
    more of it than twice the mode of the default model's prior.

    Args:
        context: The fitted model and the controller's state.
        X_pending: ``m x d`` points that are being evaluated.
        X_failed: ``m x d`` points whose evaluation failed.

    Returns:
        The lattice; ``None`` if inputs are numbers without names.
    """
    if context.settings.space is None:
        return None
    lattice = Lattice(context.settings.space, draw=partial(_draw_others, context))
    if X_failed is not None:
        lattice = lattice.taking(X_failed)
    view = context.view
    if view.noise_std**2 > _NOISE_THAT_REPEATS * view.spread**2:
        return lattice
    known = [view.X_raw] if X_pending is None else [view.X_raw, X_pending.to(view.X_raw)]
    return lattice.taking(torch.cat(known))


def _draw_others(context: Context, acq_function: AcquisitionFunction) -> Tensor:
    """``m x d`` promising places, well apart, in the boxes of a step."""
    view = context.view
    boxes = context.search_boxes.reshape(-1, 2, view.X_raw.shape[-1])
    (box,) = open_categories(hull(*boxes).unsqueeze(0), view.neighborhood.categories)
    draw = StartsAroundData(view.neighborhood, context.seed)
    samples = context.settings.search.raw_samples
    return draw(acq_function, box, 1, _NUM_OTHERS, samples).squeeze(-2)
