"""The search of acquisition functions of many runs at once."""

from botorch_ubo.acquisition.batched.feasibility import BatchedLogChance, Positive, Sum
from botorch_ubo.acquisition.batched.maximize import Found, climb_batched, maximize_batched
from botorch_ubo.acquisition.batched.single import (
    BatchedForm,
    LogEIOnDevice,
    batched_form,
    maximize_on_device,
)

__all__ = [
    "BatchedForm",
    "BatchedLogChance",
    "Found",
    "LogEIOnDevice",
    "Positive",
    "Sum",
    "batched_form",
    "climb_batched",
    "maximize_batched",
    "maximize_on_device",
]
