r"""A ``SingleTaskGP`` that answers the question of an acquisition optimisation at little cost.

With tens of observations, nine tenths of an acquisition optimisation go to the generality of the
machinery around the arithmetic. The optimisation asks for one thing, thousands of times: mean and
variance at single points. :class:`QuickGP` answers that with one kernel evaluation and one
triangular solve, and everything else as its parent does.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from botorch.acquisition.objective import PosteriorTransform
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import ChainedInputTransform
from botorch.models.transforms.outcome import Standardize
from botorch.posteriors.gpytorch import GPyTorchPosterior
from botorch.posteriors.transformed import TransformedPosterior
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.means import ConstantMean, ZeroMean
from gpytorch.settings import min_variance
from linear_operator.operators import DiagLinearOperator
from torch import Tensor

from botorch_ubo.models.gram import Gram
from botorch_ubo.models.outcome_units import RobustStandardize
from botorch_ubo.models.quick.factored import FactoredPosterior

_Sources = tuple[tuple[Tensor, int], ...]


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


class QuickGP(SingleTaskGP):
    """A single-output GP with a squared exponential kernel (scaled or not), quick at single points.

    A ``SingleTaskGP`` in every respect: mean and variance at ``b x 1 x d`` points are the same
    numbers, found in a shorter way. They have gradients with respect to the points, not to the
    hyper-parameters. With another kernel, a mean that is not constant or outcomes that are not
    standardised, it is as quick as its parent.
    """

    _factored: tuple[_Sources, FactoredPosterior] | None = None

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
        p = self.factored()
        points = X if p.affine else self.transform_inputs(X)
        mean, variance = p.mean_and_variance(points.squeeze(-2))
        variance = variance.clamp_min(min_variance.value(X.dtype))
        posterior = PointPosterior(
            (p.Y_mean + p.Y_scale * mean).reshape(-1, 1, 1),
            p.Y_scale.square() * variance.reshape(-1, 1, 1),
        )
        return posterior if posterior_transform is None else posterior_transform(posterior, X)

    def train(self, mode: bool = True) -> QuickGP:
        """See ``torch.nn.Module``; as gpytorch does, forget what was computed from parameters."""
        self._factored = None
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
            and (outcome is None or type(outcome) in (Standardize, RobustStandardize))
            and not getattr(transform, "is_one_to_many", False)
        )

    def factored(self) -> FactoredPosterior:
        """What the shortcut needs, computed once: this is the one cache of the fast path."""
        tensors = (*self.parameters(), *self.train_inputs, self.train_targets)
        known = self._factored
        if known is None or not all(
            tensor is source and tensor._version == version
            for tensor, (source, version) in zip(tensors, known[0], strict=True)
        ):
            sources = tuple((tensor, tensor._version) for tensor in tensors)
            known = self._factored = sources, self._factor()
        return known[1]

    def _factor(self) -> FactoredPosterior:
        return FactoredPosterior.of(self)

    def means_at_data(self) -> Tensor | None:
        """``n`` posterior means at the training inputs, in raw units; where there is a shortcut."""
        transform = getattr(self, "input_transform", None)
        if self.training or not self.has_shortcut() or not _same_for_all(transform):
            return None
        p = self.factored()
        return p.Y_mean + p.Y_scale * p.mean_at_data

    def training_gram(self) -> Gram:
        """``K + Sigma`` and its factor: the shortcut's, where there is one."""
        return self.factored().gram if self.has_shortcut() else Gram.of(self)


def _same_for_all(transform: Any) -> bool:
    """Whether training inputs and those of a posterior go through the same map."""
    if isinstance(transform, ChainedInputTransform):
        return all(map(_same_for_all, transform.values()))
    return transform is None or bool(transform.transform_on_train and transform.transform_on_eval)
