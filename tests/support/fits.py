"""Data and default models to be fitted, and gpytorch's own density of their parameters."""

from __future__ import annotations

import torch
from botorch.models.transforms import Normalize
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from botorch_ubo.models import default_model
from botorch_ubo.models.quick import QuickGP
from botorch_ubo.models.quick.density import LogDensity, Vector
from tests.support.by_hand import unit_box


def smooth(X: Tensor) -> Tensor:
    return 7 + 3 * torch.sin(4 * X + torch.arange(X.shape[-1])).sum(dim=-1, keepdim=True)


def data(n: int = 15, d: int = 2, seed: int = 0, noise: float = 0.0) -> tuple[Tensor, Tensor]:
    """Smooth outcomes; the noise in standard deviations of them."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, d, generator=generator, dtype=torch.double)
    Y = smooth(X)
    error = torch.randn(n, 1, generator=generator, dtype=torch.double)
    return X, Y + noise * Y.std() * error if noise else Y


def make(n: int = 15, d: int = 2, seed: int = 0, noise: float = 0.0, Yvar: float = 0.0) -> QuickGP:
    """The default model; ``Yvar`` in variances of the outcomes, 0 if it is to be inferred."""
    X, Y = data(n, d, seed, noise)
    variances = Yvar * smooth(X).var() * torch.linspace(0.5, 1.5, n).double().unsqueeze(-1)
    return default_model(X, Y, unit_box(d), variances if Yvar else None).train()


def without_scale(n: int = 15, d: int = 2) -> QuickGP:
    """BoTorch's default model."""
    X, Y = data(n, d)
    return QuickGP(X, Y, input_transform=Normalize(d, bounds=unit_box(d))).train()


def density_of(model: QuickGP) -> LogDensity:
    fixed = not hasattr(model.likelihood.noise_covar, "noise_prior")
    return LogDensity(model, model.likelihood.noise.detach().numpy() if fixed else None)


def set_parameters(model: QuickGP, density: LogDensity, p: Vector) -> None:
    d = density.X.shape[-1]
    values = torch.from_numpy(p).exp()
    kernel = model.covar_module
    (kernel.base_kernel if density.scaled else kernel).lengthscale = values[:d]
    if density.scaled:
        kernel.outputscale = values[d]
    if density.noise is None:
        model.likelihood.noise = values[-1]
    with torch.no_grad():
        model.mean_module.constant.fill_(density.mean(p))


def gpytorchs(model: QuickGP) -> float:
    """The negative logarithm of the density by gpytorch, at the model's parameters."""
    model.train()
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    with torch.no_grad():
        value = mll(model(*model.train_inputs), model.train_targets)
    return -len(model.train_targets) * float(value)
