r"""What a model's kernels tell of its prior: lengths over which it varies, and slopes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from gpytorch.kernels import Kernel, ScaleKernel
from torch import Tensor

from botorch_ubo.models.gram import in_double
from botorch_ubo.models.quick import QuickGP, SelectedGP
from botorch_ubo.models.space import covers_kernel_space, stretch
from botorch_ubo.models.structure import (
    input_columns,
    model_kernel,
    objective_scale,
    sub_models,
)
from botorch_ubo.posterior.kernel_reach import kernel_reach, kernel_variance
from botorch_ubo.posterior.kernel_roughness import derivative_variance


class Prior:
    """Lengths and slopes in the model's space; everything is computed at most once."""

    def __init__(
        self,
        model: Any,
        posterior_transform: PosteriorTransform | None,
        X: Tensor,
        first_box: Tensor,
        initial_bounds: Tensor,
    ) -> None:
        r"""Lengths and slopes of a model.

        Args:
            model: A fitted GP in its own units.
            posterior_transform: What makes one objective of several outputs.
            X: ``n x d`` training inputs in the model's space.
            first_box: The first ``2 x d`` box, likewise.
            initial_bounds: The same in raw units.
        """
        self._model = model
        self._posterior_transform = posterior_transform
        self._X = X
        self._first_box = first_box
        self._initial_bounds = initial_bounds

    @cached_property
    def slopes(self) -> Tensor | None:
        """``d``-dim standard deviations of the objective's partial derivatives.

        The largest over the members of an ensemble; ``None`` if no kernel tells.
        """
        variances = self._variances
        if variances is None:
            return None
        return variances[0].amax(dim=0).sqrt() * self._kernels[0].longer

    @cached_property
    def relative_slopes(self) -> Tensor | None:
        """``d``-dim: the same in standard deviations of the objective, member by member.

        ``None`` also of a kernel that has no variance where it was asked.
        """
        if self._variances is None:
            return None
        slope, value = self._variances
        relative = slope / value.unsqueeze(-1)
        if not relative.isfinite().all():
            return None
        return relative.amax(dim=0).sqrt() * self._kernels[0].longer

    @cached_property
    def _variances(self) -> tuple[Tensor, Tensor] | None:
        """``S x d`` of partial derivatives in the kernel's space and ``S`` of values."""
        scale = objective_scale(self._model, self._posterior_transform)
        if not self._kernels or scale is None:
            return None
        own = self._kernels[0]
        kernel, d = own.kernel, own.num_columns
        try:
            with torch.no_grad():
                slope = derivative_variance(kernel, self._X, d)  # batch_shape x d
        except UnsupportedError:  # a kernel without a decay, by which its slope would be estimated
            return None
        value = own.log_variance.exp().unsqueeze(-1)
        slope, value = (
            part.reshape(*scale.shape, -1) if kernel.batch_shape else part.expand(*scale.shape, -1)
            for part in (slope, value)
        )
        weights = scale.square().unsqueeze(-1)
        return (slope * weights).sum(dim=1), (value * weights).sum(dim=1).squeeze(-1)

    def half_widths(
        self, log_correlation: float, over_members: Callable[[Tensor, int], Tensor]
    ) -> Tensor:
        """``d``-dim distances in the model's space at which the correlation falls to a level."""
        lengthscales = self._squared_exponential
        if lengthscales is not None:
            return lengthscales * math.sqrt(-2 * log_correlation)
        box = self._first_box
        # As if a side were the length-scale, where the kernel tells none.
        without = math.sqrt(-2 * log_correlation) * (box[1] - box[0])
        found = [
            torch.where(half.isfinite() & (half > 0), half, without)
            for kernel in self._kernels
            if (half := kernel.half_widths(log_correlation, over_members)) is not None
        ]
        return over_members(torch.stack(found), 0) if found else without

    @cached_property
    def _squared_exponential(self) -> Tensor | None:
        """``d``-dim length-scales of a model with that kernel, all in the model's space."""
        model = self._model
        if type(model) not in (QuickGP, SelectedGP) or not model.has_shortcut():
            return None
        if not covers_kernel_space(model):
            return None
        kernel = model.covar_module
        base = kernel.base_kernel if isinstance(kernel, ScaleKernel) else kernel
        return base.lengthscale.detach().to(self._X).flatten().expand(self._X.shape[-1])

    @cached_property
    def _kernels(self) -> tuple[_Kernel, ...]:
        """The kernels of the model's outcomes that are known, each with its own units."""
        found = []
        for part in sub_models(self._model):
            kernel = model_kernel(in_double(part))
            longer = stretch(self._model, self._initial_bounds.to(self._X), part)
            if kernel is None or longer is None:
                continue
            inputs = getattr(part, "train_inputs", None)
            d = self._X.shape[-1] if inputs is None else inputs[0].shape[-1]
            with torch.no_grad():
                variance = kernel_variance(kernel, self._X, d)
            found.append(_Kernel(kernel, variance.log(), longer, d, input_columns(part, d)))
        return tuple(found)


@dataclass(frozen=True)
class _Kernel:
    """A kernel in its own space, which may be longer than the model's and have more columns."""

    kernel: Kernel
    log_variance: Tensor
    longer: Tensor
    """``d``-dim: lengths in its space per one in the model's."""
    num_columns: int
    columns: Tensor
    """Those of its columns that are inputs, not tasks."""

    def half_widths(
        self, log_correlation: float, over_members: Callable[[Tensor, int], Tensor]
    ) -> Tensor | None:
        """``d``-dim distances in the model's space; ``None`` if it was not seen to decay."""
        level = self.log_variance + log_correlation
        try:
            with torch.no_grad():
                reach = kernel_reach(self.kernel, level, self.num_columns)
        except UnsupportedError:  # probing found no decay to go by
            return None
        reach = over_members(reach.reshape(-1, self.num_columns), 0)
        return reach[self.columns.to(reach.device)] / self.longer
