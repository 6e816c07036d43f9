"""An acquisition function in numpy, as a search wants it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from torch import Tensor

from botorch_ubo.models.quick.factored import Array, to_array


class ValuesAndGradients(Protocol):
    """Values and gradients at points."""

    def __call__(self, points: Array, gradient: bool = True) -> tuple[Array, Array]:
        """The ``b`` values at ``b x d`` points, and ``b x d`` gradients (else nothing)."""


@dataclass(frozen=True)
class ClosedForm:
    """A formula of points in length-scales from an origin; those of a search are raw."""

    formula: ValuesAndGradients
    origin: Tensor
    """``d``-dim, in raw units."""
    slope: Tensor
    """``1 x d``: length-scales per raw unit."""
    rough: ValuesAndGradients | None = None
    """A cheaper formula to compare samples by; the same one by default."""

    def to_points(self, X: Tensor) -> Array:
        """Raw inputs (``... x d``) in length-scales from the origin."""
        return to_array((X - self.origin) * self.slope)

    def to_raw(self, points: Array) -> Tensor:
        """The inverse of :meth:`to_points`, in the model's dtype."""
        return torch.from_numpy(points).to(self.slope) / self.slope + self.origin


def closed_form(acq_function: AcquisitionFunction) -> ClosedForm | None:
    r"""The formula of an acquisition function, if it has one.

    Args:
        acq_function: Any acquisition function. One with a formula answers ``closed_form()`` with
            it, or with ``None`` where it does not hold.

    Returns:
        The formula, or ``None``.
    """
    own = getattr(acq_function, "closed_form", None)
    found: ClosedForm | None = None if own is None else own()
    return found
