r"""Log expected improvement that pays for distance: EI-H and EI-Q in their log form.

References:
    [Shahriari2016] B. Shahriari, A. Bouchard-Cote, and N. de Freitas. Unbounded Bayesian
    Optimization via Regularization. Proceedings of the 19th International Conference on Artificial
    Intelligence and Statistics, PMLR 51, 2016.

    [Ament2023logei] S. Ament, S. Daulton, D. Eriksson, M. Balandat, and E. Bakshy. Unexpected
    Improvements to Expected Improvement for Bayesian Optimization. Advances in Neural Information
    Processing Systems 36, 2023.
"""

from __future__ import annotations

import torch
from botorch.acquisition.analytic import (
    AnalyticAcquisitionFunction,
    _log_ei_helper,
    _scaled_improvement,
)
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models.model import Model
from botorch.utils.transforms import average_over_ensemble_models, t_batch_mode_transform
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.acquisition.confidence import _like
from botorch_ubo.acquisition.penalties import Penalty
from botorch_ubo.boxes import to_model_space
from botorch_ubo.gram import solve_gram, train_covariance
from botorch_ubo.posterior import summarize_posterior

VARIANTS = ("target", "prior_mean")


class LogRegularizedExpectedImprovement(AnalyticAcquisitionFunction):
    r"""Logarithm of expected improvement under a penalty on distance [Shahriari2016].

    ``LogREI(x) = log(E(max(f(x) - best_f - scale * xi(x), 0)))``, computed as in
    [Ament2023logei]: plain EI underflows where the penalty is large. The penalty ``xi`` acts in
    the model's input space (after its ``input_transform``) and is in units of ``scale``, by
    default the standard deviation of the observed outcomes. With ``variant="target"``, that of
    the experiments in [Ha2019], the penalty raises the target everywhere; with ``"prior_mean"``
    the prior mean is ``-scale * xi(x)`` instead, and data override it where they are.

    Example:
        >>> model = SingleTaskGP(train_X, train_Y)
        >>> penalty = HingeQuadraticPenalty.from_bounds(bounds)
        >>> LogREI = LogRegularizedExpectedImprovement(model, best_f=0.2, penalty=penalty)
        >>> rei = LogREI(test_X)
    """

    _log: bool = True
    best_f: Tensor
    scale: Tensor
    weights: Tensor

    def __init__(
        self,
        model: Model,
        best_f: float | Tensor,
        penalty: Penalty,
        scale: float | Tensor | None = None,
        variant: str = "target",
        posterior_transform: PosteriorTransform | None = None,
        maximize: bool = True,
    ) -> None:
        r"""Logarithm of regularised expected improvement (analytic).

        Args:
            model: A fitted single-outcome model.
            best_f: Either a scalar or a ``b``-dim Tensor (batch mode) representing
                the best function value observed so far (assumed noiseless).
            penalty: The penalty, over the model's input space.
            scale: Unit of the penalty in units of the outcomes; by default the standard
                deviation of the model's training outcomes.
            variant: ``"target"`` or ``"prior_mean"`` (see above).
            posterior_transform: A PosteriorTransform. If using a multi-output model,
                a PosteriorTransform that transforms the multi-output posterior into a
                single-output posterior is required.
            maximize: If True, consider the problem a maximization problem.
        """
        super().__init__(model=model, posterior_transform=posterior_transform)
        if variant not in VARIANTS:
            raise UnsupportedError(f"Expected `variant` to be one of {VARIANTS}; got {variant!r}.")
        if scale is None:
            scale = summarize_posterior(model, posterior_transform).Y_std
        self.register_buffer("best_f", _like(model, best_f))
        self.register_buffer("scale", _like(model, scale))
        self.penalty = penalty
        self.variant = variant
        self.maximize = maximize
        if variant == "prior_mean":
            if posterior_transform is not None:
                raise UnsupportedError(
                    'Expected no posterior transform with `variant="prior_mean"`, since a prior '
                    f"mean belongs to one output; got {type(posterior_transform).__name__}. Use "
                    '`variant="target"`.'
                )
            self.register_buffer("weights", _like(model, prior_mean_weights(model, penalty)))

    @t_batch_mode_transform(expected_q=1)
    @average_over_ensemble_models  # type: ignore[arg-type]  # annotated for the base class only
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate the logarithm of regularised expected improvement on the candidate set X.

        Args:
            X: A ``(b1 x ... bk) x 1 x d``-dim batched tensor of ``d``-dim design points.

        Returns:
            A ``(b1 x ... bk)``-dim tensor of values.
        """
        mean, sigma = self._mean_and_sigma(X)  # (b1 x ... bk) x 1, with members before the 1
        cost = self._cost(to_model_space(self.model, X))  # (b1 x ... bk) x 1
        if mean.dim() > cost.dim():
            cost = cost.unsqueeze(-2)
        assert sigma is not None  # it is for `compute_sigma=True`, the default
        u = _scaled_improvement(mean, sigma, self.best_f, self.maximize)
        u = u - self.scale * cost / sigma
        return (_log_ei_helper(u) + sigma.log()).squeeze(-1)

    def _cost(self, X: Tensor) -> Tensor:
        cost: Tensor = self.penalty(X)
        if self.variant == "target":
            return cost
        # Regressing y + xi(X) on the prior mean -xi adds k(x)^T (K + Sigma)^{-1} xi(X) to the mean.
        model: ExactGP = self.model
        covariance: Tensor = model.covar_module(X, model.train_inputs[0]).to_dense()
        return cost - (covariance * self.weights).sum(dim=-1)


def prior_mean_weights(model: ExactGP, penalty: Penalty) -> Tensor:
    """``(K + Sigma)^{-1} xi(X)``, an ``n``-dim tensor in double, for a model of one output."""
    covariance = train_covariance(model)
    if covariance.dim() > 2:
        raise UnsupportedError(
            "Expected a single-output model, not an ensemble, for a penalty as prior mean; got "
            f"{type(model).__name__} of batch shape {tuple(covariance.shape[:-2])}. Use "
            '`variant="target"`.'
        )
    with torch.no_grad():
        values = penalty(model.train_inputs[0]).to(covariance)
    return solve_gram(covariance, values)
