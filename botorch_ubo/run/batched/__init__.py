"""Many independent runs as tensors: ask and tell, or one call, on any device."""

from botorch_ubo.run.batched.minimize import minimize_batch
from botorch_ubo.run.batched.result import BatchResult
from botorch_ubo.run.batched.runs import BatchedRuns

__all__ = ["BatchResult", "BatchedRuns", "minimize_batch"]
