r"""A fitted squared exponential GP, reduced to what its posterior at a point is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from botorch.models import SingleTaskGP
from gpytorch.kernels import ScaleKernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from gpytorch.means import ConstantMean
from linear_operator.utils.cholesky import psd_safe_cholesky
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri
from torch import Tensor

from botorch_ubo.models.gram import Gram
from botorch_ubo.models.space import is_one_affine_map

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FactoredPosterior:
    """What does not depend on the test point. Points are in length-scales from ``origin``."""

    gram: Gram
    affine: bool
    """Whether ``origin`` and ``slope`` include the input transform, if there is one."""
    origin: Tensor
    """``d``-dim: the centre of the data."""
    slope: Tensor
    """``1 x d``: length-scales per unit."""
    X: Tensor
    """``n x d`` training inputs."""
    half_norms: Tensor
    """``n``-dim: half the squared norms of ``X``."""
    variance: Tensor
    """``k(x, x)``, a scalar."""
    prior_mean: Tensor
    Y_mean: Tensor
    Y_scale: Tensor

    @classmethod
    def of(cls, model: SingleTaskGP) -> FactoredPosterior:
        """Reduce a model in evaluation mode; see ``QuickGP.has_shortcut`` for which."""
        with torch.no_grad():
            kernel = model.covar_module
            scaled = isinstance(kernel, ScaleKernel)
            lengthscale = (kernel.base_kernel if scaled else kernel).lengthscale.detach()
            X = model.train_inputs[0]
            one = X.new_ones(())
            variance = kernel.outputscale.detach() if scaled else one
            center = X.mean(dim=0)
            relative = (X - center) / lengthscale
            half_norms = 0.5 * relative.square().sum(dim=-1)
            gram = _gram(model, relative, half_norms, variance)
            outcome = getattr(model, "outcome_transform", None)
            transform: Any = getattr(model, "input_transform", None)
            # One affine map of all dimensions is not worth a call of its own for every batch.
            affine = transform is None or is_one_affine_map(transform)
            if affine and transform is not None:
                # A transform takes on the precision of what it was last given.
                coefficient, offset = transform.coefficient.to(X), transform.offset.to(X)
                center = coefficient[0] * center + offset[0]
                lengthscale = coefficient * lengthscale
            return cls(
                gram=gram,
                affine=affine,
                origin=center,
                slope=lengthscale.reciprocal(),
                X=relative,
                half_norms=half_norms,
                variance=variance,
                prior_mean=gram.prior_mean[0],
                Y_mean=one - one if outcome is None else outcome.means.reshape(()),
                Y_scale=one if outcome is None else outcome.stdvs.reshape(()),
            )

    def mean_and_variance(self, X: Tensor) -> tuple[Tensor, Tensor]:
        r"""The posterior in standardised units.

        Args:
            X: ``b x d`` points, raw ones if ``affine``, else transformed.

        Returns:
            ``b`` means and ``b`` variances, which are not clamped.
        """
        points = (X - self.origin) * self.slope
        # -|a - b|^2 / 2 = a.b - |a|^2 / 2 - |b|^2 / 2
        exponent = torch.addmm(-self.half_norms, points, self.X.mT)
        exponent = exponent - 0.5 * points.square().sum(dim=-1, keepdim=True)
        covariance = self.variance * exponent.clamp_max(0.0).exp()
        half = torch.linalg.solve_triangular(self.gram.cholesky, covariance.mT, upper=False)
        mean = self.prior_mean + (covariance @ self.gram.z.unsqueeze(-1)).squeeze(-1)
        return mean, self.variance - half.square().sum(dim=-2)

    @cached_property
    def mean_at_data(self) -> Tensor:
        """The ``n`` posterior means at the training inputs, in standardised units."""
        gram = self.gram
        noise = gram.covariance.diagonal() - gram.prior_variance
        return torch.addmv(gram.prior_mean - noise * gram.z, gram.covariance, gram.z)

    @cached_property
    def arrays(self) -> FactoredArrays:
        """The same in numpy."""
        inverse, _ = dtrtri(to_array(self.gram.cholesky), lower=1)
        return FactoredArrays(
            X=to_array(self.X),
            half_norms=to_array(self.half_norms),
            variance=float(self.variance),
            inverse=np.tril(inverse),
            z=to_array(self.gram.z),
        )


@dataclass(frozen=True)
class FactoredArrays:
    """The parts of a factored posterior that a formula in numpy needs."""

    X: Array
    """``n x d`` training inputs."""
    half_norms: Array
    """``n``-dim: half the squared norms of ``X``."""
    variance: float
    """Of the prior."""
    inverse: Array
    """``n x n``: the inverse of the Cholesky factor."""
    z: Array
    """``n``-dim."""

    def covariance(self, points: Array) -> Array:
        """Prior covariances of ``b x d`` points with the data, ``b x n``."""
        return self.variance * np.exp(minus_half_squares(points, self.X, self.half_norms))

    def half_solve(self, rows: Array) -> Array:
        """Rows ``k L^{-T}``, whose squares sum to ``k C^{-1} k'``."""
        return rows @ self.inverse.T

    def half_solve_back(self, rows: Array) -> Array:
        """Rows ``h L^{-1}``; of half solved ones, ``k C^{-1}``."""
        return rows @ self.inverse

    def solve(self, rows: Array) -> Array:
        """Rows ``k C^{-1}``."""
        return self.half_solve_back(self.half_solve(rows))


def _gram(model: SingleTaskGP, X: Tensor, half_norms: Tensor, variance: Tensor) -> Gram:
    """``K + Sigma`` of inputs in length-scales, without the layers of gpytorch in between."""
    if type(model.likelihood) not in (GaussianLikelihood, FixedNoiseGaussianLikelihood):
        return Gram.of(model)
    exponent = torch.addmm(-half_norms, X, X.mT).sub_(half_norms.unsqueeze(-1))
    exponent.fill_diagonal_(0.0)  # but for rounding
    covariance = exponent.clamp_max_(0.0).exp_().mul_(variance)
    covariance.diagonal().add_(model.likelihood.noise.detach())
    cholesky, info = torch.linalg.cholesky_ex(covariance)
    if info:
        cholesky = psd_safe_cholesky(covariance)
    mean: Any = model.mean_module
    constant = (
        mean.constant.detach().clone() if isinstance(mean, ConstantMean) else variance.new_zeros(())
    )
    prior_mean = constant.expand_as(half_norms)
    residual = (model.train_targets - prior_mean).unsqueeze(-1)
    return Gram(
        covariance=covariance,
        cholesky=cholesky,
        prior_mean=prior_mean,
        prior_variance=variance.expand_as(prior_mean),
        z=torch.cholesky_solve(residual, cholesky).squeeze(-1),
    )


def half_norms(X: Array) -> Array:
    """Half the squared norms of rows."""
    return 0.5 * np.einsum("ij,ij->i", X, X)


def minus_half_squares(A: Array, B: Array, half_norms_of_B: Array | None = None) -> Array:
    """``-|a - b|^2 / 2`` of all pairs of rows, as ``a.b - |a|^2 / 2 - |b|^2 / 2``."""
    exponent = A @ B.T
    exponent -= half_norms(B) if half_norms_of_B is None else half_norms_of_B
    exponent -= half_norms(A)[:, None]
    return np.minimum(exponent, 0.0, out=exponent)


def to_array(tensor: Tensor) -> Array:
    """A tensor as doubles in numpy."""
    array: Array = tensor.detach().to("cpu", torch.double).numpy()
    return array
