"""From the context of a step to candidates: which acquisition function, and its maximum."""

from __future__ import annotations

from collections.abc import Callable

from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import UnsupportedError
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo.candidates import maximize_acquisition
from botorch_ubo.context import Context

AcquisitionFactory = Callable[[Context], AcquisitionFunction]


def build_acquisition(
    acq_function: AcquisitionFunction | Callable[[Model], AcquisitionFunction] | None,
    factory: AcquisitionFactory | None,
    context: Context,
) -> AcquisitionFunction:
    r"""The acquisition function of a step.

    Args:
        acq_function: What the caller of ``suggest`` gave: one, a function that builds one from
            the model, or ``None``.
        factory: The controller's, for ``None``.
        context: The fitted model and the controller's state.

    Returns:
        The acquisition function.
    """
    if isinstance(acq_function, AcquisitionFunction):
        return acq_function
    if acq_function is not None:
        return acq_function(context.model)
    if factory is None:
        raise UnsupportedError(
            "Expected `batch_acquisition` for several candidates or pending points, since "
            "`acquisition` is given and proposes one point at a time. Pass a factory of a "
            "q-acquisition such as qLogExpectedImprovement, or ask for one point with none "
            "pending."
        )
    return factory(context)


def maximize_among_pending(
    acq_function: AcquisitionFunction, context: Context, q: int, X_pending: Tensor | None
) -> Tensor:
    r"""Maximise an acquisition function in the boxes of a step, away from pending points.

    Args:
        acq_function: The acquisition function; its own pending points are put back afterwards.
        context: The fitted model and the controller's state.
        q: The number of candidates.
        X_pending: ``m x d`` points that are being evaluated.

    Returns:
        A ``q x d`` tensor of candidates.
    """
    before = getattr(acq_function, "X_pending", None)
    if X_pending is not None:
        if not hasattr(acq_function, "X_pending"):
            raise UnsupportedError(
                "Expected an acquisition function that supports pending points; got "
                f"{type(acq_function).__name__}. Use a q-acquisition such as "
                "qLogExpectedImprovement."
            )
        acq_function.set_X_pending(X_pending.to(context.X))
    try:
        X, _ = maximize_acquisition(
            acq_function, context.search_boxes, context.neighborhood, q, context.seed,
            context.settings.search,
        )  # fmt: skip
    finally:
        if X_pending is not None:
            acq_function.set_X_pending(before)
    return X
