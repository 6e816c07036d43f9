r"""Log augmented expected improvement: where noise has been averaged out, there is less to gain.

``log AEI(x) = log EI(x) + log(1 - s / sqrt(sigma^2(x) + s^2))``

with the noise's standard deviation ``s`` (D. Huang, T. Allen, W. Notz and N. Zeng, Global
Optimization of Stochastic Black-Box Systems via Sequential Kriging Meta-Models, Journal of Global
Optimization 34, 2006). Another evaluation of a point teaches less the better the point is known
already; plain expected improvement asks for it all the same. Without noise it is LogEI.
"""

from __future__ import annotations

from botorch.acquisition.analytic import (
    LogExpectedImprovement,
    _log_ei_helper,
    _scaled_improvement,
)
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import InputDataError
from botorch.models.model import Model
from botorch.utils.transforms import average_over_ensemble_models, t_batch_mode_transform
from torch import Tensor

from botorch_ubo.acquisition.confidence import _like


class LogAugmentedExpectedImprovement(LogExpectedImprovement):
    r"""Log augmented expected improvement.

    Example:
        >>> model = SingleTaskGP(train_X, train_Y)
        >>> acqf = LogAugmentedExpectedImprovement(model, best_f=0.2, noise_std=0.1)
    """

    best_f: Tensor
    noise_std: Tensor

    def __init__(
        self,
        model: Model,
        best_f: float | Tensor,
        noise_std: float | Tensor,
        posterior_transform: PosteriorTransform | None = None,
        maximize: bool = True,
    ) -> None:
        r"""Log augmented expected improvement.

        Args:
            model: A fitted single-outcome model.
            best_f: The value to improve on, such as the best posterior mean at the data.
            noise_std: Standard deviation of the noise, in units of the outcomes.
            posterior_transform: A PosteriorTransform. If using a multi-output model,
                a PosteriorTransform that transforms the multi-output posterior into a
                single-output posterior is required.
            maximize: If True, consider the problem a maximization problem.
        """
        super().__init__(model, _like(model, best_f), posterior_transform, maximize)
        self.register_buffer("noise_std", check_noise_std(model, noise_std))

    @t_batch_mode_transform(expected_q=1)
    @average_over_ensemble_models  # type: ignore[arg-type]  # annotated for the base class only
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate log augmented expected improvement on the candidate set X.

        Args:
            X: A ``(b1 x ... bk) x 1 x d``-dim batched tensor of ``d``-dim design points.

        Returns:
            A ``(b1 x ... bk)``-dim tensor of values.
        """
        mean, sigma = self._mean_and_sigma(X)  # (b1 x ... bk) x 1
        assert sigma is not None  # it is for `compute_sigma=True`, the default
        u = _scaled_improvement(mean, sigma, self.best_f, self.maximize)
        log_share = log_share_beyond_noise(sigma, self.noise_std)
        return (_log_ei_helper(u) + sigma.log() + log_share).squeeze(-1)


def log_share_beyond_noise(sigma: Tensor, noise_std: Tensor) -> Tensor:
    """``log(1 - s / sqrt(sigma^2 + s^2))``, 0 without noise (same shape as ``sigma``)."""
    total = (sigma.square() + noise_std.square()).sqrt()
    # 1 - s / t = sigma^2 / (t (t + s)), without cancellation
    return 2 * sigma.log() - total.log() - (total + noise_std).log()


def check_noise_std(model: Model, noise_std: float | Tensor) -> Tensor:
    """The noise's standard deviation in the model's dtype and device."""
    checked = _like(model, noise_std)
    if not (checked >= 0).all():
        raise InputDataError(
            f"Expected noise_std >= 0; got {noise_std}. Pass the square root of the "
            "observations' variance, or 0 for exact ones."
        )
    return checked
