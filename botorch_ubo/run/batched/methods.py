"""Which methods many runs can have at once."""

from __future__ import annotations

from botorch.exceptions.errors import UnsupportedError

from botorch_ubo.controller import Method, available_methods
from botorch_ubo.policies.beta import TheoremBeta
from botorch_ubo.policies.factories import log_ei, ucb
from botorch_ubo.policies.triggers import Always, FirstStep, RegretBound
from botorch_ubo.strategies import HyperharmonicBox, ImprovementBox, TheoremBox, TurnsBox

_EVERY_STEP = (TurnsBox, HyperharmonicBox, ImprovementBox)


def can_be_batched(method: Method) -> bool:
    """Whether the formulas with a batch dimension are those of a method."""
    if type(method.strategy) in _EVERY_STEP:
        return method.trigger == Always() and method.acquisition is log_ei
    return (
        type(method.strategy) is TheoremBox
        and method.trigger == FirstStep() | RegretBound()
        and method.acquisition is ucb
        and type(method.schedule) is TheoremBeta
    )


def check_batched(method: Method) -> Method:
    """The method, or a refusal that names those that will do."""
    if not can_be_batched(method):
        known = ", ".join(other.name for other in available_methods() if can_be_batched(other))
        with_beta = f" with {method.schedule}" if type(method.strategy) is TheoremBox else ""
        raise UnsupportedError(
            f"Expected a method that can run as a batch of tensors; {method.name!r}{with_beta} "
            f"cannot. Use one of: {known}, as they are known by these names; or "
            "`UnboundedOptimizer`, one for each run."
        )
    return method
