r"""Penalties on distance from where the user looked first [Shahriari2016].

A penalty is zero near a centre, grows without bound, and knows a box around each of its level
sets: beyond it, a penalised acquisition function need not be searched.

References:
    [Shahriari2016] B. Shahriari, A. Bouchard-Cote, and N. de Freitas. Unbounded Bayesian
    Optimization via Regularization. Proceedings of the 19th International Conference on Artificial
    Intelligence and Statistics, PMLR 51, 2016.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor
from torch.nn import Module

from botorch_ubo.boxes import check_bounds


class Penalty(Module, ABC):
    """``xi(x) >= 0`` in units of the outcomes' standard deviation."""

    center: Tensor

    @classmethod
    @abstractmethod
    def from_bounds(cls, bounds: Tensor) -> Self:
        """The penalty that [Ha2019] derives from a ``2 x d`` box, the user's first one."""

    @abstractmethod
    def forward(self, X: Tensor) -> Tensor:
        """Evaluate ``xi`` at ``... x d`` points."""

    @abstractmethod
    def level_box(self, level: float) -> Tensor:
        """The smallest ``2 x d`` box around ``{x : xi(x) <= level}``."""


class QuadraticPenalty(Penalty):
    r"""``xi(x) = sum_j ((x_j - center_j) / widths_j)^2``: the regulariser of EI-Q.

    Example:
        >>> penalty = QuadraticPenalty.from_bounds(bounds)
        >>> LogRegularizedExpectedImprovement(model, best_f=0.2, penalty=penalty)
    """

    widths: Tensor

    def __init__(self, center: Tensor, widths: Tensor) -> None:
        r"""A quadratic penalty.

        Args:
            center: A ``d``-dim tensor, where the penalty is zero.
            widths: A ``d``-dim tensor, the distance per dimension at which it is one.
        """
        super().__init__()
        if center.shape != widths.shape or not (widths > 0).all():
            raise InputDataError(
                "Expected one positive width per dimension of the center "
                f"({center.shape[-1]}); got {widths.tolist()}."
            )
        self.register_buffer("center", center.detach().clone())
        self.register_buffer("widths", widths.detach().clone())

    @classmethod
    def from_bounds(cls, bounds: Tensor) -> Self:
        """Centred on the box, with its sides as widths."""
        bounds = check_bounds(bounds)
        return cls(bounds.mean(dim=0), bounds[1] - bounds[0])

    def forward(self, X: Tensor) -> Tensor:
        """See :class:`Penalty`."""
        return ((X - self.center) / self.widths).square().sum(dim=-1)

    def level_box(self, level: float) -> Tensor:
        """See :class:`Penalty`."""
        half = self.widths * level**0.5
        return torch.stack([self.center - half, self.center + half])


class HingeQuadraticPenalty(Penalty):
    r"""``xi(x) = max(0, (|x - center| - radius) / (width * radius))^2``: the regulariser of EI-H.

    Zero in a ball, and once continuously differentiable across its surface.

    Example:
        >>> penalty = HingeQuadraticPenalty.from_bounds(bounds)
        >>> LogRegularizedExpectedImprovement(model, best_f=0.2, penalty=penalty)
    """

    radius: Tensor

    def __init__(self, center: Tensor, radius: float | Tensor, width: float = 1.0) -> None:
        r"""A hinge-quadratic penalty.

        Args:
            center: A ``d``-dim tensor, the centre of the ball without penalty.
            radius: The radius of that ball.
            width: Distance from the ball at which the penalty is one, in radii (``beta`` in
                [Shahriari2016]).
        """
        super().__init__()
        radius = torch.as_tensor(radius).to(center)
        if not (radius > 0 and width > 0):
            raise InputDataError(
                f"Expected a positive radius and width; got radius={float(radius)}, width={width}."
            )
        self.register_buffer("center", center.detach().clone())
        self.register_buffer("radius", radius.detach().clone())
        self.width = width

    @classmethod
    def from_bounds(cls, bounds: Tensor) -> Self:
        """The ball around the box: centred on it, with half its diagonal as radius."""
        bounds = check_bounds(bounds)
        return cls(bounds.mean(dim=0), (bounds[1] - bounds[0]).norm() / 2)

    def forward(self, X: Tensor) -> Tensor:
        """See :class:`Penalty`."""
        beyond = (X - self.center).norm(dim=-1) - self.radius
        return (beyond.clamp_min(0) / (self.width * self.radius)).square()

    def level_box(self, level: float) -> Tensor:
        """See :class:`Penalty`."""
        half = self.radius * (1 + self.width * level**0.5)
        return torch.stack([self.center - half, self.center + half])
