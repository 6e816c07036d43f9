"""The unit of outcomes by which a model standardises them, whatever their size."""

from __future__ import annotations

import math

import torch
from botorch.models.transforms.outcome import Standardize
from torch import Tensor

MIN_NOISE_VARIANCE = 1.01e-6
"""Of the outcomes' variance: gpytorch rounds fixed noise below 1e-6 up to it, and warns."""


class RobustStandardize(Standardize):
    """``Standardize`` for outcomes of any size: joules, pascals, or 1e-200 of either.

    BoTorch's squares raw outcomes, which over- and underflows, and takes a standard deviation below
    1e-8 for none. Here outcomes do not vary if they are equal up to rounding (:func:`is_flat`);
    their unit is then their size. Observation variances below what gpytorch allows are raised to
    it.
    """

    def forward(
        self, Y: Tensor, Yvar: Tensor | None = None, X: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        r"""Standardize outcomes.

        Args:
            Y: A ``batch_shape x n x m``-dim tensor of training targets.
            Yvar: A ``batch_shape x n x m``-dim tensor of observation variances.
            X: Not used.

        Returns:
            The outcomes, and the variances if there are any.
        """
        if self.training:
            self._validate_training_inputs(Y=Y, Yvar=Yvar)
            self.means, self.stdvs, varies = measure(Y)
            self._stdvs_sq = self.stdvs.square()
            self._is_trained = torch.tensor(True, device=Y.device)
        standardized = (Y - self.means) / self.stdvs
        if self.training:  # what is left of equal outcomes is rounding
            standardized = standardized.where(varies, 0.0)
        if Yvar is None:
            return standardized, None
        # Not by the square, which may be no number.
        return standardized, (Yvar / self.stdvs / self.stdvs).clamp_min(MIN_NOISE_VARIANCE)


def location_and_unit(Y: Tensor) -> tuple[Tensor, Tensor]:
    r"""Mean and standard deviation of outcomes of any size.

    Args:
        Y: A ``batch_shape x n x m``-dim tensor.

    Returns:
        ``batch_shape x 1 x m`` means and units: standard deviations, or the outcomes' size where
        they do not vary (1 if they are all zero).
    """
    return measure(Y)[:2]


def measure(Y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    r"""Mean, unit and variation of outcomes of any size, at once.

    Args:
        Y: A ``batch_shape x n x m``-dim tensor.

    Returns:
        Means and units, see :func:`location_and_unit`, and which outcomes vary by more than
        rounding; each ``batch_shape x 1 x m``.
    """
    size, power = _size(Y)
    scaled = Y / power
    deviation = _std(scaled)
    varies = deviation > rounding(Y) * size / power
    unit = torch.where(varies, deviation * power, size)
    return scaled.mean(dim=-2, keepdim=True) * power, torch.where(unit > 0, unit, 1.0), varies


def is_flat(Y: Tensor) -> bool:
    """Whether ``n x 1`` outcomes are equal up to rounding: they then tell nothing of a function."""
    return not bool(measure(Y)[2].any())


def rounding(Y: Tensor) -> float:
    """Variation relative to size that sums of many terms show though they should be equal."""
    return float(torch.finfo(Y.dtype).eps ** 0.75)  # 2e-12 in double, 6e-6 in single precision


def _size(Y: Tensor) -> tuple[Tensor, Tensor]:
    """The largest absolute value, and a power of two near it, by which division is exact."""
    size = Y.abs().amax(dim=-2, keepdim=True)
    _, exponent = torch.frexp(size)
    return size, torch.ldexp(torch.ones_like(size), exponent.clamp_max(max_exponent(Y)))


def max_exponent(Y: Tensor) -> int:
    """Of the largest power of two that the outcomes' dtype has."""
    return math.frexp(torch.finfo(Y.dtype).max)[1] - 1


def _std(Y: Tensor) -> Tensor:
    if Y.shape[-2] < 2:
        return torch.zeros_like(Y[..., :1, :])
    return Y.std(dim=-2, keepdim=True)
