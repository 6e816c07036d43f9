r"""FBO: expand with the remaining budget, keep only where the optimum can still be [Nguyen2017].

With ``X`` the smallest box around the first one and all data, ``t`` observations of a budget
``T``, each step

1. multiplies the sides of ``X`` by ``p = max(1, (T/t)^(1/d))`` about its centre: ``X'``;
2. takes ``L* = max_X LCB``: a value that is reached in ``X``, with high probability;
3. searches the smallest box around ``X`` and the points of ``X'`` with ``UCB >= L*``.

NOTE: The authors' code moves each *face* by ``p - 1`` sides, so that sides grow by ``2p - 1``. The
volume is meant to grow by ``T/t``, so here sides are multiplied by ``p``.

References:
    [Nguyen2017] V. Nguyen, S. Gupta, S. Rana, C. Li, and S. Venkatesh. Bayesian Optimization in
    Weakly Specified Search Space. IEEE International Conference on Data Mining, 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from botorch.exceptions.errors import BotorchError
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo.acquisition.confidence import LowerConfidenceBound, UnboundedUpperConfidenceBound
from botorch_ubo.boxes import cast_inward, clip, from_model_space, hull, scale_about_center
from botorch_ubo.candidates import maximize_acquisition
from botorch_ubo.context import Context
from botorch_ubo.strategies.base import Proposal, Strategy


@dataclass(frozen=True)
class FilteringBox(Strategy):
    r"""The box of FBO. What it remembers, ``X``, is the hull of the data, so it needs no memory.

    Args:
        budget: Evaluations after the initial ones, at the end of which the box stops growing;
            ``10 d`` by default. ``T`` is this plus the number of initial observations.
        num_samples: Points per dimension by which the filter looks at ``X'``.
    """

    nested: ClassVar[bool] = False

    budget: int | None = None
    num_samples: int = 500

    def __post_init__(self) -> None:
        """Validate."""
        if (self.budget is not None and self.budget < 1) or self.num_samples < 1:
            raise BotorchError(
                "Expected a positive budget (or None for 10 d) and num_samples; got "
                f"budget={self.budget}, num_samples={self.num_samples}."
            )

    def propose(self, context: Context) -> Proposal:
        """See :class:`Strategy`."""
        kept = hull(context.to_model(context.state.initial_bounds), context.summary.X)
        growth = self.volume_factor(context)
        raw = from_model_space(context.model, kept).cpu()
        details = {"volume_factor": growth}
        if growth == 1:
            return Proposal(bounds=raw, details=details)
        grown = scale_about_center(kept, growth ** (1 / kept.shape[-1]))
        limits = context.settings.hard_limits
        grown = context.to_model(clip(from_model_space(context.model, grown).cpu(), limits))
        invaded = self._filter(context, kept, grown)
        bounds = hull(raw, torch.cat([raw, invaded.cpu().to(raw)]))  # nothing may have invaded
        return Proposal(bounds=bounds, details={**details, "num_kept": len(invaded)})

    def volume_factor(self, context: Context) -> float:
        """``max(1, T/t)``."""
        initial = context.n if context.state.num_initial is None else context.state.num_initial
        budget = 10 * context.X.shape[-1] if self.budget is None else self.budget
        return max(1.0, (initial + budget) / context.n)

    def _filter(self, context: Context, kept: Tensor, grown: Tensor) -> Tensor:
        """Samples of the grown box, in raw units, whose upper bound reaches ``L*``."""
        settings, model = context.settings, context.model
        # One beta for both bounds, of the box in which they must hold, at this step of the run.
        beta = context.beta_in(grown, context.t)
        bounds = (model, beta, settings.posterior_transform, settings.maximize)
        raw = cast_inward(from_model_space(model, kept).cpu(), model.train_targets)
        _, level = maximize_acquisition(
            LowerConfidenceBound(*bounds), raw, context.neighborhood,
            seed=context.seed, settings=settings.search,
        )  # fmt: skip
        number = self.num_samples * kept.shape[-1]
        samples = draw_sobol_samples(grown, number, 1, seed=context.seed).squeeze(-2)
        samples = from_model_space(model, samples).to(model.train_targets)
        with torch.no_grad():
            upper = UnboundedUpperConfidenceBound(*bounds)(samples.unsqueeze(-2))
        return samples[upper >= level]
