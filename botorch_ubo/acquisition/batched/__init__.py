"""The search of acquisition functions of many runs at once."""

from botorch_ubo.acquisition.batched.feasibility import BatchedLogChance, Positive, Sum
from botorch_ubo.acquisition.batched.maximize import Found, climb_batched, maximize_batched

__all__ = ["BatchedLogChance", "Found", "Positive", "Sum", "climb_batched", "maximize_batched"]
