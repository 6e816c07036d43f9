r"""What the expansion theorem needs from a fitted exact GP, by one route for every model.

=============  ==========================  =====================  ==============================
paper          name                        shape                  meaning
=============  ==========================  =====================  ==============================
``D_{t-1}``    ``X``                       ``n x d``              training inputs, model space
``K + s^2 I``  (inside)                    ``S x M x n x n``      prior covariance plus noise
``z``          ``z``                       ``S x M x n``          ``(K + s^2 I)^{-1} (y - c)``
``lambda_max`` ``lambda_max``              ``S x M``              top eigenvalue of the inverse
``theta``      ``theta``                   ``S x M``              ``sqrt(k(x, x))``
``m_0``        ``prior_mean``              ``S x M``              constant prior mean ``c``
--             ``Y_mean``, ``Y_scale``     ``S x M``              ``Y_raw = Y_scale * y + Y_mean``
--             ``weights``, ``offset``     ``M``, scalar          objective ``w . Y + offset``
=============  ==========================  =====================  ==============================

``S`` counts the members of an ensemble (an acquisition value is their average), ``M`` the
independent outputs that a linear posterior transform combines; both are 1 for a plain model.
All of it is in double precision whatever the model's dtype: in single precision ``lambda_max``
was seen 17 times too small.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from botorch.acquisition.objective import PosteriorTransform
from gpytorch.kernels import Kernel
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.models.gram import in_double, training_gram
from botorch_ubo.models.quick import conditioned
from botorch_ubo.models.structure import (
    member_shape,
    outcome_scale,
    spread,
)
from botorch_ubo.models.training_data import observed_objective
from botorch_ubo.posterior.checks import check_constant, check_model, objective_weights


@dataclass(frozen=True)
class PosteriorSummary:
    """A fitted exact GP, reduced to what the theorem needs; shapes are in the module's table."""

    X: Tensor
    z: Tensor
    lambda_max: Tensor
    theta: Tensor
    prior_mean: Tensor
    Y_mean: Tensor
    Y_scale: Tensor
    weights: Tensor
    offset: float
    kernel: Kernel
    targets: Tensor
    """``S x M x n`` outcomes in the model's units."""
    Y: Tensor
    """``n``-dim observed objective in raw units, large is good."""
    Y_std: float
    """Standard deviation of the observed objective: the unit in which epsilon is given."""

    @property
    def n(self) -> int:
        """Number of observations."""
        return self.X.shape[0]

    @property
    def d(self) -> int:
        """Number of input dimensions."""
        return self.X.shape[1]

    @property
    def mean_at_infinity(self) -> Tensor:
        """Posterior mean of the objective far from all data, per member (``S``)."""
        means = self.Y_mean + self.Y_scale * self.prior_mean
        return (means * self.weights).sum(dim=-1) + self.offset

    @property
    def sigma_at_infinity(self) -> Tensor:
        """Posterior standard deviation of the objective far from all data, per member (``S``)."""
        return (self.weights * self.Y_scale * self.theta).square().sum(dim=-1).sqrt()


def summarize_posterior(
    model: ExactGP,
    posterior_transform: PosteriorTransform | None = None,
    maximize: bool = True,
) -> PosteriorSummary:
    r"""Reduce a fitted exact GP to the quantities of Theorem 4.1.

    Args:
        model: A fitted exact GP in evaluation mode: a ``SingleTaskGP``, or an ensemble of them
            such as ``EnsembleMapSaasSingleTaskGP``.
        posterior_transform: ``None`` for a single-output model, or a
            ``ScalarizedPosteriorTransform`` that makes one objective of the outputs.
        maximize: If False, the objective is the negative, so that large is good in any case.

    Returns:
        The summary, in double precision on the model's device.

    Raises:
        UnsupportedError: If the theorem does not cover the model.
    """
    model = conditioned(check_model(model, posterior_transform))
    weights, offset = objective_weights(model, posterior_transform)
    sign = 1.0 if maximize else -1.0
    gram = training_gram(model)
    model = in_double(model)
    with torch.no_grad():
        X = model.train_inputs[0]  # batch x n x d; transformed, since the model is in eval mode
        covariance = gram.covariance
        smallest = torch.linalg.eigvalsh(covariance)[..., 0]
        # Rounding can make the smallest eigenvalue negative; the factor that was really solved
        # with (jitter included) bounds it from below.
        floor = torch.finfo(torch.double).eps * covariance.diagonal(dim1=-2, dim2=-1).sum(-1)
        variance = gram.prior_variance
        check_constant(model, X, gram.prior_mean, variance)
        shape = member_shape(model)
        mean, scale = outcome_scale(model, X)
        targets = model.train_targets.expand_as(gram.prior_mean).reshape(*shape, -1)
        observed = observed_objective(model, posterior_transform)
        assert observed is not None  # an exact GP has seen its outcomes
        objective = sign * observed
        return PosteriorSummary(
            X=X.reshape(-1, *X.shape[-2:])[0],
            z=gram.z.reshape(*shape, -1),
            lambda_max=smallest.clamp_min(floor).reciprocal().reshape(shape),
            theta=variance[..., 0].sqrt().reshape(shape),
            prior_mean=gram.prior_mean[..., 0].reshape(shape),
            Y_mean=mean,
            Y_scale=scale,
            weights=sign * weights.to(X),
            offset=sign * offset,
            kernel=model.covar_module,
            targets=targets,
            Y=objective,
            Y_std=spread(objective),
        )
