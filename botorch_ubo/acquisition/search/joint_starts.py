r"""Initial conditions of several points at once, all of which satisfy linear constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from botorch.acquisition import PosteriorMean, qKnowledgeGradient, qSimpleRegret
from botorch.acquisition.acquisition import AcquisitionFunction, OneShotAcquisitionFunction
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo.acquisition.search.input_space import InputSpace

_PROMISING = 8  # points that fantasies start from
_LED = 0.9  # of the fantasies start from promising points, as in BoTorch


@dataclass(frozen=True)
class JointStarts:
    r"""An ``ic_generator`` of ``optimize_acqf`` for ``q`` points, and fantasies, between planes.

    Fantasies of a knowledge gradient start from where the posterior mean is good, since that is
    where their maxima will mostly be; all other points from anywhere.

    Args:
        space: The constraints.
        seed: Seed of all draws.
    """

    space: InputSpace
    seed: int

    def __call__(
        self,
        acq_function: AcquisitionFunction,
        bounds: Tensor,
        q: int,
        num_restarts: int,
        raw_samples: int,
        **_: Any,
    ) -> Tensor:
        r"""Draw sets of points, and keep the best of them.

        Args:
            acq_function: The acquisition function.
            bounds: A ``2 x d`` box.
            q: The number of candidates.
            num_restarts: The number of sets to keep.
            raw_samples: The number of sets to draw.

        Returns:
            A ``num_restarts x q' x d`` tensor, ``q'`` with fantasies.
        """
        generator = torch.Generator().manual_seed(self.seed)
        filling = draw_sobol_samples(bounds, 4 * raw_samples, 1, seed=self.seed).squeeze(-2)
        pool = self.space.satisfy(filling, bounds, self.seed)
        size = q
        if isinstance(acq_function, OneShotAcquisitionFunction):
            size = acq_function.get_augmented_q_batch_size(q)
        index = torch.randint(len(pool), (raw_samples, size), generator=generator)
        if isinstance(acq_function, qKnowledgeGradient) and size > q:
            led = int(_LED * (size - q))
            best = _posterior_values(acq_function, pool).topk(min(_PROMISING, len(pool))).indices
            chosen = torch.randint(len(best), (raw_samples, led), generator=generator)
            index[:, size - led :] = best.cpu()[chosen]
        X = pool[index.to(pool.device)]
        with torch.no_grad():
            values = acq_function(X).nan_to_num(nan=-torch.inf)
        return X[values.topk(min(num_restarts, len(X))).indices]


def _posterior_values(acq_function: qKnowledgeGradient, X: Tensor) -> Tensor:
    """What is known of ``n x d`` points before any fantasy."""
    project = getattr(acq_function, "project", None)
    points = X.unsqueeze(-2)
    points = points if project is None else project(points)
    model, transform = acq_function.model, acq_function.posterior_transform
    with torch.no_grad():
        if acq_function.objective is None:
            return PosteriorMean(model, posterior_transform=transform)(points)
        regret = qSimpleRegret(
            model,
            sampler=acq_function.inner_sampler,
            objective=acq_function.objective,
            posterior_transform=transform,
        )
        return regret(points)
