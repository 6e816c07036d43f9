"""Acquisition functions, and their input constructors (registered on import)."""

from botorch_ubo.acquisition import input_constructors as _input_constructors  # noqa: F401
from botorch_ubo.acquisition.confidence import (
    LowerConfidenceBound,
    UnboundedUpperConfidenceBound,
)

__all__ = ["LowerConfidenceBound", "UnboundedUpperConfidenceBound"]
