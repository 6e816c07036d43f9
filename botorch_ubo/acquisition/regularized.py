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

from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models.model import Model
from botorch.utils.transforms import average_over_ensemble_models, t_batch_mode_transform
from torch import Tensor

from botorch_ubo.acquisition.penalties import Penalty
from botorch_ubo.acquisition.tensors import like_model
from botorch_ubo.compat.botorch_private import (
    LogValues,
    log_ei_helper,
    mean_and_sigma,
    scaled_improvement,
)
from botorch_ubo.models.space import to_model_space
from botorch_ubo.models.structure import spread
from botorch_ubo.models.training_data import observed_objective


class LogRegularizedExpectedImprovement(LogValues, AnalyticAcquisitionFunction):
    r"""Logarithm of expected improvement under a penalty on distance [Shahriari2016].

    ``LogREI(x) = log(E(max(f(x) - best_f - scale * xi(x), 0)))``, computed as in
    [Ament2023logei]: plain EI underflows where the penalty is large. The penalty ``xi`` acts in
    the model's input space (after its ``input_transform``), is in units of ``scale``, by
    default the standard deviation of the observed outcomes, and raises the target everywhere, as
    in the experiments of [Ha2019].

    Example:
        >>> model = SingleTaskGP(train_X, train_Y)
        >>> penalty = HingeQuadraticPenalty.from_bounds(bounds)
        >>> LogREI = LogRegularizedExpectedImprovement(model, best_f=0.2, penalty=penalty)
        >>> rei = LogREI(test_X)
    """

    best_f: Tensor
    scale: Tensor

    def __init__(
        self,
        model: Model,
        best_f: float | Tensor,
        penalty: Penalty,
        scale: float | Tensor | None = None,
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
            posterior_transform: A PosteriorTransform. If using a multi-output model,
                a PosteriorTransform that transforms the multi-output posterior into a
                single-output posterior is required.
            maximize: If True, consider the problem a maximization problem.
        """
        super().__init__(model=model, posterior_transform=posterior_transform)
        if scale is None:
            observed = observed_objective(model, posterior_transform)
            if observed is None:
                raise UnsupportedError(
                    f"Expected a `scale` with {type(model).__name__}, which does not keep the "
                    "outcomes from which it would follow. Pass their standard deviation."
                )
            scale = spread(observed)
        self.register_buffer("best_f", like_model(model, best_f))
        self.register_buffer("scale", like_model(model, scale))
        self.penalty = penalty
        self.maximize = maximize

    @t_batch_mode_transform(expected_q=1)
    @average_over_ensemble_models  # type: ignore[arg-type]  # annotated for the base class only
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate the logarithm of regularised expected improvement on the candidate set X.

        Args:
            X: A ``(b1 x ... bk) x 1 x d``-dim batched tensor of ``d``-dim design points.

        Returns:
            A ``(b1 x ... bk)``-dim tensor of values.
        """
        mean, sigma = mean_and_sigma(self, X)  # (b1 x ... bk) x 1, with members before the 1
        cost = self.penalty(to_model_space(self.model, X))  # (b1 x ... bk) x 1
        if mean.dim() > cost.dim():
            cost = cost.unsqueeze(-2)
        u = scaled_improvement(mean, sigma, self.best_f, self.maximize)
        u = u - self.scale * cost / sigma
        return (log_ei_helper(u) + sigma.log()).squeeze(-1)
