r"""How many runs are computed together: on a CPU, as many as its cache has room for.

A device wants all of them at once, since it pays for operations. A CPU pays for memory: every
operation on tensors of many megabytes waits for it, and takes up to twice the time.
"""

from __future__ import annotations

import torch

NUMBERS_IN_CACHE = 400_000
"""Of the largest tensor of runs that are computed together on a CPU."""
FEWEST = 4
"""Runs together, however large they are."""


def rows_at_once(count: int, numbers: int, device: torch.device) -> int:
    r"""How many of some runs to compute together.

    Args:
        count: How many there are.
        numbers: Of the largest tensor of one of them.
        device: Where they are computed.

    Returns:
        All on any other device than a CPU.
    """
    if device.type != "cpu":
        return count
    return min(count, max(FEWEST, NUMBERS_IN_CACHE // numbers))
