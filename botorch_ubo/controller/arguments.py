"""The arguments of ``ExpandingBounds``: checked, and brought to one form."""

from __future__ import annotations

import operator
from numbers import Real
from typing import Any, get_args

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.boxes import HardLimits, check_inside, parse_hard_limits
from botorch_ubo.controller.method import Method
from botorch_ubo.policies.goal import Goal, check_epsilon_unit
from botorch_ubo.policies.state import EpsilonUnit, Settings
from botorch_ubo.spaces import Space

Epsilon = float | tuple[float, EpsilonUnit]
"""An accuracy in the method's unit, or a pair of accuracy and unit."""

_FAR = 1e100  # sides, the squares of which are numbers


def check_settings(
    method: Method,
    initial_bounds: Tensor,
    *,
    epsilon: Epsilon,
    hard_limits: HardLimits,
    max_growth: float | None,
    goal: Goal,
    search: SearchSettings | None,
    seed: int,
    space: Space | None = None,
) -> Settings:
    r"""Bring arguments to the settings of a run.

    Args:
        method: The method, which has the defaults.
        initial_bounds: The first ``2 x d`` box, a double tensor on the CPU.
        epsilon: See :class:`ExpandingBounds` for this and the others.
        hard_limits: See above.
        max_growth: See above.
        goal: What is sought.
        search: See above.
        seed: See above.
        space: See above.

    Returns:
        The settings.

    Raises:
        InputDataError: If an argument is not what it must be.
    """
    limits = parse_hard_limits(hard_limits, initial_bounds.shape[-1])
    check_inside(initial_bounds, limits, "`bounds`")
    accuracy, unit = parse_epsilon(epsilon, method.epsilon_unit)
    check_epsilon_unit(goal, unit)
    growth = method.max_growth if max_growth is None else max_growth
    if not _is_number(growth) or not growth > 0:
        raise InputDataError(f"Expected a positive `max_growth`; got {growth!r}.")
    if not isinstance(search, SearchSettings | None):
        raise InputDataError(
            f"Expected `search` to be SearchSettings; got {search!r}. Use "
            "`SearchSettings(num_restarts=10, raw_samples=512)`."
        )
    return Settings(
        epsilon=accuracy,
        epsilon_unit=unit,
        strategy=method.strategy,
        beta=method.schedule,
        hard_limits=limits,
        max_growth=float(growth),
        blind_limit=float(method.blind_limit),
        goal=goal,
        seed=check_seed(seed),
        search=search or SearchSettings(),
        space=space,
    )


def check_seed(seed: int) -> int:
    """A seed from which all others of a run can be counted on."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = None
    # PyTorch takes seeds up to 2^64: there is room for what is added in the course of a run.
    if number is None or not -(2**63) <= number < 2**63:
        raise InputDataError(f"Expected a whole number `seed` below 2^63; got {seed!r}.")
    return number


def parse_epsilon(epsilon: Epsilon, default_unit: EpsilonUnit) -> tuple[float, EpsilonUnit]:
    """Accuracy and unit."""
    pair = epsilon if isinstance(epsilon, tuple | list) else (epsilon, default_unit)
    if len(pair) != 2:
        raise InputDataError(f"Expected `epsilon` as a number or (number, unit); got {epsilon!r}.")
    value, unit = pair
    if unit not in get_args(EpsilonUnit):
        raise InputDataError(
            f"Expected the unit of `epsilon` to be one of {get_args(EpsilonUnit)}; got {unit!r}."
        )
    if not _is_number(value) or not 0 < value < float("inf"):
        raise InputDataError(
            f"Expected a positive finite `epsilon`; got {value!r}. 0.05 is five percent of "
            "the outcomes' standard deviation."
        )
    return float(value), unit


def _is_number(value: Any) -> bool:
    """Whether it can be compared with numbers; a tensor of one element can."""
    return isinstance(value, Real) or (isinstance(value, Tensor) and value.numel() == 1)


def check_tensors(**given: Tensor | None) -> None:
    """Refuse data that are no tensors of single or double precision."""
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, Tensor) or value.dtype not in (torch.float, torch.double):
            kind = value.dtype if isinstance(value, Tensor) else type(value).__name__
            raise InputDataError(
                f"Expected `{name}` as a tensor of torch.double or torch.float; got {kind}. Use "
                f"`torch.as_tensor({name}, dtype=torch.double)`."
            )


def check_number(q: Any) -> int:
    """A number of candidates."""
    try:
        number = operator.index(q)
    except TypeError:
        number = 0
    if number < 1:
        raise InputDataError(f"Expected a whole number q >= 1; got {q!r}.")
    return number


def check_points(X: Any, first_box: Tensor, name: str) -> Tensor | None:
    r"""Points that keep candidates away.

    Args:
        X: ``m x d`` numbers, or ``None``.
        first_box: The first ``2 x d`` box, which has the unit of what is far.
        name: What to call them in an error message.

    Returns:
        The tensor; ``None`` if there are no points.
    """
    if X is None:
        return None
    d = first_box.shape[-1]
    if not isinstance(X, Tensor) or X.dim() != 2 or X.shape[-1] != d:
        got = f"shape {tuple(X.shape)}" if isinstance(X, Tensor) else type(X).__name__
        raise InputDataError(f"Expected `{name}` as an m x {d} tensor; got {got}.")
    side = first_box[1] - first_box[0]
    away = ((X.detach().cpu().double() - first_box[0]) / side).abs()
    if not (away < _FAR).all():  # NaN too
        raise InputDataError(
            f"Expected `{name}` finite and within {_FAR:g} sides of the first box; got "
            f"{X.tolist()}."
        )
    return X if len(X) else None
