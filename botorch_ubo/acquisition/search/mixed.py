r"""The search where BoTorch's ``discrete_dims`` and ``cat_dims`` are given.

The steps are those of ``optimize_acqf_mixed_alternating``: to better neighbours among the discrete
values, then along the continuous inputs. The starts are ours: around the data, and without
BoTorch's sampler of constrained starts, which rewinds the generator of the process.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from botorch.acquisition.acquisition import AcquisitionFunction, OneShotAcquisitionFunction
from botorch.exceptions.errors import UnsupportedError
from botorch.generation.gen import gen_candidates_scipy
from botorch.optim.optimize import OptimizeAcqfInputs
from botorch.optim.optimize_mixed import continuous_step, discrete_step
from torch import Tensor

from botorch_ubo.acquisition.search.input_space import InputSpace
from botorch_ubo.acquisition.search.settings import SearchSettings
from botorch_ubo.acquisition.search.starts import StartsAroundData

_MAX_ROUNDS = 64  # BoTorch's
_TOLERANCE = 1e-8  # of an acquisition value; BoTorch's


def maximize_mixed(
    acq_function: AcquisitionFunction,
    box: Tensor,
    starts: StartsAroundData,
    settings: SearchSettings,
    space: InputSpace,
) -> tuple[Tensor, Tensor]:
    r"""The best point of a box of which some inputs have few values.

    Args:
        acq_function: The acquisition function.
        box: The ``2 x d`` box.
        starts: Where to start from.
        settings: Numbers of restarts and samples, and options of BoTorch's mixed search.
        space: What candidates must satisfy.

    Returns:
        A ``1 x d`` point and its value.
    """
    if isinstance(acq_function, OneShotAcquisitionFunction):
        raise UnsupportedError(
            "Expected an acquisition function of one point with discrete or categorical inputs; "
            f"got {type(acq_function).__name__}, which is maximised over fantasies too. Use "
            "another one, or pass each value in turn as `fixed_features`."
        )
    draw = replace(starts, space=space)
    X = draw(acq_function, box, 1, settings.num_restarts, settings.raw_samples)
    fixed = dict(space.fixed_features or {})
    discrete = {i: v for i, v in space.values_within(box).items() if i not in fixed}
    categories = {i: sorted(v) for i, v in (space.cat_dims or {}).items() if i not in fixed}
    inputs = OptimizeAcqfInputs(
        acq_function=acq_function,
        bounds=box,
        q=1,
        num_restarts=len(X),
        raw_samples=None,
        options=dict(settings.options or {}),
        nonlinear_inequality_constraints=None,
        post_processing_func=None,
        batch_initial_conditions=X,
        return_best_only=False,
        gen_candidates=gen_candidates_scipy,
        sequential=True,
        **{**space.linear_arguments(), "fixed_features": fixed},
    )
    return _alternate(inputs, X.squeeze(-2), discrete, categories)


def _alternate(
    inputs: OptimizeAcqfInputs, X: Tensor, discrete: dict[int, Any], categories: dict[int, Any]
) -> tuple[Tensor, Tensor]:
    """From ``r x d`` starts to the best ``1 x d`` point and its value."""
    of_values, of_categories = (
        torch.tensor(list(it), dtype=torch.long, device=X.device) for it in (discrete, categories)
    )
    assert inputs.acq_function is not None
    with torch.no_grad():
        value = inputs.acq_function(X.unsqueeze(-2))
    climbing = torch.ones(len(X), dtype=torch.bool, device=X.device)
    for _ in range(_MAX_ROUNDS):
        before = value.clone()
        found = X[climbing]
        if discrete or categories:
            found, _ = discrete_step(inputs, discrete, categories, found)
        X[climbing], value[climbing] = continuous_step(inputs, of_values, of_categories, found)
        climbing = climbing & (value - before > _TOLERANCE)
        if not climbing.any():
            break
    best = value.nan_to_num(nan=-torch.inf).argmax()
    return X[best].unsqueeze(0).detach(), value[best].detach()
