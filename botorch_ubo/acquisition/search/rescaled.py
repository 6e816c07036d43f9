"""Inputs counted in lengths in which a step of one is neither long nor short."""

from __future__ import annotations

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from torch import Tensor

from botorch_ubo.acquisition.search.starts import Neighborhood
from botorch_ubo.models.space import to_model_space


class RescaledAcquisition(AcquisitionFunction):
    """An acquisition function whose inputs are counted in length-scales from a corner of a box.

    L-BFGS-B starts with a step of length one and ends at a gradient of 1e-5, in whatever units. In
    a box of pascals or of farads that is no search at all.
    """

    def __init__(
        self, acq_function: AcquisitionFunction, box: Tensor, neighborhood: Neighborhood
    ) -> None:
        r"""An acquisition function of inputs in length-scales.

        Args:
            acq_function: The acquisition function of inputs in raw units.
            box: The ``2 x d`` box to be searched.
            neighborhood: The data and their length-scales, in the model's space. Where that is not
                a multiple of raw units, they are those shares of a side that they are there.
        """
        # Some of those that wrap others have no model of their own.
        super().__init__(getattr(acq_function, "model", neighborhood.model))
        self.acq_function = acq_function
        mapped = to_model_space(neighborhood.model, box).reshape(box.shape)
        share = neighborhood.lengthscales.to(box) / (mapped[1] - mapped[0])
        self.origin = box[0]
        self.unit = (box[1] - box[0]) * torch.where(share > 0, share, 1.0).clamp_max(1.0)
        self.unit = torch.where(self.unit > 0, self.unit, 1.0)  # a column may be held
        if neighborhood.categories:  # codes are to stay what they are, to the last digit
            columns = [column for column, _ in neighborhood.categories]
            self.origin = self.origin.clone()
            self.origin[columns], self.unit[columns] = 0.0, 1.0

    def from_raw(self, X: Tensor) -> Tensor:
        """Map inputs in raw units to those in length-scales."""
        return (X - self.origin) / self.unit

    def to_raw(self, X: Tensor) -> Tensor:
        """The inverse of :meth:`from_raw`."""
        return self.origin + X * self.unit

    def forward(self, X: Tensor) -> Tensor:
        """The acquisition value at inputs in length-scales."""
        return self.acq_function(self.to_raw(X))
