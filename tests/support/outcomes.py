"""A column of outcomes with very bad ones among them, in as many different places."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tests.support.gps import tensor

BOX = tensor([[0.0], [10.0]])


def spread(n: int) -> Tensor:
    """As many different places."""
    return torch.arange(n, dtype=torch.double).unsqueeze(-1)


def column(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.double).unsqueeze(-1)


# The median is -4, the best 0: scale 4, compressed below -8.
VALUES = column(0.0, -1.0, -4.0, -8.0, -8.0 - 4 * (math.e - 1))
# The excess of the last is e - 1 scales: -4 - 4 (1 + log(e)) = -12.
COMPRESSED = column(0.0, -1.0, -4.0, -8.0, -12.0)
