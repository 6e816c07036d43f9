r"""Log expected improvement where the model is not too uncertain.

NOTE: In the spirit of AEBO (W. Chen and M. Fuge, Adaptive Expansion Bayesian Optimization for
Unbounded Global Optimization, arXiv 2001.04815), of which only the abstract could be read: a
reconstruction, not that method, and named accordingly.
"""

from __future__ import annotations

from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import InputDataError
from botorch.models.model import Model
from botorch.utils.transforms import average_over_ensemble_models, t_batch_mode_transform
from torch import Tensor

from botorch_ubo.acquisition.tensors import like_model
from botorch_ubo.compat.botorch_private import log_ei_helper, mean_and_sigma, scaled_improvement

# The slope of log EI in sigma^2 / cap is u^2 / 2, u = (mean - best_f) / sigma, so a maximiser goes
# beyond the cap by a share of about u^2 / 4000: the price of a penalty smooth enough for L-BFGS.
_WEIGHT = 1e3


class VarianceCappedLogExpectedImprovement(LogExpectedImprovement):
    r"""Log expected improvement subject to ``sigma^2(x) <= max_variance``, by a penalty.

    ``LogEI(x) - 1000 max(0, sigma^2(x) / max_variance - 1)^2``.

    Example:
        >>> model = SingleTaskGP(train_X, train_Y)
        >>> acqf = VarianceCappedLogExpectedImprovement(model, best_f=0.2, max_variance=0.6)
    """

    best_f: Tensor
    max_variance: Tensor

    def __init__(
        self,
        model: Model,
        best_f: float | Tensor,
        max_variance: float | Tensor,
        posterior_transform: PosteriorTransform | None = None,
        maximize: bool = True,
    ) -> None:
        r"""Log expected improvement under a cap on the posterior variance.

        Args:
            model: A fitted single-outcome model.
            best_f: Either a scalar or a ``b``-dim Tensor (batch mode) representing
                the best function value observed so far (assumed noiseless).
            max_variance: The cap, in squared units of the outcomes.
            posterior_transform: A PosteriorTransform. If using a multi-output model,
                a PosteriorTransform that transforms the multi-output posterior into a
                single-output posterior is required.
            maximize: If True, consider the problem a maximization problem.
        """
        super().__init__(model, like_model(model, best_f), posterior_transform, maximize)
        self.register_buffer("max_variance", like_model(model, max_variance))
        if not (self.max_variance > 0).all():
            raise InputDataError(
                f"Expected a positive max_variance; got {max_variance}. A fraction of the prior "
                "variance (0.63, say) lets the search go one length-scale beyond the data."
            )

    @t_batch_mode_transform(expected_q=1)
    @average_over_ensemble_models  # type: ignore[arg-type]  # annotated for the base class only
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate the capped log expected improvement on the candidate set X.

        Args:
            X: A ``(b1 x ... bk) x 1 x d``-dim batched tensor of ``d``-dim design points.

        Returns:
            A ``(b1 x ... bk)``-dim tensor of values.
        """
        mean, sigma = mean_and_sigma(self, X)  # (b1 x ... bk) x 1
        u = scaled_improvement(mean, sigma, self.best_f, self.maximize)
        excess = (sigma.square() / self.max_variance - 1).clamp_min(0)
        return (log_ei_helper(u) + sigma.log() - _WEIGHT * excess.square()).squeeze(-1)
