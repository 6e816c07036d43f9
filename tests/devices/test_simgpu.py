"""The pretend device objects where CUDA would; every method keeps to it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from botorch_ubo import (
    UnboundedUpperConfidenceBound,
    available_methods,
    get_method,
)
from botorch_ubo.methods import DEFAULT_METHOD
from tests.support.conformance import Conformance
from tests.support.controlled import corrected
from tests.support.on_devices import (
    BOUNDS,
    FAST,
    available_devices,
    build,
    needs_simgpu,
)

TESTS = Path(__file__).resolve().parents[1]

# Data as they are, not standardised, and single precision: BoTorch warns of both.
pytestmark = pytest.mark.filterwarnings("ignore")


@needs_simgpu
class TestSimgpu:
    """The pretend device itself: it must object where CUDA would, or the tests above are idle."""

    def test_mixing_devices_raises(self) -> None:
        with pytest.raises(RuntimeError, match="device"):
            torch.ones(2).to("simgpu") + torch.ones(2)

    def test_numpy_needs_the_cpu(self) -> None:
        with pytest.raises((RuntimeError, TypeError)):
            torch.ones(2).to("simgpu").numpy()

    def test_scalars_of_the_cpu_are_accepted(self) -> None:
        value = torch.ones(2).to("simgpu") * torch.tensor(3.0)
        assert value.device.type == "simgpu" and value.cpu().tolist() == [3.0, 3.0]

    def test_a_cpu_tensor_hidden_in_an_acquisition_is_caught(self) -> None:
        class Careless(UnboundedUpperConfidenceBound):
            def forward(self, X: Tensor) -> Tensor:
                return super().forward(X) + torch.zeros(X.shape[0], dtype=torch.double)

        model = build("rbf", "simgpu")
        with pytest.raises(RuntimeError, match="device"):
            corrected(BOUNDS.to("simgpu"), **FAST).suggest(model, Careless(model, beta=4.0))


@needs_simgpu
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        # Every method, and those of the package's and of the paper's model in single precision.
        *((method.name, torch.double) for method in available_methods()),
        (DEFAULT_METHOD, torch.float),
        ("GPUCB-UBO", torch.float),
    ],
)
def test_every_method_keeps_dtype_and_device(name: str, dtype: torch.dtype) -> None:
    class Suite(Conformance):
        method = name

    assert Suite.devices == available_devices() and len(Suite.devices) >= 2
    Suite().test_dtype_and_device_are_kept(dtype)


@needs_simgpu
@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_the_measured_beta_keeps_dtype_and_device(dtype: torch.dtype) -> None:
    class Suite(Conformance):
        method = replace(get_method("GPUCB-UBO"), beta="calibrated")

    Suite().test_dtype_and_device_are_kept(dtype)


def test_only_one_file_registers_the_pretend_device() -> None:
    imports = re.compile(r"^ *(from tests\.support import simgpu|.*support\.simgpu)", re.MULTILINE)
    files = [p.name for p in TESTS.rglob("*.py") if imports.search(p.read_text())]
    assert files == ["on_devices.py"]
