"""The one object that holds state: a bounds tensor that grows from the posterior."""

from botorch_ubo.controller.expanding_bounds import ExpandingBounds
from botorch_ubo.controller.method import (
    DEFAULT_METHOD,
    Method,
    available_methods,
    get_method,
    register_method,
)

__all__ = [
    "DEFAULT_METHOD",
    "ExpandingBounds",
    "Method",
    "available_methods",
    "get_method",
    "register_method",
]
