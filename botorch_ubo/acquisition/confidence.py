r"""Confidence bounds for search spaces without a boundary.

References:
    [Ha2019] H. Ha, S. Rana, S. Gupta, T. Nguyen, H. Tran-The, and S. Venkatesh. Bayesian
    Optimization with Unknown Search Space. Advances in Neural Information Processing Systems 32,
    2019.
"""

from __future__ import annotations

import torch
from botorch.acquisition.analytic import AnalyticAcquisitionFunction, UpperConfidenceBound
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.utils.transforms import average_over_ensemble_models, t_batch_mode_transform
from torch import Tensor

from botorch_ubo.acquisition.tensors import like_model
from botorch_ubo.compat.botorch_private import mean_and_sigma
from botorch_ubo.posterior import PosteriorSummary, summarize_posterior


class UnboundedUpperConfidenceBound(UpperConfidenceBound):
    r"""Upper confidence bound that knows its limit at infinity [Ha2019].

    ``UCB(x) = mu(x) + sqrt(beta) * sigma(x)``. Far from all data it tends to
    ``c + sqrt(beta) * theta`` (Proposition 4.1), with ``c`` the prior mean and ``theta`` the prior
    standard deviation: over an unbounded space its supremum may lie at infinity, which
    :attr:`value_at_infinity` tells. It averages over the members of an ensemble.

    Example:
        >>> model = SingleTaskGP(train_X, train_Y)
        >>> ucb = UnboundedUpperConfidenceBound(model, beta=4.0)
        >>> ucb(test_X) - ucb.value_at_infinity
    """

    beta: Tensor

    def __init__(
        self,
        model: Model,
        beta: float | Tensor,
        posterior_transform: PosteriorTransform | None = None,
        maximize: bool = True,
    ) -> None:
        r"""Upper confidence bound with its limit at infinity.

        Args:
            model: A fitted model; its limit is known for those that
                :func:`botorch_ubo.posterior.check_model` accepts.
            beta: A scalar, or a ``b x 1``-dim tensor with one value per element of a t-batch.
            posterior_transform: A ScalarizedPosteriorTransform for a multi-output model.
            maximize: If True, consider the problem a maximization problem.
        """
        super().__init__(model, like_model(model, beta), posterior_transform, maximize)

    @property
    def value_at_infinity(self) -> Tensor:
        """The limit of the acquisition value far from all data (Proposition 4.1)."""
        summary = summarize_posterior(self.model, self.posterior_transform, self.maximize)
        return value_at_infinity(summary, self.beta).to(self.beta)


class LowerConfidenceBound(AnalyticAcquisitionFunction):
    r"""Single-outcome lower confidence bound.

    ``LCB(x) = mu(x) - sqrt(beta) * sigma(x)``, or ``-mu(x) - sqrt(beta) * sigma(x)`` for
    ``maximize=False``: a value that the objective exceeds with high probability, so that its
    maximum over evaluated points bounds the best of them from below. It averages over the
    members of an ensemble.

    Example:
        >>> model = SingleTaskGP(train_X, train_Y)
        >>> lcb = LowerConfidenceBound(model, beta=4.0)
        >>> lcb(train_X.unsqueeze(-2)).max()
    """

    beta: Tensor

    def __init__(
        self,
        model: Model,
        beta: float | Tensor,
        posterior_transform: PosteriorTransform | None = None,
        maximize: bool = True,
    ) -> None:
        r"""Single-outcome lower confidence bound.

        Args:
            model: A fitted single-outcome model.
            beta: A scalar, or a ``b x 1``-dim tensor with one value per element of a t-batch.
            posterior_transform: A PosteriorTransform. If using a multi-output model,
                a PosteriorTransform that transforms the multi-output posterior into a
                single-output posterior is required.
            maximize: If True, consider the problem a maximization problem.
        """
        super().__init__(model=model, posterior_transform=posterior_transform)
        self.register_buffer("beta", like_model(model, beta))
        self.maximize = maximize

    @t_batch_mode_transform(expected_q=1)
    @average_over_ensemble_models  # type: ignore[arg-type]  # annotated for the base class only
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate the lower confidence bound on the candidate set X.

        Args:
            X: A ``(b1 x ... bk) x 1 x d``-dim batched tensor of ``d``-dim design points.

        Returns:
            A ``(b1 x ... bk)``-dim tensor of lower confidence bounds.
        """
        mean, sigma = mean_and_sigma(self, X)  # (b1 x ... x bk) x 1
        lcb = (mean if self.maximize else -mean) - self.beta.sqrt() * sigma
        return lcb.squeeze(-1)


def value_at_infinity(summary: PosteriorSummary, beta: float | Tensor) -> Tensor:
    r"""Limit of an upper confidence bound far from all data (Proposition 4.1), in raw units.

    Args:
        summary: The posterior of the objective that is maximised.
        beta: The trade-off parameter, any shape.

    Returns:
        A tensor of the shape of ``beta``: the average of the members' limits.
    """
    theta = summary.theta
    root = torch.as_tensor(beta, dtype=theta.dtype, device=theta.device).sqrt()
    return summary.mean_at_infinity.mean() + root * summary.sigma_at_infinity.mean()
