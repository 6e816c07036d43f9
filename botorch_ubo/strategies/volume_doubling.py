r"""Volume doubling: the baseline of [Shahriari2016], as [Ha2019] ran it.

Every ``3 d`` evaluations the *volume* of the box is multiplied by 2 about its centre, so each side
by ``2^(1/d)``. When is the trigger's business: ``EveryEvaluations(3, times_dimension=True)``.

References:
    [Shahriari2016] B. Shahriari, A. Bouchard-Cote, and N. de Freitas. Unbounded Bayesian
    Optimization via Regularization. Proceedings of the 19th International Conference on Artificial
    Intelligence and Statistics, PMLR 51, 2016.

    [Ha2019] H. Ha, S. Rana, S. Gupta, T. Nguyen, H. Tran-The, and S. Venkatesh. Bayesian
    Optimization with Unknown Search Space. Advances in Neural Information Processing Systems 32,
    2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from botorch.exceptions.errors import InputDataError

from botorch_ubo.boxes import log_volume, scale_about_center
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal, Strategy


@dataclass(frozen=True)
class VolumeDoublingBox(Strategy):
    r"""Multiply the volume of the current box, in the model's input space, about its centre.

    The growth does not look at the data, and slows down with the dimension: the three doublings
    of a budget of ``10 d`` evaluations multiply a side by 2.83 for ``d = 2``, by 1.23 for 10.

    Args:
        factor: By how much to multiply the volume.
    """

    factor: float = 2.0

    def __post_init__(self) -> None:
        """Validate."""
        if not 1 < self.factor < math.inf:
            raise InputDataError(
                f"Expected a finite factor above 1; got {self.factor}. 2 doubles the volume."
            )

    def propose(self, context: Context) -> Proposal:
        """The current box with its volume multiplied."""
        old = context.box
        box = scale_about_center(old, self.factor ** (1 / old.shape[-1]))
        return Proposal(bounds=box, details={"log_volume": log_volume(box)})
