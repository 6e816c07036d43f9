"""A model without a posterior, said in words."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from botorch.exceptions.errors import UnsupportedError
from linear_operator.utils.errors import NotPSDError

P = ParamSpec("P")
R = TypeVar("R")


def refusing_indefinite(method: Callable[P, R]) -> Callable[P, R]:
    r"""Refuse a model whose covariance matrix has no Cholesky factor, whatever asks for it.

    Args:
        method: What looks at a model's posterior.

    Returns:
        The same, with an ``UnsupportedError`` in place of a ``NotPSDError``.
    """

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except NotPSDError as error:
            raise UnsupportedError(
                "Expected a model with a posterior at its data; got a covariance matrix that is "
                f"not positive definite ({error}) Use a kernel that is one in as many dimensions: "
                "a CosineKernel, say, is one in a single dimension, and `ProductKernel` of one per "
                "dimension (`active_dims`) in several. Or give the likelihood more noise."
            ) from error

    return call
