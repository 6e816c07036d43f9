"""The unit interval, searched by points so dense that nothing is left to find in it."""

from __future__ import annotations

from typing import Any

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from torch import Tensor

from botorch_ubo import ExpandingBounds, SearchSettings, Trigger
from tests.support.controlled import corrected
from tests.support.gps import tensor

LINE = tensor([[0.0], [1.0]])


def wave(X: Tensor) -> Tensor:
    return torch.sin(5 * X).sum(dim=-1, keepdim=True)


def dense(n: int) -> Tensor:
    """``n`` points that exhaust the unit interval."""
    return torch.linspace(0, 1, n, dtype=torch.double).unsqueeze(-1)


def interpolating(X: Tensor, Y: Tensor | None = None) -> SingleTaskGP:
    """A model of exact values of the wave, or of given ones."""
    Y = wave(X) if Y is None else Y
    model = SingleTaskGP(X, Y, torch.full_like(Y, 1e-6), input_transform=Normalize(1, bounds=LINE))
    model.covar_module.lengthscale = 0.3
    return model.eval()


def started(trigger: Trigger, n: int, **kwargs: Any) -> ExpandingBounds:
    """A controller whose box last moved (or whose run began) at ``n`` observations."""
    box = corrected(LINE, trigger=trigger, search=SearchSettings(4, 64), **kwargs)
    box.update(interpolating(dense(n)))
    return box
