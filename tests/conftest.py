"""Every test alike: examples of property tests are the same in every run, precision is torch's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def single_precision_by_default() -> Iterator[None]:
    """Torch's own default, which some hosts change for the whole process when they are imported."""
    torch.set_default_dtype(torch.float)
    yield
