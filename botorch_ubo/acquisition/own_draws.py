r"""BoTorch's noisy improvements under constraints, as functions of the candidates alone.

While a sample has no feasible point, BoTorch bounds the objective from below at random places, and
draws them from the generator of the process whenever the function is evaluated. Here they are the
same each time: a search climbs one function, and finds the same again.
"""

from __future__ import annotations

from typing import Any

from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.multi_objective.parego import qLogNParEGO
from torch import Tensor

from botorch_ubo.acquisition.search import PrivateDraws


class _OwnDraws:
    """A mixin for acquisition functions that draw as they are built and evaluated."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        with PrivateDraws(0):
            super().__init__(*args, **kwargs)

    def forward(self, X: Tensor) -> Tensor:
        """See BoTorch's function of the same name."""
        with PrivateDraws(0):
            values: Tensor = super().forward(X)  # type: ignore[misc]  # of the class it is mixed into
        return values


class RepeatableLogNEI(_OwnDraws, qLogNoisyExpectedImprovement):
    """``qLogNoisyExpectedImprovement`` with draws of its own."""


class RepeatableLogNParEGO(_OwnDraws, qLogNParEGO):
    """``qLogNParEGO`` with draws of its own."""
