r"""A ``SingleTaskGP`` that answers the question of an acquisition optimisation at little cost.

With tens of observations, nine tenths of an acquisition optimisation go to the generality of the
machinery around the arithmetic. The optimisation asks for one thing, thousands of times: mean and
variance at single points. :class:`QuickGP` answers that with one kernel evaluation and one
triangular solve, and everything else as its parent does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from botorch.acquisition.objective import PosteriorTransform
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import AffineInputTransform
from botorch.models.transforms.outcome import Standardize
from botorch.posteriors.gpytorch import GPyTorchPosterior
from botorch.posteriors.transformed import TransformedPosterior
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.means import ConstantMean, ZeroMean
from gpytorch.settings import min_variance
from linear_operator.operators import DiagLinearOperator
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor


class PointPosterior(GPyTorchPosterior):
    """A posterior at single points; the distribution is built only if something asks for it."""

    def __init__(self, mean: Tensor, variance: Tensor) -> None:
        r"""A posterior at single points.

        Args:
            mean: ``b x 1 x 1`` means.
            variance: ``b x 1 x 1`` variances.
        """
        self._device, self._dtype = mean.device, mean.dtype
        self._point_mean = mean
        self._point_variance = variance
        self._is_mt = False

    @cached_property
    def distribution(self) -> MultivariateNormal:  # type: ignore[override]  # an attribute there
        """The ``b`` independent normal distributions."""
        variance = DiagLinearOperator(self._point_variance.squeeze(-1))
        return MultivariateNormal(self._point_mean.squeeze(-1), variance)

    @property
    def mean(self) -> Tensor:
        """The ``b x 1 x 1`` means."""
        return self._point_mean

    @property
    def variance(self) -> Tensor:
        """The ``b x 1 x 1`` variances."""
        return self._point_variance


@dataclass(frozen=True)
class Evaluated:
    """The posterior at ``b`` points in standardised units, and what it was computed from."""

    points: Tensor
    """``b x d``, in length-scales from the origin."""
    covariance: Tensor
    """``b x n`` covariances with the data."""
    half: Tensor
    """``n x b``: the Cholesky factor's inverse times the covariances."""
    mean: Tensor
    """``b``-dim."""
    variance: Tensor
    """``b``-dim, not clamped."""


@dataclass(frozen=True)
class Prepared:
    """What does not depend on the test point, and the tensors that it was computed from."""

    sources: tuple[tuple[Tensor, int], ...]
    affine: bool
    """Whether ``origin`` and ``slope`` include the input transform, if there is one."""
    origin: Tensor
    """``d``-dim: the centre of the data."""
    slope: Tensor
    """``1 x d``: length-scales per unit."""
    X: Tensor
    """``n x d`` training inputs in length-scales from the origin."""
    half_norms: Tensor
    """``n``-dim: half the squared norms of ``X``."""
    variance: Tensor
    """``k(x, x)``, a scalar."""
    cholesky: Tensor
    """``n x n`` factor of ``K + s^2 I``."""
    z: Tensor
    """``n x 1``: ``(K + s^2 I)^{-1} (y - c)``."""
    prior_mean: Tensor
    Y_mean: Tensor
    Y_scale: Tensor

    def evaluate(self, X: Tensor) -> Evaluated:
        """The posterior at ``b x d`` points, raw ones if ``affine``, else transformed."""
        points = (X - self.origin) * self.slope
        # -|a - b|^2 / 2 = a.b - |a|^2 / 2 - |b|^2 / 2
        exponent = torch.addmm(-self.half_norms, points, self.X.mT)
        exponent = exponent - 0.5 * points.square().sum(dim=-1, keepdim=True)
        covariance = self.variance * exponent.clamp_max(0.0).exp()
        half = torch.linalg.solve_triangular(self.cholesky, covariance.mT, upper=False)
        return Evaluated(
            points=points,
            covariance=covariance,
            half=half,
            mean=self.prior_mean + (covariance @ self.z).squeeze(-1),
            variance=self.variance - half.square().sum(dim=-2),
        )


class QuickGP(SingleTaskGP):
    """A single-output GP with a squared exponential kernel (scaled or not), quick at single points.

    A ``SingleTaskGP`` in every respect: mean and variance at ``b x 1 x d`` points are the same
    numbers, found in a shorter way. They have gradients with respect to the points, not to the
    hyper-parameters. With another kernel, a mean that is not constant or outcomes that are not
    standardised, it is as quick as its parent.
    """

    _prepared: Prepared | None = None

    def posterior(  # type: ignore[override]  # its parents disagree about the order of arguments
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: PosteriorTransform | None = None,
    ) -> GPyTorchPosterior | TransformedPosterior:
        """See ``SingleTaskGP``."""
        single_points = X.dim() == 3 and X.shape[-2] == 1 and observation_noise is False
        if self.training or not single_points or not self.has_shortcut():
            return super().posterior(X, output_indices, observation_noise, posterior_transform)
        p = self.prepare()
        at = p.evaluate((X if p.affine else self.transform_inputs(X)).squeeze(-2))
        variance = at.variance.clamp_min(min_variance.value(X.dtype))
        posterior = PointPosterior(
            (p.Y_mean + p.Y_scale * at.mean).reshape(-1, 1, 1),
            p.Y_scale.square() * variance.reshape(-1, 1, 1),
        )
        return posterior if posterior_transform is None else posterior_transform(posterior, X)

    def train(self, mode: bool = True) -> QuickGP:
        """See ``torch.nn.Module``; as gpytorch does, forget what was computed from parameters."""
        self._prepared = None
        super().train(mode)
        return self

    def get_fantasy_model(self, inputs: Tensor, targets: Tensor, **kwargs: Any) -> QuickGP:
        """See ``ExactGP``, whose caches the shortcut leaves empty."""
        if not self.training and self.prediction_strategy is None:
            self(inputs)
        return super().get_fantasy_model(inputs, targets, **kwargs)

    def has_shortcut(self) -> bool:
        """Whether the formulas of the shortcut are those of the model."""
        kernel = self.covar_module
        base = kernel.base_kernel if type(kernel) is ScaleKernel else kernel
        outcome = getattr(self, "outcome_transform", None)
        transform = getattr(self, "input_transform", None)
        return (
            self.train_inputs[0].dim() == 2
            and type(base) is RBFKernel
            and kernel.active_dims is None
            and base.active_dims is None
            and type(self.mean_module) in (ConstantMean, ZeroMean)
            and (outcome is None or type(outcome) is Standardize)
            and not getattr(transform, "is_one_to_many", False)
        )

    def prepare(self) -> Prepared:
        """What the shortcut needs, computed once."""
        tensors = (*self.parameters(), *self.train_inputs, self.train_targets)
        known = self._prepared
        if known is not None and all(
            tensor is source and tensor._version == version
            for tensor, (source, version) in zip(tensors, known.sources, strict=True)
        ):
            return known
        with torch.no_grad():
            kernel = self.covar_module
            scaled = isinstance(kernel, ScaleKernel)
            lengthscale = (kernel.base_kernel if scaled else kernel).lengthscale.detach()
            X = self.train_inputs[0]
            prior = self.forward(X)
            noisy = self.likelihood(prior, [X])
            cholesky = psd_safe_cholesky(noisy.covariance_matrix)
            residual = (self.train_targets - noisy.mean).unsqueeze(-1)
            center = X.mean(dim=0)
            relative = (X - center) / lengthscale
            outcome = getattr(self, "outcome_transform", None)
            transform: Any = getattr(self, "input_transform", None)
            # One affine map of all dimensions is not worth a call of its own for every batch.
            affine = transform is None or (
                isinstance(transform, AffineInputTransform)
                and not hasattr(transform, "indices")
                and transform.transform_on_eval
                and not transform.reverse
            )
            if affine and transform is not None:
                # A transform takes on the precision of what it was last given.
                coefficient, offset = transform.coefficient.to(X), transform.offset.to(X)
                center = coefficient[0] * center + offset[0]
                lengthscale = coefficient * lengthscale
            one = X.new_ones(())
            self._prepared = Prepared(
                sources=tuple((tensor, tensor._version) for tensor in tensors),
                affine=affine,
                origin=center,
                slope=lengthscale.reciprocal(),
                X=relative,
                half_norms=0.5 * relative.square().sum(dim=-1),
                variance=kernel.outputscale.detach() if scaled else one,
                cholesky=cholesky,
                z=torch.cholesky_solve(residual, cholesky),
                prior_mean=prior.mean[0].detach(),
                Y_mean=one - one if outcome is None else outcome.means.reshape(()),
                Y_scale=one if outcome is None else outcome.stdvs.reshape(()),
            )
        return self._prepared
