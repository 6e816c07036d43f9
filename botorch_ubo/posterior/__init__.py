"""What the expansion theorem needs of a posterior, and the mathematics of Theorem 4.1."""

from botorch_ubo.posterior.checks import check_model
from botorch_ubo.posterior.kernel_reach import kernel_reach, register_reach
from botorch_ubo.posterior.radius import ConditionFails, Radius, theorem_radius
from botorch_ubo.posterior.summary import PosteriorSummary, summarize_posterior

__all__ = [
    "ConditionFails",
    "PosteriorSummary",
    "Radius",
    "check_model",
    "kernel_reach",
    "register_reach",
    "summarize_posterior",
    "theorem_radius",
]
