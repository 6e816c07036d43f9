r"""The matrix that an exact GP inverts, built and factored once."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from gpytorch.models import ExactGP
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor


@dataclass(frozen=True)
class Gram:
    """``K + Sigma`` of a model's training data, and what follows from it alone."""

    covariance: Tensor
    """``batch_shape x n x n``, with the noise on its diagonal."""
    cholesky: Tensor
    """Its lower factor, jitter included if it needed some."""
    prior_mean: Tensor
    """``batch_shape x n``."""
    prior_variance: Tensor
    """``batch_shape x n``: ``k(x, x)``."""
    z: Tensor
    """``batch_shape x n``: ``(K + Sigma)^{-1} (y - c)``."""

    @classmethod
    def of(cls, model: ExactGP) -> Gram:
        """Build it in the model's own precision; the model is in evaluation mode."""
        with torch.no_grad():
            X = model.train_inputs[0]
            prior = model.forward(X)
            noisy = model.likelihood(prior, [X])
            covariance = noisy.covariance_matrix
            cholesky = psd_safe_cholesky(covariance)
            residual = (model.train_targets - noisy.mean).unsqueeze(-1)
            return cls(
                covariance=covariance.detach(),
                cholesky=cholesky.detach(),
                prior_mean=prior.mean.detach(),
                prior_variance=prior.lazy_covariance_matrix.diagonal(dim1=-1, dim2=-2).detach(),
                z=torch.cholesky_solve(residual, cholesky).squeeze(-1).detach(),
            )


def training_gram(model: ExactGP) -> Gram:
    r"""``K + Sigma`` of a model in evaluation mode, in double precision.

    Args:
        model: A fitted GP. One that keeps its own (:class:`~botorch_ubo.models.quick.QuickGP`)
            is asked for it.

    Returns:
        The matrix with its factor.
    """
    if model.train_targets.dtype != torch.double:
        return Gram.of(in_double(model))
    own = getattr(model, "training_gram", None)
    return Gram.of(model) if own is None else own()


def in_double(model: ExactGP) -> ExactGP:
    """The model, or a copy of it in double precision."""
    targets = getattr(model, "train_targets", None)
    known = targets is not None and targets.is_floating_point()
    like = targets if known else next(model.parameters(), None)
    return model if like is None or like.dtype == torch.double else copy.deepcopy(model).double()


def conditional_variance(covariance: Tensor, prior_variance: Tensor, known: int) -> Tensor:
    r"""Latent variance that the later data had when only the first ``known`` were observed.

    Args:
        covariance: ``batch_shape x n x n``, with noise on its diagonal.
        prior_variance: ``batch_shape``, ``theta^2``.
        known: How many of the ``n`` come first.

    Returns:
        A ``batch_shape x (n - known)``-dim tensor.
    """
    factor = psd_safe_cholesky(covariance[..., :known, :known])
    root = torch.linalg.solve_triangular(factor, covariance[..., :known, known:], upper=False)
    return (prior_variance.unsqueeze(-1) - root.square().sum(dim=-2)).clamp_min(0)
