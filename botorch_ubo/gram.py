r"""The matrix that an exact GP inverts, for what a posterior summary does not keep."""

from __future__ import annotations

import copy

import torch
from gpytorch.models import ExactGP
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor


def train_covariance(model: ExactGP) -> Tensor:
    """``K + Sigma`` of a model in evaluation mode, ``batch_shape x n x n``, in double."""
    with torch.no_grad():
        if model.train_targets.dtype != torch.double:
            model = copy.deepcopy(model).double()
        X = model.train_inputs[0]
        covariance: Tensor = model.likelihood(model.forward(X), [X]).covariance_matrix
        return covariance.detach()


def solve_gram(covariance: Tensor, values: Tensor) -> Tensor:
    """``(K + Sigma)^{-1} v`` for ``... x n`` values."""
    factor = psd_safe_cholesky(covariance)
    return torch.cholesky_solve(values.unsqueeze(-1), factor).squeeze(-1)


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
