r"""The search where the plain one does not apply: input constraints, mixed inputs, one-shot.

``optimize_acqf`` and the steps of ``optimize_acqf_mixed_alternating`` do all the work. Starts are
those around the data, as far as a function takes starts of one point. A one-shot function needs
its own initial conditions (fantasies have a part in them), and gets them from BoTorch; with linear
constraints from :mod:`botorch_ubo.acquisition.search.joint_starts`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction, OneShotAcquisitionFunction
from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.multi_step_lookahead import qMultiStepLookahead
from botorch.exceptions.errors import CandidateGenerationError, UnsupportedError
from botorch.optim import optimize_acqf
from torch import Tensor

from botorch_ubo.acquisition.search.input_space import InputSpace
from botorch_ubo.acquisition.search.joint_starts import JointStarts
from botorch_ubo.acquisition.search.mixed import maximize_mixed
from botorch_ubo.acquisition.search.private_draws import PrivateDraws
from botorch_ubo.acquisition.search.settings import Options, SearchSettings
from botorch_ubo.acquisition.search.starts import Neighborhood, StartsAroundData
from botorch_ubo.boxes import clip

_ONE_SHOT_RAW_SAMPLES = 64  # each is a set of fantasies, in as many dimensions
_NONLINEAR_OPTIONS: Options = {"batch_limit": 1, "maxiter": 200}  # all that SLSQP takes


def needs_own_search(acq_function: AcquisitionFunction, q: int, space: InputSpace) -> bool:
    """Whether the search of this module is the one to take."""
    return (
        not space.is_free
        or isinstance(acq_function, OneShotAcquisitionFunction)
        or (q > 1 and is_joint(acq_function))
    )


def maximize_in_space(
    acq_function: AcquisitionFunction,
    boxes: Tensor,
    neighborhood: Neighborhood,
    q: int,
    seed: int,
    settings: SearchSettings,
    space: InputSpace,
) -> Tensor:
    r"""Maximise an acquisition function where candidates must satisfy more than a box.

    Args:
        acq_function: The acquisition function; for ``q > 1`` with pending points, or joint.
        boxes: A ``2 x d`` or ``b x 2 x d`` tensor in raw units, in the model's dtype.
        neighborhood: The data and their reach.
        q: The number of candidates.
        seed: Seed of the starts.
        settings: Numbers of restarts and samples, and options of ``optimize_acqf``.
        space: What candidates must satisfy.

    Returns:
        A ``q x d`` tensor of candidates.
    """
    boxes = boxes if boxes.dim() == 3 else boxes.unsqueeze(0)
    space.check(boxes.shape[-1])
    if q == 1 or is_joint(acq_function):
        return _best(acq_function, boxes, neighborhood, q, seed, settings, space)
    check_pending(acq_function, q)
    base_pending = acq_function.X_pending
    chosen: list[Tensor] = []
    try:
        for i in range(q):
            X = _best(acq_function, boxes, neighborhood, 1, seed + i, settings, space)
            chosen.append(X)
            pending = chosen if base_pending is None else [base_pending, *chosen]
            acq_function.set_X_pending(torch.cat(pending))
    finally:
        acq_function.set_X_pending(base_pending)
    return torch.cat(chosen)


def _best(
    acq_function: AcquisitionFunction,
    boxes: Tensor,
    neighborhood: Neighborhood,
    q: int,
    seed: int,
    settings: SearchSettings,
    space: InputSpace,
) -> Tensor:
    """The best ``q x d`` candidates over all boxes that have any."""
    best: tuple[Tensor, Tensor] | None = None
    nothing: UnsupportedError | None = None
    for i, box in enumerate(boxes):
        room = space.widen(box)
        starts = StartsAroundData(neighborhood, seed + 7919 * i)
        # Whatever the caller has torch and numpy do about gradients and underflow.
        with PrivateDraws(starts.seed), torch.enable_grad(), np.errstate(all="ignore"):
            try:
                if space.is_mixed:
                    X, value = maximize_mixed(acq_function, room, starts, settings, space)
                else:
                    X, value = _in_continuous_space(acq_function, room, starts, q, settings, space)
            except UnsupportedError as error:  # no point of this box satisfies everything
                nothing = error
                continue
        if best is None or value.sum() > best[1].sum():
            best = X, value
    if best is None:
        assert nothing is not None
        raise nothing
    return best[0]


def _in_continuous_space(
    acq_function: AcquisitionFunction,
    box: Tensor,
    starts: StartsAroundData,
    q: int,
    settings: SearchSettings,
    space: InputSpace,
) -> tuple[Tensor, Tensor]:
    own = isinstance(acq_function, OneShotAcquisitionFunction) or q > 1
    nonlinear = list(space.nonlinear_inequality_constraints or ()) or None
    if own and nonlinear:
        raise UnsupportedError(
            f"Expected linear input constraints with {type(acq_function).__name__} and q={q}; got "
            "nonlinear ones, for which BoTorch has no initial conditions of several points."
        )
    if own:
        arguments: dict[str, Any] = {
            "num_restarts": settings.num_restarts,
            "raw_samples": min(settings.raw_samples, _ONE_SHOT_RAW_SAMPLES),
            "options": settings.options,
        }
        if space.inequality_constraints or space.equality_constraints:
            # BoTorch's sampler between planes rewinds the generator of the process.
            arguments["ic_generator"] = JointStarts(space, starts.seed)
    else:
        draw = replace(starts, space=space)
        given = draw(acq_function, box, 1, settings.num_restarts, settings.raw_samples)
        arguments = {
            "num_restarts": len(given),
            "batch_initial_conditions": given,
            "options": (settings.options or _NONLINEAR_OPTIONS) if nonlinear else settings.options,
            "nonlinear_inequality_constraints": nonlinear,
        }
    if isinstance(acq_function, qMultiStepLookahead):  # its callers count the fantasies themselves
        q = acq_function.get_augmented_q_batch_size(q)
    try:
        X, value = optimize_acqf(acq_function, box, q=q, **arguments, **space.linear_arguments())
    except CandidateGenerationError:
        if own:
            raise
        # SLSQP has ended a little beyond a constraint from every start: the best of these is not.
        with torch.no_grad():
            values = acq_function(given)
        return given[values.argmax()], values.max()
    assert value is not None
    return clip(X.detach(), box), value.detach()


def is_joint(acq_function: AcquisitionFunction) -> bool:
    """Whether a function proposes several points at once, not one after another."""
    if isinstance(acq_function, OneShotAcquisitionFunction):
        return True
    return not hasattr(acq_function, "X_pending") and not isinstance(
        acq_function, AnalyticAcquisitionFunction
    )


def check_pending(acq_function: AcquisitionFunction, q: int) -> None:
    """Refuse a function that cannot be asked for one candidate after another."""
    if not hasattr(acq_function, "X_pending"):
        raise UnsupportedError(
            f"Expected an acquisition function that supports pending points for q={q}; got "
            f"{type(acq_function).__name__}. Use a q-acquisition such as qLogExpectedImprovement."
        )
