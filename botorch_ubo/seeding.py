"""A seed for a block of code, and the random state as it was afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the generators of the CPU and of CUDA for a block, then put their states back.

    ``torch.manual_seed`` also queues the seed for every accelerator that is not there, with a
    formatted stack trace each, which takes longer than the optimisation of an acquisition function
    for small data. Generators that were not used are left alone.
    """
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with torch.random.fork_rng(devices):
        torch.default_generator.manual_seed(seed)
        if devices:
            torch.cuda.manual_seed_all(seed)
        yield
