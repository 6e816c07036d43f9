"""The conformance suite for strategies on every device, the pretend one included."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch

from botorch_ubo.testing import StrategyConformance
from tests.support.on_devices import available_devices, simgpu


class Conformance(StrategyConformance):
    """The suite with all devices, and with what the pretend one needs."""

    devices = available_devices()

    @pytest.mark.parametrize("dtype", [torch.float, torch.double])
    def test_dtype_and_device_are_kept(self, dtype: torch.dtype) -> None:
        with nullcontext() if simgpu is None else simgpu.without_view_writes():
            super().test_dtype_and_device_are_kept(dtype)
