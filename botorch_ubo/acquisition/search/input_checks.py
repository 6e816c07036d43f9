"""Arguments of BoTorch's searches, refused in words where BoTorch would fail deep inside."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from botorch.exceptions.errors import InputDataError, UnsupportedError
from torch import Tensor


def check_inputs(inputs: Any, d: int) -> None:
    r"""Refuse arguments that are not about ``d`` inputs of one point.

    Args:
        inputs: An :class:`botorch_ubo.acquisition.search.InputSpace`, of whatever.
        d: The number of inputs.
    """
    indices = []
    for name in ("inequality_constraints", "equality_constraints"):
        for constraint in _listed(getattr(inputs, name), name):
            indices += _indices_of(constraint, name)
    for name in ("fixed_features", "discrete_dims", "cat_dims"):
        indices += _keys_of(getattr(inputs, name), name, d)
    wrong = sorted({i for i in indices if not -d <= i < d})
    if wrong:
        raise InputDataError(f"Expected indices of {d} inputs, from 0 to {d - 1}; got {wrong}.")
    both = sorted(set(inputs.discrete_dims or ()) & set(inputs.cat_dims or ()))
    if both:
        raise InputDataError(
            f"Expected an input in `discrete_dims` or in `cat_dims`; got {both} in both."
        )
    name = "nonlinear_inequality_constraints"
    for entry in _listed(getattr(inputs, name), name):
        known = isinstance(entry, tuple | list) and len(entry) == 2 and entry[1] is True
        if not known or not callable(entry[0]):
            raise UnsupportedError(
                f"Expected `(callable, True)`, a nonlinear constraint of one point; got {entry!r}."
            )
    if inputs.nonlinear_inequality_constraints and (inputs.discrete_dims or inputs.cat_dims):
        raise UnsupportedError(
            "Expected linear constraints with `discrete_dims` or `cat_dims`; got nonlinear "
            "ones, which BoTorch's search of mixed spaces does not take."
        )


def _listed(value: Any, name: str) -> Sequence[Any]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise InputDataError(f"Expected `{name}` as a list; got {value!r}.")
    return value


def _indices_of(constraint: Any, name: str) -> list[int]:
    """The indices of a linear constraint."""
    known = isinstance(constraint, tuple | list) and len(constraint) == 3
    if not known or not all(isinstance(it, Tensor) for it in constraint[:2]):
        raise InputDataError(
            f"Expected `(indices, coefficients, rhs)` in `{name}`, the first two as tensors; got "
            f"{constraint!r}."
        )
    index, coefficients, rhs = constraint
    if index.dim() != 1 or index.shape != coefficients.shape:
        raise UnsupportedError(
            "Expected `(indices, coefficients, rhs)` of one point, with as many indices as "
            f"coefficients; got shapes {tuple(index.shape)} and {tuple(coefficients.shape)}. "
            "Candidates are chosen one after another, so that constraints between them cannot be "
            "kept."
        )
    whole = not (index.is_floating_point() or index.is_complex())
    if not whole or not coefficients.isfinite().all() or not _is_finite(rhs):
        raise InputDataError(
            f"Expected whole indices, finite coefficients and a finite right-hand side in "
            f"`{name}`; got {constraint!r}."
        )
    return [int(i) for i in index.tolist()]


def _keys_of(value: Any, name: str, d: int) -> list[int]:
    """The inputs that a mapping is about."""
    if value is None:
        return []
    if not isinstance(value, Mapping) or not all(isinstance(key, Integral) for key in value):
        raise InputDataError(f"Expected `{name}` as {{index of an input: ...}}; got {value!r}.")
    fixed = name == "fixed_features"
    for key, entry in value.items():
        numbers = [entry] if fixed else entry
        known = isinstance(numbers, Iterable) and not isinstance(numbers, str | bytes)
        listed = list(numbers) if known else []
        if not listed or not all(map(_is_finite, listed)):
            raise InputDataError(
                f"Expected {'a finite number' if fixed else 'finite numbers, at least one'} for "
                f"input {key} in `{name}`; got {entry!r}."
            )
    if not fixed and any(key < 0 for key in value):  # BoTorch counts these from the front only
        raise InputDataError(
            f"Expected indices from 0 to {d - 1} in `{name}`; got {sorted(value)}."
        )
    return list(value)


def _is_finite(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.numel() == 1 and bool(value.isfinite().all())
    return isinstance(value, Real) and math.isfinite(value)
