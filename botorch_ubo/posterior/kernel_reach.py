r"""How far until a kernel falls to a level: the :math:`g_k` of the paper, per dimension.

``kernel_reach(kernel, log_level, d)`` returns half-widths ``h`` such that
``k(x, x') <= level`` whenever ``|x_j - x'_j| >= h_j`` for at least one ``j``. For a kernel of
the ARD-scaled distance ``r`` this is ``h_j = l_j * rho^{-1}(level)``: the box around the
ellipsoid ``r <= rho^{-1}(level)``. A half-width is infinite along a dimension in which the
kernel does not decay; what to do about that is the caller's decision
(:func:`require_finite_reach` refuses, and names the kernel).

Closed forms and safeguarded inverses are registered per kernel class. Any other kernel is
probed: it is evaluated along every axis and in random directions, and trusted as far as it was
seen to decay. ``Kernel.is_stationary`` is not consulted, since it is ``True`` for periodic
kernels and for sums over disjoint dimensions.

Notation (shapes): ``log_level`` is ``batch_shape``, half-widths are ``batch_shape x d``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch

import torch
from botorch.exceptions.errors import UnsupportedError
from botorch.models.kernels import CategoricalKernel
from gpytorch.kernels import (
    AdditiveKernel,
    IndexKernel,
    Kernel,
    MaternKernel,
    PeriodicKernel,
    PiecewisePolynomialKernel,
    ProductKernel,
    RBFKernel,
    RQKernel,
    ScaleKernel,
)
from torch import Tensor

# Correlation at which "one length-scale" is read off a kernel: an RBF falls to it at r = 1.
LOG_UNIT_CORRELATION = -0.5

_NEWTON_STEPS = 40  # 1e-13 in 8 steps for log_level < -1; the rest serve levels close to k(x, x)
_GRID = 512


def kernel_reach(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    r"""Half-widths beyond which a kernel stays below a level.

    Args:
        kernel: A kernel in double precision.
        log_level: A ``batch_shape``-dim tensor, the logarithm of the level ``gamma > 0``.
        d: The number of input dimensions that the kernel is called with.

    Returns:
        A ``batch_shape x d``-dim tensor of half-widths; ``inf`` where the kernel does not decay.
    """
    active = kernel.active_dims
    if active is None:
        return _reach(kernel, log_level, d)
    inner = _reach(kernel, log_level, len(active))
    reach = inner.new_full((*inner.shape[:-1], d), math.inf)
    reach[..., active.to(reach.device)] = inner
    return reach


def require_finite_reach(kernel: Kernel, reach: Tensor) -> Tensor:
    r"""Refuse a kernel that does not decay along every dimension.

    Args:
        kernel: The kernel that ``reach`` was computed for.
        reach: A ``batch_shape x d``-dim tensor of half-widths.

    Returns:
        ``reach``, if it is finite.

    Raises:
        UnsupportedError: If the kernel does not fall to the level in some dimension.
    """
    finite = reach.isfinite().reshape(-1, reach.shape[-1]).all(dim=0)
    if finite.all():
        return reach
    dims = [j for j, ok in enumerate(finite.tolist()) if not ok]
    raise UnsupportedError(
        "Expected a kernel that decays to zero in every direction (Assumption 4.2); got "
        f"{describe_kernel(kernel)}, which does not decay along dimension(s) {dims}. Use an RBF, "
        "Matern, rational quadratic or piecewise polynomial kernel over all dimensions, alone or "
        "as a factor; a constant belongs in the mean module, not in the kernel."
    )


def describe_kernel(kernel: Kernel) -> str:
    """Name a kernel and its parts, e.g. ``AdditiveKernel(RBFKernel, PeriodicKernel)``."""
    parts = list(getattr(kernel, "kernels", ()))
    base = getattr(kernel, "base_kernel", None)
    if base is not None:
        parts.append(base)
    name = type(kernel).__name__
    return f"{name}({', '.join(map(describe_kernel, parts))})" if parts else name


@singledispatch
def _reach(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    """Probe a kernel that has no registered closed form."""
    grid = torch.logspace(-6, 12, _GRID, dtype=log_level.dtype, device=log_level.device)
    steps = torch.eye(d, dtype=grid.dtype, device=grid.device).unsqueeze(1) * grid.unsqueeze(-1)
    # Two origins: a kernel that depends on more than the difference shows at the second.
    values = torch.maximum(*(_profile(kernel, steps.reshape(-1, d), at).abs() for at in (0.0, 3.7)))
    values = values.unflatten(-1, (d, _GRID))  # batch x d x G
    # The last crossing, not the first: nothing is known about monotonicity here.
    above = values > log_level.exp()[..., None, None]
    index = torch.arange(1, _GRID + 1, device=grid.device)
    last = (above * index).amax(dim=-1)  # 0: never above
    reach = torch.cat([grid, grid.new_full((1,), math.inf)])[last]
    _check_envelope(kernel, log_level, reach)
    return reach


def _check_envelope(kernel: Kernel, log_level: Tensor, reach: Tensor) -> None:
    """Refuse a probed kernel that is negative or that decays along the axes only."""
    d = reach.shape[-1]
    generator = torch.Generator().manual_seed(0)
    direction = torch.randn(256, d, generator=generator, dtype=torch.double).to(reach)
    direction = direction / direction.abs().amax(dim=-1, keepdim=True)
    width = reach.reshape(-1, d).amax(dim=0).clamp(max=1e12)
    outside = _profile(kernel, direction * width * 1.001)
    inside = _profile(kernel, direction * width * torch.linspace(0, 1, 256).to(reach)[:, None])
    tol = 1e-9
    slow = (outside > log_level.exp().unsqueeze(-1) * (1 + tol) + tol).any()
    negative = min(outside.min(), inside.min()) < -tol
    if negative or (slow and reach.isfinite().all()):
        raise UnsupportedError(
            f"Expected a non-negative kernel that decays with distance; {describe_kernel(kernel)} "
            "has no registered reach, and probing found negative values or a slower decay between "
            "the axes than along them. Use an RBF, Matern, rational quadratic or piecewise "
            "polynomial kernel, or register a closed form with "
            "`botorch_ubo.register_reach`."
        )


def _profile(kernel: Kernel, steps: Tensor, origin: float = 0.0) -> Tensor:
    """Evaluate ``k(o, o + step)`` for ``m x d`` steps; the result is ``batch_shape x m``."""
    steps = steps.expand(*kernel.batch_shape, *steps.shape)
    start = torch.full_like(steps, origin)
    # `forward` and not `__call__`: active dimensions are resolved by `kernel_reach`.
    values: Tensor = kernel.forward(start, start + steps, diag=True)
    return values


def register_reach(
    kernel_class: type[Kernel],
) -> Callable[[Callable[[Kernel, Tensor, int], Tensor]], Callable[[Kernel, Tensor, int], Tensor]]:
    """Register ``fn(kernel, log_level, d) -> half-widths`` for a kernel class (a decorator)."""
    return _reach.register(kernel_class)


def _scaled(kernel: Kernel, radius: Tensor, d: int) -> Tensor:
    """``l_j * radius`` per dimension, for a ``batch_shape``-dim radius in length-scales."""
    lengthscale = kernel.lengthscale.squeeze(-2)  # batch_shape x (1 or d)
    return (lengthscale * radius.unsqueeze(-1)).expand(*radius.shape, d)


@register_reach(RBFKernel)
def _(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    return _scaled(kernel, (-2 * log_level.clamp(max=0)).sqrt(), d)  # paper, below Eq. (3)


@register_reach(RQKernel)
def _(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    alpha = kernel.alpha.squeeze(-1)
    excess = torch.expm1(-log_level.clamp(max=0) / alpha)
    return _scaled(kernel, (2 * alpha * excess).sqrt(), d)


@register_reach(MaternKernel)
def _(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    decay = -log_level.clamp(max=0)
    if kernel.nu == 0.5:
        return _scaled(kernel, decay, d)
    # (1 + u + c u^2) exp(-u) = level with u = sqrt(2 nu) r. The left side minus the right is
    # convex in log form, so Newton's method from the right never leaves the safe side.
    c = 0.0 if kernel.nu == 1.5 else 1 / 3
    u = decay + 2 * torch.log1p(decay) + 1
    for _step in range(_NEWTON_STEPS):
        poly = 1 + u + c * u.square()
        residual = u - poly.log() - decay
        slope = u * (1 - 2 * c + c * u) / poly
        u = torch.where(decay > 0, u - residual / slope.clamp_min(1e-300), 0.0)
    return _scaled(kernel, u / math.sqrt(2 * kernel.nu), d)


@register_reach(PiecewisePolynomialKernel)
def _(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    # Support r < 1, decreasing: bracket on a grid, twice; the right end of a bracket is safe.
    low = torch.zeros_like(log_level)
    high = torch.ones_like(log_level)
    fractions = torch.linspace(0, 1, _GRID, dtype=low.dtype, device=low.device)
    axis = torch.zeros(d, dtype=low.dtype, device=low.device)
    axis[0] = 1.0
    for _round in range(3):
        r = low.unsqueeze(-1) + (high - low).unsqueeze(-1) * fractions  # batch x G
        step = (r * kernel.lengthscale[..., 0, :1]).unsqueeze(-1) * axis
        above = kernel.forward(torch.zeros_like(step), step, diag=True) > (
            log_level.exp().unsqueeze(-1)
        )
        last = above.sum(dim=-1, keepdim=True).clamp(1, _GRID - 1)
        low, high = r.gather(-1, last - 1).squeeze(-1), r.gather(-1, last).squeeze(-1)
    return _scaled(kernel, torch.where(log_level < 0, high, 0.0), d)


@register_reach(PeriodicKernel)
@register_reach(CategoricalKernel)
@register_reach(IndexKernel)
def _(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    # It comes back at every period; probing can miss that when its peaks are narrow. Categories
    # and tasks have no distance to decay with.
    never = torch.where(log_level < 0, math.inf, 0.0)
    return never.unsqueeze(-1).expand(*log_level.shape, d).to(log_level)


@register_reach(CategoricalKernel)
def _(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    # Another category is no further away for having another code.
    never = torch.where(log_level < 0, math.inf, 0.0)
    return never.unsqueeze(-1).expand(*log_level.shape, d).to(log_level)


@register_reach(ScaleKernel)
def _(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    # A ScaleKernel takes over the active dimensions of its base and calls `forward` on it.
    return _reach(kernel.base_kernel, log_level - kernel.outputscale.log(), d)


@register_reach(ProductKernel)
def _(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    # k_1 k_2 <= level as soon as one factor falls to level / (maximum of the others).
    log_top = [kernel_variance(part, log_level, d).log() for part in kernel.kernels]
    total = torch.stack(torch.broadcast_tensors(*log_top)).sum(dim=0)
    reaches = [
        kernel_reach(part, log_level - (total - top), d)
        for part, top in zip(kernel.kernels, log_top, strict=True)
    ]
    return torch.stack(torch.broadcast_tensors(*reaches)).amin(dim=0)


@register_reach(AdditiveKernel)
def _(kernel: Kernel, log_level: Tensor, d: int) -> Tensor:
    # The sum of m terms is below the level where each is below level / m.
    share = log_level - math.log(len(kernel.kernels))
    reaches = [kernel_reach(part, share, d) for part in kernel.kernels]
    return torch.stack(torch.broadcast_tensors(*reaches)).amax(dim=0)


def kernel_variance(kernel: Kernel, like: Tensor, d: int) -> Tensor:
    """``k(x, x)`` at the origin, ``batch_shape``-dim, in the dtype and device of ``like``."""
    zero = torch.zeros(*kernel.batch_shape, 1, d, dtype=like.dtype, device=like.device)
    variance: Tensor = kernel(zero, zero, diag=True)[..., 0]
    return variance
