"""Acquisition functions, and their input constructors (registered on import)."""

from botorch_ubo.acquisition import input_constructors as _input_constructors  # noqa: F401
from botorch_ubo.acquisition.confidence import (
    LowerConfidenceBound,
    UnboundedUpperConfidenceBound,
)
from botorch_ubo.acquisition.incremental import qLogIncrementalExpectedImprovement
from botorch_ubo.acquisition.penalties import HingeQuadraticPenalty, Penalty, QuadraticPenalty
from botorch_ubo.acquisition.regularized import LogRegularizedExpectedImprovement
from botorch_ubo.acquisition.variance_cap import VarianceCappedLogExpectedImprovement

__all__ = [
    "HingeQuadraticPenalty",
    "LogRegularizedExpectedImprovement",
    "LowerConfidenceBound",
    "Penalty",
    "QuadraticPenalty",
    "UnboundedUpperConfidenceBound",
    "VarianceCappedLogExpectedImprovement",
    "qLogIncrementalExpectedImprovement",
]
