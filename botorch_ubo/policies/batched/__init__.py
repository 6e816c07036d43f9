"""What a policy may look at at one step of many runs."""

from botorch_ubo.policies.batched.confidence import confidence_beta
from botorch_ubo.policies.batched.context import BatchedContext, notable_improvement, rows_of
from botorch_ubo.policies.batched.progress import on_plateau

__all__ = ["BatchedContext", "confidence_beta", "notable_improvement", "on_plateau", "rows_of"]
