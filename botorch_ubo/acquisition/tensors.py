"""Numbers as tensors of a model's dtype and device."""

from __future__ import annotations

import torch
from botorch.models.model import Model
from torch import Tensor


def like_model(model: Model, value: float | Tensor) -> Tensor:
    """``value`` in the model's dtype: ``torch.as_tensor(0.2)`` would round it to single."""
    parameter = next(model.parameters(), None)
    if parameter is None:
        return torch.as_tensor(value, dtype=torch.double)
    return torch.as_tensor(value, dtype=parameter.dtype, device=parameter.device)
