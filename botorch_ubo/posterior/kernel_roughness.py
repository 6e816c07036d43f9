r"""Standard deviation of a Gaussian process' partial derivatives, from its kernel.

Theorem 5.1 needs constants ``a, b`` with ``P(sup |df/dx_j| > L) <= a exp(-(L/b)^2)``. The
derivative of a GP is Gaussian with variance ``s_j^2 = -k''(0)`` along dimension ``j``, and
``P(|N(0, s^2)| > L) <= exp(-L^2 / (2 s^2))``, hence ``b_j = sqrt(2) s_j`` with ``a = 1``.

A Matern-1/2 process has no derivative, so Theorem 5.1 does not cover it; the Matern-3/2 value
stands in as a heuristic. Kernels without a registered value get the secant
``2 (k(0) - k(h e_j)) / h^2`` at a small ``h``.
"""

from __future__ import annotations

import math
from functools import singledispatch

import torch
from botorch.models.kernels import CategoricalKernel
from gpytorch.kernels import (
    AdditiveKernel,
    IndexKernel,
    Kernel,
    MaternKernel,
    PeriodicKernel,
    ProductKernel,
    RBFKernel,
    RQKernel,
    ScaleKernel,
)
from torch import Tensor

from botorch_ubo.posterior.kernel_reach import LOG_UNIT_CORRELATION, kernel_reach, kernel_variance

# s^2 l^2 / theta^2 by smoothness; 0.5 is the heuristic named above.
_MATERN_CURVATURE = {0.5: 3.0, 1.5: 3.0, 2.5: 5 / 3}
_SECANT_STEP = 1e-3  # of a length-scale: relative error 1e-6 from curvature, 1e-10 from rounding


def derivative_variance(kernel: Kernel, like: Tensor, d: int) -> Tensor:
    r"""Variance ``s_j^2`` of the partial derivatives of a GP with this kernel.

    Args:
        kernel: A kernel in double precision.
        like: A tensor that sets dtype and device.
        d: The number of input dimensions that the kernel is called with.

    Returns:
        A ``batch_shape x d``-dim tensor; zero along dimensions that the kernel ignores.
    """
    active = kernel.active_dims
    if active is None:
        return _variance(kernel, like, d)
    inner = _variance(kernel, like, len(active))
    variance = inner.new_zeros(*inner.shape[:-1], d)
    variance[..., active.to(variance.device)] = inner
    return variance


@singledispatch
def _variance(kernel: Kernel, like: Tensor, d: int) -> Tensor:
    zero = torch.zeros(*kernel.batch_shape, d, d, dtype=like.dtype, device=like.device)
    top = kernel.forward(zero, zero, diag=True)  # batch_shape x d
    unit = _unit_reach(kernel, top[..., 0].log() + LOG_UNIT_CORRELATION, d)
    step = _SECANT_STEP * unit
    fallen: Tensor = kernel.forward(zero, torch.diag_embed(step), diag=True)
    return 2 * (top - fallen) / step.square()


def _unit_reach(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    reach = kernel_reach(kernel, log_level, d)
    # A kernel that never falls varies on no scale of its own: any step serves the secant.
    return torch.where(reach.isfinite(), reach, 1.0)


@_variance.register(RBFKernel)
@_variance.register(RQKernel)
def _(kernel: Kernel, like: Tensor, d: int) -> Tensor:
    lengthscale = kernel.lengthscale.squeeze(-2)
    return lengthscale.pow(-2).expand(*lengthscale.shape[:-1], d)


@_variance.register(MaternKernel)
def _(kernel: Kernel, like: Tensor, d: int) -> Tensor:
    lengthscale = kernel.lengthscale.squeeze(-2)
    variance = _MATERN_CURVATURE[kernel.nu] * lengthscale.pow(-2)
    return variance.expand(*lengthscale.shape[:-1], d)


@_variance.register(PeriodicKernel)
def _(kernel: Kernel, like: Tensor, d: int) -> Tensor:
    # exp(-2 sin^2(pi x / p) / l), in which the length-scale is not squared.
    variance = (2 * math.pi / kernel.period_length).square() / kernel.lengthscale
    variance = variance.squeeze(-2)
    return variance.expand(*variance.shape[:-1], d)


@_variance.register(CategoricalKernel)
@_variance.register(IndexKernel)
def _(kernel: Kernel, like: Tensor, d: int) -> Tensor:
    # From one category or task to another there is no way along which to differentiate.
    return torch.zeros(*kernel.batch_shape, d, dtype=like.dtype, device=like.device)


@_variance.register(ScaleKernel)
def _(kernel: Kernel, like: Tensor, d: int) -> Tensor:
    return kernel.outputscale.unsqueeze(-1) * _variance(kernel.base_kernel, like, d)


@_variance.register(AdditiveKernel)
def _(kernel: Kernel, like: Tensor, d: int) -> Tensor:
    parts = [derivative_variance(part, like, d) for part in kernel.kernels]
    return torch.stack(torch.broadcast_tensors(*parts)).sum(dim=0)


@_variance.register(ProductKernel)
def _(kernel: Kernel, like: Tensor, d: int) -> Tensor:
    # -(k_1 k_2)''(0) = -k_1''(0) k_2(0) - k_1(0) k_2''(0): first derivatives vanish at zero.
    tops = [kernel_variance(part, like, d).unsqueeze(-1) for part in kernel.kernels]
    parts = [derivative_variance(part, like, d) for part in kernel.kernels]
    relative = [part / top for part, top in zip(parts, tops, strict=True)]
    total = torch.stack(torch.broadcast_tensors(*relative)).sum(dim=0)
    return total * torch.stack(torch.broadcast_tensors(*tops)).prod(dim=0)
