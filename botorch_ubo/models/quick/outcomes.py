r"""A ``ModelListGP`` that answers for all of its outcomes at once.

The search for the maximum of a Monte Carlo acquisition function asks for one thing, hundreds of
times: samples at some points and a few evaluated ones. For a list of :class:`QuickGP` of the same
inputs that is one batch of kernel evaluations and triangular solves, not a chain of lazy operators
per outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from botorch.acquisition.objective import PosteriorTransform
from botorch.models import ModelListGP
from botorch.posteriors.gpytorch import GPyTorchPosterior
from gpytorch.distributions import MultitaskMultivariateNormal, MultivariateNormal
from gpytorch.settings import min_variance
from linear_operator import to_linear_operator
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor

from botorch_ubo.models.quick.factored import FactoredPosterior
from botorch_ubo.models.quick.gp import QuickGP


@dataclass(frozen=True)
class _Stacked:
    """The factored posteriors of ``m`` outcomes with the same number of data, as tensors."""

    parts: tuple[FactoredPosterior, ...]
    origin: Tensor
    """``m x 1 x d``."""
    slope: Tensor
    """``m x 1 x d``."""
    X: Tensor
    """``m x n x d``."""
    cholesky: Tensor
    """``m x n x n``."""
    z: Tensor
    """``m x n x 1``."""
    variance: Tensor
    """``m x 1 x 1``: of the prior."""
    prior_mean: Tensor
    """``m x 1``."""
    Y_mean: Tensor
    """``m``."""
    Y_scale: Tensor
    """``m``."""

    @classmethod
    def of(cls, parts: tuple[FactoredPosterior, ...]) -> _Stacked:
        return cls(
            parts=parts,
            origin=torch.stack([p.origin for p in parts]).unsqueeze(-2),
            slope=torch.stack([p.slope for p in parts]),
            X=torch.stack([p.X for p in parts]),
            cholesky=torch.stack([p.gram.cholesky for p in parts]),
            z=torch.stack([p.gram.z for p in parts]).unsqueeze(-1),
            variance=torch.stack([p.variance for p in parts]).reshape(-1, 1, 1),
            prior_mean=torch.stack([p.prior_mean for p in parts]).unsqueeze(-1),
            Y_mean=torch.stack([p.Y_mean for p in parts]),
            Y_scale=torch.stack([p.Y_scale for p in parts]),
        )

    def mean_and_covariance(self, X: Tensor) -> tuple[Tensor, Tensor]:
        r"""The posterior in standardised units.

        Args:
            X: ``batch_shape x q x d`` raw points.

        Returns:
            ``batch_shape x q x m`` means and ``batch_shape x m x q x q`` covariances.
        """
        *batch, q, d = X.shape
        m = len(self.parts)
        points = (X.reshape(1, -1, d) - self.origin) * self.slope  # m x bq x d
        covariance = self.variance * _minus_half_squares(points, self.X).exp()  # m x bq x n
        mean = self.prior_mean + (covariance @ self.z).squeeze(-1)
        half = torch.linalg.solve_triangular(self.cholesky, covariance.mT, upper=False)
        half = half.mT.reshape(m, -1, q, half.shape[-2])
        points = points.reshape(m, -1, q, d)
        prior = self.variance.unsqueeze(-1) * _minus_half_squares(points, points).exp()
        posterior = prior - half @ half.mT  # m x b x q x q
        mean = mean.reshape(m, *batch, q).movedim(0, -1)
        return mean, posterior.reshape(m, *batch, q, q).movedim(0, -3)


def _minus_half_squares(A: Tensor, B: Tensor) -> Tensor:
    """``-|a - b|^2 / 2`` of all pairs of rows."""
    exponent = A @ B.mT - 0.5 * B.square().sum(dim=-1).unsqueeze(-2)
    return (exponent - 0.5 * A.square().sum(dim=-1, keepdim=True)).clamp_max(0.0)


class OutcomesPosterior(GPyTorchPosterior):
    """A joint posterior of independent outcomes; its distribution is built only if asked for."""

    def __init__(self, mean: Tensor, covariance: Tensor, shift: Tensor, scale: Tensor) -> None:
        r"""A posterior of independent outcomes.

        Args:
            mean: ``batch_shape x q x m`` means in standardised units.
            covariance: ``batch_shape x m x q x q`` covariances, likewise.
            shift: ``m`` values of a standardised 0.
            scale: ``m`` units.
        """
        self._device, self._dtype = mean.device, mean.dtype
        self._standard_mean, self._covariance = mean, covariance
        self._shift, self._scale = shift, scale
        self._is_mt = True

    @cached_property
    def distribution(self) -> MultitaskMultivariateNormal:  # type: ignore[override]  # an attribute
        """The multi-task normal distribution."""
        means = self.mean.unbind(-1)
        scale = self._scale.square().reshape(-1, 1, 1)
        covariances = (scale * self._covariance).unbind(-3)
        pairs = zip(means, covariances, strict=True)
        return MultitaskMultivariateNormal.from_independent_mvns(
            [MultivariateNormal(mean, to_linear_operator(covariance)) for mean, covariance in pairs]
        )

    @property
    def mean(self) -> Tensor:
        """The ``batch_shape x q x m`` means."""
        return self._shift + self._scale * self._standard_mean

    @property
    def variance(self) -> Tensor:
        """The ``batch_shape x q x m`` variances."""
        variance = self._covariance.diagonal(dim1=-1, dim2=-2).mT
        return self._scale.square() * variance.clamp_min(min_variance.value(variance.dtype))

    @property
    def base_sample_shape(self) -> torch.Size:
        """Of a base sample: one number per point and outcome."""
        return self._standard_mean.shape

    def _extended_shape(self, sample_shape: torch.Size = torch.Size()) -> torch.Size:  # noqa: B008
        return sample_shape + self._standard_mean.shape

    @cached_property
    def _root(self) -> Tensor:
        """``batch_shape x m x q x q`` lower factors; jitter, if any, is in standardised units."""
        if self._covariance.shape[-1] == 1:
            return self._covariance.clamp_min(min_variance.value(self._dtype)).sqrt()
        return psd_safe_cholesky(self._covariance)

    def rsample_from_base_samples(self, sample_shape: torch.Size, base_samples: Tensor) -> Tensor:
        """See ``GPyTorchPosterior``."""
        if base_samples.shape[: len(sample_shape)] != sample_shape:
            raise RuntimeError(
                f"Expected base samples of shape {sample_shape} x {self.base_sample_shape}; got "
                f"{base_samples.shape}."
            )
        samples = self._standard_mean + self._deviations(base_samples, len(sample_shape))
        return self._shift + self._scale * samples

    def _deviations(self, base_samples: Tensor, sample_dims: int) -> Tensor:
        """``sample_shape x batch_shape x q x m`` deviations from the mean."""
        batch_dims = self._standard_mean.dim() - 2
        same = all(
            base_samples.stride(sample_dims + i) == 0 or base_samples.shape[sample_dims + i] == 1
            for i in range(batch_dims)
        )
        if not same:
            return (self._root @ base_samples.mT.unsqueeze(-1)).squeeze(-1).mT
        # Samplers draw once for all of a batch: one product per outcome serves all of them.
        *batch, m, q, _ = self._root.shape
        shape = base_samples.shape[:sample_dims]
        for _ in batch:
            base_samples = base_samples.select(sample_dims, 0)
        normal = base_samples.reshape(-1, q, m).permute(2, 1, 0)  # m x q x s
        rows = self._root.movedim(-3, 0).reshape(m, -1, q) @ normal  # m x bq x s
        return rows.permute(2, 1, 0).reshape(*shape, *batch, q, m)


class QuickModelList(ModelListGP):
    """Models of several outcomes of the same inputs, quick if each is a :class:`QuickGP`.

    A ``ModelListGP`` in every respect: the posterior has the same numbers, found in a shorter way,
    with gradients with respect to the points, not to the hyper-parameters.
    """

    _stacked: _Stacked | None = None

    def posterior(  # type: ignore[override]  # its parents disagree about the order of arguments
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: PosteriorTransform | None = None,
    ) -> Any:
        """See ``ModelListGP``."""
        plain = output_indices is None and observation_noise is False
        parts = self.factored() if plain and X.dim() > 1 else None
        if parts is None:
            return super().posterior(X, output_indices, observation_noise, posterior_transform)
        stacked = self._stacked
        if stacked is None or any(a is not b for a, b in zip(stacked.parts, parts, strict=True)):
            stacked = self._stacked = _Stacked.of(parts)
        mean, covariance = stacked.mean_and_covariance(X)
        posterior = OutcomesPosterior(mean, covariance, stacked.Y_mean, stacked.Y_scale)
        return posterior if posterior_transform is None else posterior_transform(posterior, X)

    def factored(self) -> tuple[FactoredPosterior, ...] | None:
        """What the posteriors of the outcomes are computed from, if all formulas hold."""
        models = [model for model in self.models if isinstance(model, QuickGP)]
        if len(models) < max(2, len(self.models)):
            return None
        if not all(model.has_shortcut() and not model.training for model in models):
            return None
        parts = tuple(model.factored() for model in models)
        alike = all(p.affine and p.X.shape == parts[0].X.shape for p in parts)
        return parts if alike else None
