"""Climb an acquisition function from many starts at once: the call of ``optimize_acqf``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import OptimizationGradientError
from botorch.optim import optimize_acqf
from torch import Tensor

from botorch_ubo.acquisition.search.settings import Options
from botorch_ubo.models.quick import gen_candidates_quick, has_quick_search

# A relative change of 1e-6 of an acquisition value, in units of the machine's precision; BoTorch's
# batched L-BFGS-B takes no `ftol` beside its default of this.
_OPTIONS: Options = {"factr": 1e-6 / 2.22e-16}


def climb(
    acq_function: AcquisitionFunction,
    box: Tensor,
    starts: Tensor,
    options: Options | None = None,
) -> tuple[Tensor, Tensor]:
    r"""The best point that is reached from some starts.

    Args:
        acq_function: The acquisition function.
        box: The ``2 x d`` box to stay in.
        starts: ``r x 1 x d`` points in it.
        options: Of ``optimize_acqf``; then its own search is taken for every function.

    Returns:
        A ``1 x d`` point, and its value.
    """
    search: dict[str, Any] = {"options": _OPTIONS if options is None else options}
    if options is None and has_quick_search(acq_function):
        search["gen_candidates"] = gen_candidates_quick
    # Whatever the caller has torch and numpy do about gradients and underflow.
    with torch.enable_grad(), np.errstate(all="ignore"), warnings.catch_warnings():
        # On a plateau or at a kink a line search may end abnormally: one restart is lost, not the
        # search, and the best of all restarts is returned.
        warnings.filterwarnings("ignore", "Optimization failed in", RuntimeWarning)
        if not _has_gradient(acq_function, starts[:1]):
            search["options"] = {**search["options"], "with_grad": False}
        try:
            return _optimize(acq_function, box, starts, search)
        except OptimizationGradientError:  # of one start, as at a datum, but it ends all of them
            found = [_alone(acq_function, box, start, search) for start in starts.split(1)]
    return max(found, key=lambda pair: float(pair[1].nan_to_num(nan=-torch.inf)))


def _has_gradient(acq_function: AcquisitionFunction, start: Tensor) -> bool:
    """Whether values remember where they are from; else slopes are taken from differences."""
    if has_quick_search(acq_function):
        return True
    return acq_function(start.detach().clone().requires_grad_()).requires_grad


def _optimize(
    acq_function: AcquisitionFunction, box: Tensor, starts: Tensor, search: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    X, value = optimize_acqf(
        acq_function,
        bounds=box,
        q=1,
        num_restarts=starts.shape[0],
        batch_initial_conditions=starts,
        **search,
    )
    assert value is not None  # it is for `return_acq_values=True`, the default
    return X.detach(), value.detach()


def _alone(
    acq_function: AcquisitionFunction, box: Tensor, start: Tensor, search: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    """What is reached from one start; the start itself if its climb meets no gradient."""
    try:
        return _optimize(acq_function, box, start, search)
    except OptimizationGradientError:
        with torch.no_grad():
            return start[0], acq_function(start)[0]
