r"""Log expected improvement of one more point, beyond what pending points may bring.

``log E[max(f(x) - max(best_f, f(x_1), ..., f(x_m)), 0)]`` over the joint posterior at the candidate
``x`` and the pending points ``x_1 .. x_m``. It has the maximiser of BoTorch's
``qLogExpectedImprovement``, whose value is larger by the improvement that the pending points bring
without ``x``. That constant would outweigh whatever is multiplied with the improvement: a chance of
success, or the share that noise leaves of it (:mod:`botorch_ubo.acquisition.augmented`). BoTorch's
``qLogNoisyExpectedImprovement(incremental=True)`` is the same idea without ``best_f``.
"""

from __future__ import annotations

import torch
from botorch.acquisition.logei import (
    TAU_RELU,
    _log_improvement,
    qLogExpectedImprovement,
)
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.posteriors.gpytorch import GPyTorchPosterior
from botorch.sampling.base import MCSampler
from botorch.utils.transforms import match_batch_shape, t_batch_mode_transform
from torch import Tensor

from botorch_ubo.acquisition.augmented import check_noise_std, log_share_beyond_noise


class qLogIncrementalExpectedImprovement(qLogExpectedImprovement):  # BoTorch's form
    r"""Log expected improvement of one more point, augmented for noise if there is some.

    For several points, choose one after another: ``optimize_acqf(..., sequential=True)``.

    Example:
        >>> model = SingleTaskGP(train_X, train_Y)
        >>> acqf = qLogIncrementalExpectedImprovement(model, best_f=0.2, X_pending=X_pending)
    """

    best_f: Tensor
    noise_std: Tensor
    _fat: bool

    def __init__(
        self,
        model: Model,
        best_f: float | Tensor,
        noise_std: float | Tensor = 0.0,
        sampler: MCSampler | None = None,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
        tau_relu: float = TAU_RELU,
    ) -> None:
        r"""Log expected improvement of one more point.

        Args:
            model: A fitted model, whose outcome (after the transform) is to be maximized.
            best_f: The value to improve on, such as the best posterior mean at the data.
            noise_std: Standard deviation of the noise, in units of the outcomes.
            sampler: The sampler used to draw base samples; BoTorch's default if ``None``.
            posterior_transform: A PosteriorTransform, needed for a multi-output model.
            X_pending: ``m x d`` points that are being evaluated.
            tau_relu: Temperature of the smooth approximation to the positive part, in units of
                the outcomes.
        """
        super().__init__(
            model,
            best_f,
            sampler=sampler,
            posterior_transform=posterior_transform,
            X_pending=X_pending,
            tau_relu=tau_relu,
        )
        self.register_buffer("noise_std", check_noise_std(model, noise_std))

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]  # annotated for the base only
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate on the candidate set X.

        Args:
            X: A ``(b) x 1 x d``-dim tensor of design points.

        Returns:
            A ``(b)``-dim tensor of values.
        """
        value = super().forward(X)
        if not (self.noise_std > 0).all():
            return value
        share = log_share_beyond_noise(self._remaining_variance(X).sqrt(), self.noise_std)
        return value + share.reshape(*value.shape, -1).mean(dim=-1)  # over an ensemble's members

    def _sample_forward(self, obj: Tensor) -> Tensor:
        """From ``... x (1 + m)`` samples, pending points last, to ``... x 1`` log improvements."""
        known = torch.cat([self.best_f.to(obj).expand_as(obj[..., :1]), obj[..., 1:]], dim=-1)
        return _log_improvement(obj[..., :1], known.amax(dim=-1), self.tau_relu, self._fat)

    def _remaining_variance(self, X: Tensor) -> Tensor:
        """The variance at ``b x 1 x d`` points once the pending ones are observed, with noise."""
        if self.X_pending is not None:
            X = torch.cat([X, match_batch_shape(self.X_pending, X)], dim=-2)
        posterior = self.model.posterior(X, posterior_transform=self.posterior_transform)
        assert isinstance(posterior, GPyTorchPosterior)  # of an exact GP, which is all we take
        covariance = posterior.distribution.covariance_matrix  # b x (members) x (1 + m) x (1 + m)
        variance, cross = covariance[..., 0, 0], covariance[..., 1:, :1]
        noise = self.noise_std.square() * torch.eye(
            cross.shape[-2], dtype=cross.dtype, device=cross.device
        )
        factor = torch.linalg.cholesky(covariance[..., 1:, 1:] + noise)
        explained = torch.linalg.solve_triangular(factor, cross, upper=False)
        rest = variance - explained.square().sum(dim=(-2, -1))
        return rest.clamp_min(torch.finfo(rest.dtype).eps * variance.detach())
