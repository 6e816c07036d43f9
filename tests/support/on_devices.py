"""Models that are the same on every device: the CPU, CUDA where there is one, a pretend one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from gpytorch.kernels import MaternKernel, ScaleKernel
from torch import Tensor

from botorch_ubo import SearchSettings, default_model, published_model
from tests.support.gps import tensor

try:
    from tests.support import simgpu
except ImportError:  # the function it builds on is torch's own and experimental
    simgpu = None  # type: ignore[assignment]

BOUNDS = tensor([[0.5, 0.5], [1.5, 2.5]])
# Every operation on the pretend device passes through Python: few of them, the same everywhere.
FEW = SearchSettings(2, 16, {"maxiter": 12})
FAST: dict[str, Any] = {"search": FEW}

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
needs_simgpu = pytest.mark.skipif(simgpu is None, reason="this torch cannot simulate a device")
DEVICES = [
    pytest.param("simgpu", marks=needs_simgpu),
    pytest.param("cuda", marks=needs_cuda),
]


def available_devices() -> tuple[str, ...]:
    """All that there are."""
    cuda = ("cuda",) if torch.cuda.is_available() else ()
    return ("cpu", *cuda, *(() if simgpu is None else (simgpu.NAME,)))


def objective(X: Tensor) -> Tensor:
    return torch.sin(3 * X).sum(dim=-1, keepdim=True)


def inputs(n: int = 8) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return BOUNDS[0] + torch.rand(n, 2, generator=generator, dtype=torch.double)


def rbf(X: Tensor, Y: Tensor) -> SingleTaskGP:
    return SingleTaskGP(X, Y, input_transform=Normalize(2, bounds=BOUNDS.to(X)))


def matern_log(X: Tensor, Y: Tensor) -> SingleTaskGP:
    transform = ChainedInputTransform(
        log=Log10([0, 1]), unit=Normalize(2, bounds=BOUNDS.log10().to(X))
    )
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=2)).to(X)
    return SingleTaskGP(
        X, Y, torch.full_like(Y, 1e-3), covar_module=kernel, input_transform=transform
    )


def quick(X: Tensor, Y: Tensor) -> SingleTaskGP:
    return default_model(X, Y, BOUNDS.to(X))


MODELS: dict[str, Callable[[Tensor, Tensor], SingleTaskGP]] = {
    "rbf": rbf,
    "quick": quick,
    "matern_log": matern_log,
    "published": published_model,
}


def build(name: str, device: str, dtype: torch.dtype = torch.double, n: int = 8) -> SingleTaskGP:
    """The same model on any device; hyper-parameters are set, not fitted."""
    X = inputs(n).to(device, dtype)
    model = MODELS[name](X, objective(X))
    base = getattr(model.covar_module, "base_kernel", model.covar_module)
    base.lengthscale = 0.6
    if name != "rbf":
        model.covar_module.outputscale = 1.3
    return model.eval()


def assert_on(device: str, dtype: torch.dtype, *tensors: Tensor) -> None:
    for value in tensors:
        assert value.device.type == device and value.dtype == dtype
