"""The boxes of Theorem 4.1; see :mod:`botorch_ubo.posterior.radius` for the formulas."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from botorch_ubo.policies.batched import BatchedContext, confidence_beta
from botorch_ubo.policies.beta import TheoremBeta
from botorch_ubo.posterior.kernel_reach import LOG_UNIT_CORRELATION
from botorch_ubo.strategies.batched.proposal import BatchedProposal
from botorch_ubo.strategies.improvement import IMPROVEMENT_BETA


@dataclass(frozen=True)
class Radii:
    """Theorem 4.1's radii of many runs."""

    half_widths: Tensor
    """``B x d``, in the model's space."""
    holds: Tensor
    """``B``: whether epsilon is within ``(0, 4 sqrt(beta) theta)``, as the theorem needs it."""


def improvement_boxes(context: BatchedContext) -> BatchedProposal:
    """EI-UBO: the balls of Theorem 4.1 for expected improvement."""
    beta = torch.full_like(context.epsilon, IMPROVEMENT_BETA)
    return BatchedProposal(_around_balls(context, theorem_radii(context, beta)))


def theorem_boxes(context: BatchedContext, schedule: TheoremBeta) -> BatchedProposal:
    """GPUCB-UBO: the balls of Theorem 4.1 for the upper confidence bound."""
    t = context.t_local
    beta = confidence_beta(context, schedule, t, context.box)
    box = _around_balls(context, theorem_radii(context, beta))
    # The box is searched with its own beta; gamma falls with beta, so use the larger one.
    both = torch.stack([box, context.box])
    whole = torch.stack([both[:, :, 0].amin(dim=0), both[:, :, 1].amax(dim=0)], dim=-2)
    later = confidence_beta(context, schedule, torch.ones_like(t), whole)
    return BatchedProposal(
        _around_balls(context, theorem_radii(context, torch.maximum(beta, later)))
    )


def theorem_radii(context: BatchedContext, beta: Tensor) -> Radii:
    r"""The radii of Theorem 4.1.

    Args:
        context: The fitted models.
        beta: ``B`` trade-off parameters.

    Returns:
        The radii.
    """
    gp, epsilon = context.gp, context.epsilon
    root, theta = beta.sqrt(), gp.variance.sqrt()
    holds = (epsilon > 0) & (epsilon < 4 * root * theta)
    positive, negative = gp.z.clamp_min(0).sum(dim=-1), gp.z.clamp_max(0).sum(dim=-1).neg()
    gamma_mean = epsilon / 4 / torch.maximum(positive, negative)  # inf where all z are zero
    budget = (root * theta * epsilon / 2 - epsilon.square() / 16) / beta
    gamma_variance = (budget / (context.n * lambda_max(context))).sqrt()
    log_variance = gp.variance.log()
    log_gamma = torch.minimum(gamma_mean, gamma_variance).log()
    log_gamma = torch.minimum(log_gamma, log_variance + LOG_UNIT_CORRELATION)
    # The squared exponential kernel falls to gamma at this many length-scales.
    reach = (2 * (log_variance - log_gamma)).clamp_min(0).sqrt()
    return Radii(reach.unsqueeze(-1) * context.lengthscales, holds)


def lambda_max(context: BatchedContext) -> Tensor:
    """``B`` top eigenvalues of the inverses of ``K + Sigma``."""
    present, C = context.present, context.gp.covariance.double()
    absent = torch.where(present, 0.0, C.diagonal(dim1=-2, dim2=-1).sum(dim=-1, keepdim=True))
    smallest = torch.linalg.eigvalsh(C + torch.diag_embed(absent))[..., 0]
    trace = torch.where(present, C.diagonal(dim1=-2, dim2=-1), 0.0).sum(dim=-1)
    # Rounding can make the smallest eigenvalue negative.
    floor = torch.finfo(torch.double).eps * trace
    return torch.maximum(smallest, floor).reciprocal().to(context.epsilon)


def _around_balls(context: BatchedContext, radii: Radii) -> Tensor:
    """``B x 2 x d`` boxes around the union of balls, Eq. (4); where none are, as they were."""
    hull = context.hull
    box = torch.stack([hull[:, 0] - radii.half_widths, hull[:, 1] + radii.half_widths], dim=-2)
    return torch.where(radii.holds[:, None, None], box, context.box)
