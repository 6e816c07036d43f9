r"""Log expected improvement of one more point, beyond what pending points may bring.

``log E[max(f(x) - max(best_f, f(x_1), ..., f(x_m)), 0)]`` over the joint posterior at the candidate
``x`` and the pending points ``x_1 .. x_m``. It has the maximiser of BoTorch's
``qLogExpectedImprovement``, whose value is larger by the improvement that the pending points bring
without ``x``. That constant would outweigh a chance of success that is multiplied with the
improvement (:mod:`botorch_ubo.acquisition.feasibility`). BoTorch's
``qLogNoisyExpectedImprovement(incremental=True)`` is the same idea without ``best_f``.
"""

from __future__ import annotations

import torch
from botorch.acquisition.logei import TAU_RELU
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.sampling.base import MCSampler
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor

from botorch_ubo.compat.botorch_private import SampledLogImprovement, log_improvement


class qLogIncrementalExpectedImprovement(SampledLogImprovement):
    r"""Log expected improvement of one more point.

    For several points, choose one after another: ``optimize_acqf(..., sequential=True)``.

    Example:
        >>> model = SingleTaskGP(train_X, train_Y)
        >>> acqf = qLogIncrementalExpectedImprovement(model, best_f=0.2, X_pending=X_pending)
    """

    best_f: Tensor

    def __init__(
        self,
        model: Model,
        best_f: float | Tensor,
        sampler: MCSampler | None = None,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
        tau_relu: float = TAU_RELU,
    ) -> None:
        r"""Log expected improvement of one more point.

        Args:
            model: A fitted model, whose outcome (after the transform) is to be maximized.
            best_f: The value to improve on, such as the best posterior mean at the data.
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

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]  # annotated for the base only
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate on the candidate set X.

        Args:
            X: A ``(b) x 1 x d``-dim tensor of design points.

        Returns:
            A ``(b)``-dim tensor of values.
        """
        return super().forward(X)

    def log_improvement(self, samples: Tensor, fat: bool) -> Tensor:
        """From ``... x (1 + m)`` samples, pending points last, to ``... x 1`` log improvements."""
        new, pending = samples[..., :1], samples[..., 1:]
        known = torch.cat([self.best_f.to(new).expand_as(new), pending], dim=-1)
        return log_improvement(new, known.amax(dim=-1), self.tau_relu, fat)
