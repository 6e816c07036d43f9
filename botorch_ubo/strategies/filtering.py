r"""FBO: expand with the remaining budget, keep only where the optimum can still be [Nguyen2017].

With ``X`` the smallest box around the first one and all data, ``t`` observations of a budget
``T``, each step

1. multiplies the sides of ``X`` by ``p = max(1, (T/t)^(1/d))`` about its centre: ``X'``;
2. takes ``L* = max_X LCB``: a value that is reached in ``X``, with high probability;
3. searches the smallest box around ``X`` and the points of ``X'`` with ``UCB >= L*``.

NOTE: The authors' code moves each *face* by ``p - 1`` sides, so that sides grow by ``2p - 1``. The
volume is meant to grow by ``T/t``, so here sides are multiplied by ``p``.

NOTE: ``t`` and ``T`` both count the initial points here: with 3 d of them and 10 d evaluations
``T`` is 13 d. The published comparison with GPUCB-UBO had 10 d.

References:
    [Nguyen2017] V. Nguyen, S. Gupta, S. Rana, C. Li, and S. Venkatesh. Bayesian Optimization in
    Weakly Specified Search Space. IEEE International Conference on Data Mining, 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from botorch.exceptions.errors import InputDataError
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo.acquisition.search import maximize_acquisition
from botorch_ubo.boxes import cast_inward, hull, scale_about_center
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.strategy import Proposal, Strategy


@dataclass(frozen=True)
class FilteringBox(Strategy):
    r"""The box of FBO. What it remembers, ``X``, is the hull of the data, so it needs no memory.

    Args:
        budget: Evaluations after the initial ones, at the end of which the box stops growing;
            ``10 d`` by default. ``T`` is this plus the number of initial observations.
        num_samples: Points per dimension by which the filter looks at ``X'``.
    """

    nested: ClassVar[bool] = False
    rebuildable: ClassVar[bool] = True

    budget: int | None = None
    num_samples: int = 500

    def __post_init__(self) -> None:
        """Validate."""
        if (self.budget is not None and self.budget < 1) or self.num_samples < 1:
            raise InputDataError(
                "Expected a positive budget (or None for 10 d) and num_samples; got "
                f"budget={self.budget}, num_samples={self.num_samples}."
            )

    def propose(self, context: Context) -> Proposal:
        """The box around all data and what the filter keeps of the grown box."""
        kept = hull(context.first_box, context.X_in_sight)
        growth = self.volume_factor(context)
        details = {"volume_factor": growth}
        if growth == 1:
            return Proposal(bounds=kept, details=details)
        grown = context.within_limits(scale_about_center(kept, growth ** (1 / context.d)))
        invaded = self._filter(context, kept, grown)
        bounds = hull(kept, torch.cat([kept, invaded]))  # nothing may have invaded
        return Proposal(bounds=bounds, details={**details, "num_kept": len(invaded)})

    def volume_factor(self, context: Context) -> float:
        """``max(1, T/t)``."""
        budget = 10 * context.d if self.budget is None else self.budget
        return max(1.0, (context.num_initial + budget) / context.n)

    def _filter(self, context: Context, kept: Tensor, grown: Tensor) -> Tensor:
        """Samples of the grown box whose upper bound reaches ``L*``."""
        confidence, like = context.confidence, context.view.like
        # One beta for both bounds, of the box in which they must hold, at this step of the run.
        ucb, lcb = confidence.bounds(confidence.beta_in(grown, context.t))
        _, level = maximize_acquisition(
            lcb,
            cast_inward(context.to_raw(kept).cpu(), like),
            context.view.neighborhood,
            seed=context.seed,
            settings=context.settings.search,
        )
        number = self.num_samples * context.d
        samples = draw_sobol_samples(grown, number, 1, seed=context.seed).squeeze(-2)
        with torch.no_grad():
            upper = ucb(context.to_raw(samples).to(like).unsqueeze(-2))
        return samples[upper >= level]
