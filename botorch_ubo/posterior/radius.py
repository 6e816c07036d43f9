r"""Theorem 4.1: beyond which distance the upper confidence bound equals its limit.

Outside the union of the ``d_epsilon``-balls around the data, ``|UCB(x) - UCB(inf)| <= epsilon/2``.
The bound splits ``epsilon/2`` into a quarter for the mean and a quarter for the variance:

* ``gamma_1 = (epsilon/4) / max(S+, S-)``, with ``S+``, ``S-`` the sums of positive and of
  (negated) negative ``z_j``;
* ``gamma_2 = sqrt((sqrt(beta) theta epsilon/2 - epsilon^2/16) / (n lambda_max)) / sqrt(beta)``.

``gamma = min(gamma_1, gamma_2)`` and ``d_epsilon = g_k(gamma)``. With a linear combination
``sum_j w_j f_j`` of ``M`` independent outputs, each output gets a share ``1/M`` of either
quarter; with an ensemble the bound holds for the average because it holds for each member.

NOTE: The theorem also asks for ``epsilon < |sqrt(beta) theta - min UCB|``, which is not checked: it
would take a global search for the minimum. Where it fails, UCB is flat to within epsilon, and its
maximiser may lie in no ball.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from botorch.exceptions.errors import UnsupportedError
from torch import Tensor

from botorch_ubo.posterior.kernel_reach import (
    LOG_UNIT_CORRELATION,
    kernel_reach,
    require_finite_reach,
)
from botorch_ubo.posterior.summary import PosteriorSummary

ActiveTerm = Literal["mean", "variance", "floor"]


class ConditionFails(UnsupportedError):
    """A condition of Theorem 4.1 does not hold for this posterior and accuracy."""


@dataclass(frozen=True)
class Radius:
    """How far to look beyond the data, and why that far."""

    half_widths: Tensor
    """``d``-dim, in the model's input space: the ball's extent along each dimension."""
    lengthscales: Tensor
    """``d``-dim: distance at which the correlation is exp(-1/2), an RBF's length-scale."""
    gamma: float
    """Covariance below which a datum no longer matters, relative to ``theta^2``."""
    active_term: ActiveTerm
    """``"mean"`` or ``"variance"``, the term of the minimum; ``"floor"`` if neither binds."""

    @property
    def in_lengthscales(self) -> float:
        """The largest half-width in units of its length-scale."""
        return float((self.half_widths / self.lengthscales).max())


def theorem_radius(summary: PosteriorSummary, epsilon: float, beta: float) -> Radius:
    r"""Compute the radius of Theorem 4.1.

    Args:
        summary: The posterior of ``n`` observations.
        epsilon: The accuracy in units of the summary's objective.
        beta: The trade-off parameter of ``UCB = mu + sqrt(beta) sigma``.

    Returns:
        The radius as half-widths per dimension, with the term of the minimum that was active.

    Raises:
        ConditionFails: If ``epsilon`` is not in ``(0, 4 sqrt(beta) theta)``.
        UnsupportedError: If the kernel does not decay along some dimension.
    """
    root = beta**0.5
    sigma = summary.sigma_at_infinity  # S: Theta, theta of the combined objective in raw units
    check_epsilon(epsilon, root, float(sigma.min()))
    scale = (summary.weights * summary.Y_scale).abs()  # S x M, raw units per unit of each output
    outputs = scale.shape[-1]
    positive = summary.z.clamp_min(0).sum(dim=-1)
    negative = summary.z.clamp_max(0).sum(dim=-1).neg()
    total = torch.maximum(positive, negative)
    gamma_mean = epsilon / 4 / (outputs * scale * total)  # inf where all z are zero
    budget = (root * sigma * epsilon / 2 - epsilon**2 / 16) / beta  # variance to spend, raw^2
    gamma_variance = (
        budget.unsqueeze(-1) / (outputs * summary.n * summary.lambda_max)
    ).sqrt() / scale
    log_variance = 2 * summary.theta.log()
    # gamma >= theta^2 says that every point is already within the bound: one length-scale.
    log_floor = log_variance + LOG_UNIT_CORRELATION
    log_gamma = torch.minimum(gamma_mean, gamma_variance).log()
    log_gamma = torch.minimum(log_gamma, log_floor)
    reach = half_widths_at(summary, log_gamma)  # S x M x d
    lengthscales = half_widths_at(summary, log_floor)
    # The member and output that reaches furthest (in its own length-scales) names the term.
    flat = int((reach / lengthscales).amax(dim=-1).argmax())
    return Radius(
        half_widths=reach.flatten(0, 1).amax(dim=0),
        lengthscales=lengthscales.flatten(0, 1).amin(dim=0),
        gamma=float((log_gamma - log_variance).flatten()[flat].exp()),
        active_term=_active_term(
            float(gamma_mean.flatten()[flat].log()),
            float(gamma_variance.flatten()[flat].log()),
            float(log_floor.flatten()[flat]),
        ),
    )


def check_epsilon(epsilon: float, root_beta: float, theta: float) -> None:
    """Refuse an accuracy outside ``(0, 4 sqrt(beta) theta)``, where Theorem 4.1 holds."""
    if not 0 < epsilon < 4 * root_beta * theta:
        raise ConditionFails(
            "Expected 0 < epsilon < 4 sqrt(beta) theta (Theorem 4.1), that is, an accuracy finer "
            f"than the model's prior uncertainty 4 * {root_beta:.3g} * {theta:.3g} = "
            f"{4 * root_beta * theta:.3g}; got {epsilon:.3g}. Lower `epsilon`, or check that the "
            "model's output scale has not collapsed."
        )


def half_widths_at(summary: PosteriorSummary, log_level: Tensor) -> Tensor:
    """``S x M x d`` half-widths beyond which the kernels stay below ``S x M`` levels."""
    batch_shape = summary.kernel.batch_shape
    with torch.no_grad():
        level = log_level.reshape(batch_shape) if batch_shape else log_level
        reach = kernel_reach(summary.kernel, level, summary.d)
    require_finite_reach(summary.kernel, reach)
    return reach.reshape(*log_level.shape, summary.d)


def _active_term(log_mean: float, log_variance: float, log_floor: float) -> ActiveTerm:
    if log_floor <= min(log_mean, log_variance):
        return "floor"
    return "mean" if log_mean <= log_variance else "variance"
