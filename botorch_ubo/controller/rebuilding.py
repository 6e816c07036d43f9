"""The state of a run from its data alone, for those who keep data and nothing else."""

from __future__ import annotations

import torch
from botorch.exceptions.errors import InputDataError, UnsupportedError
from torch import Tensor

from botorch_ubo.boxes import hull
from botorch_ubo.controller.method import Method, available_methods
from botorch_ubo.policies.state import BoxState
from botorch_ubo.policies.triggers import Never


def check_rebuildable(method: Method) -> None:
    r"""Refuse a method whose box depends on more than the data.

    Args:
        method: The method.

    Raises:
        UnsupportedError: With the names of those that will do.
    """
    if not method.rebuildable:
        known = ", ".join(other.name for other in available_methods() if other.rebuildable)
        raise UnsupportedError(
            f"Expected a method whose box follows from the data alone; that of {method.name!r} "
            f"depends on the boxes before it. Use UnboundedOptimizer, or one of: {known}."
        )


def rebuilt_state(state: BoxState, method: Method, X: Tensor, num_initial: int) -> BoxState:
    r"""The state before the step that sees ``X``.

    Args:
        state: A state with the first box.
        method: The method.
        X: ``n x d`` evaluated points, in the order in which they came in.
        num_initial: How many of them there were at the first step.

    Returns:
        The state. Its box is the one around the first and all data: what a failing side keeps to.
    """
    check_rebuildable(method)
    if not 1 <= num_initial <= len(X):
        raise InputDataError(
            f"Expected 1 <= num_initial <= {len(X)}, the number of points; got {num_initial}."
        )
    first = state.initial_bounds
    if isinstance(method.trigger, Never):  # it stays, and counts steps since it was made
        return BoxState(first, first, num_initial=num_initial, num_at_expansion=num_initial)
    return BoxState(
        first,
        hull(first, X.detach().to("cpu", torch.double)),
        num_initial=num_initial,
        num_at_expansion=max(num_initial, len(X) - 1),
    )
