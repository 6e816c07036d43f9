"""``beta_t`` of Theorem 5.1 for many runs; see :class:`botorch_ubo.policies.beta.TheoremBeta`."""

from __future__ import annotations

import math

from torch import Tensor

from botorch_ubo.policies.batched.context import BatchedContext
from botorch_ubo.policies.beta import TheoremBeta


def confidence_beta(
    context: BatchedContext, schedule: TheoremBeta, t: Tensor, box: Tensor
) -> Tensor:
    r"""The trade-off parameter of ``UCB = mu + sqrt(beta) sigma``.

    Args:
        context: The fitted models; values are in standard deviations.
        schedule: Probability of failure and scale.
        t: ``B`` steps, counted from 1.
        box: ``B x 2 x d`` boxes in the model's space.

    Returns:
        ``B`` values.
    """
    d = context.d
    steps = t.to(box).square()
    slopes = context.gp.variance.sqrt().unsqueeze(-1) / context.lengthscales
    root = math.sqrt(2) * math.sqrt(math.log(4 * d / schedule.delta))
    grid = d * root * steps.unsqueeze(-1) * slopes * (box[:, 1] - box[:, 0])
    theory = 2 * (2 * math.pi**2 / (3 * schedule.delta) * steps).log()
    return schedule.scale * (theory + 2 * grid.clamp_min(1).log().sum(dim=-1))
