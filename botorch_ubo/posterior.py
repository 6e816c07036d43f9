r"""What the expansion theorem needs from a fitted exact GP, by one route for every model.

=============  ==========================  =====================  ==============================
paper          name                        shape                  meaning
=============  ==========================  =====================  ==============================
``D_{t-1}``    ``X``                       ``n x d``              training inputs, model space
``K + s^2 I``  (inside)                    ``S x M x n x n``      prior covariance plus noise
``z``          ``z``                       ``S x M x n``          ``(K + s^2 I)^{-1} (y - c)``
``lambda_max`` ``lambda_max``              ``S x M``              top eigenvalue of the inverse
``theta``      ``theta``                   ``S x M``              ``sqrt(k(x, x))``
--             ``noise``                   ``S x M``              mean variance of the noise
``m_0``        ``prior_mean``              ``S x M``              constant prior mean ``c``
--             ``Y_mean``, ``Y_scale``     ``S x M``              ``Y_raw = Y_scale * y + Y_mean``
--             ``weights``, ``offset``     ``M``, scalar          objective ``w . Y + offset``
=============  ==========================  =====================  ==============================

``S`` counts the members of an ensemble (an acquisition value is their average), ``M`` the
independent outputs that a linear posterior transform combines; both are 1 for a plain model.
All of it is in double precision whatever the model's dtype: in single precision ``lambda_max``
was seen 17 times too small.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from botorch.acquisition.objective import PosteriorTransform, ScalarizedPosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models import MultiTaskGP
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.transforms.input import (
    AffineInputTransform,
    ChainedInputTransform,
    InputTransform,
    Log10,
)
from botorch.models.transforms.outcome import Standardize
from gpytorch.kernels import Kernel
from gpytorch.models import ExactGP
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor


@dataclass(frozen=True)
class PosteriorSummary:
    """A fitted exact GP, reduced to what the theorem needs; shapes are in the module's table."""

    X: Tensor
    z: Tensor
    lambda_max: Tensor
    theta: Tensor
    noise: Tensor
    prior_mean: Tensor
    Y_mean: Tensor
    Y_scale: Tensor
    weights: Tensor
    offset: float
    kernel: Kernel
    targets: Tensor
    """``S x M x n`` outcomes in the model's units."""
    Y: Tensor
    """``n``-dim observed objective in raw units."""
    Y_std: float
    """Standard deviation of the observed objective: the unit in which epsilon is given."""
    Y_range: float
    """Largest minus smallest observed objective."""

    @property
    def n(self) -> int:
        """Number of observations."""
        return self.X.shape[0]

    @property
    def d(self) -> int:
        """Number of input dimensions."""
        return self.X.shape[1]

    @property
    def mean_at_infinity(self) -> Tensor:
        """Posterior mean of the objective far from all data, per member (``S``)."""
        means = self.Y_mean + self.Y_scale * self.prior_mean
        return (means * self.weights).sum(dim=-1) + self.offset

    @property
    def sigma_at_infinity(self) -> Tensor:
        """Posterior standard deviation of the objective far from all data, per member (``S``)."""
        return (self.weights * self.Y_scale * self.theta).square().sum(dim=-1).sqrt()

    @property
    def noise_std(self) -> float:
        """Standard deviation of the objective's noise in raw units, averaged over members."""
        scale = self.weights * self.Y_scale
        return float((scale.square() * self.noise.clamp_min(0)).sum(dim=-1).sqrt().mean())

    def per_member(self, values: Tensor) -> Tensor:
        """Bring a ``kernel_batch_shape x d``-dim tensor to ``S x M x d``."""
        shape = (*self.theta.shape, values.shape[-1])
        return values.reshape(shape) if self.kernel.batch_shape else values.expand(shape)


def summarize_posterior(
    model: ExactGP, posterior_transform: PosteriorTransform | None = None
) -> PosteriorSummary:
    r"""Reduce a fitted exact GP to the quantities of Theorem 4.1.

    Args:
        model: A fitted exact GP in evaluation mode: a ``SingleTaskGP``, or an ensemble of them
            such as ``EnsembleMapSaasSingleTaskGP``.
        posterior_transform: ``None`` for a single-output model, or a
            ``ScalarizedPosteriorTransform`` that makes one objective of the outputs.

    Returns:
        The summary, in double precision on the model's device.

    Raises:
        UnsupportedError: If the theorem does not cover the model.
    """
    model = check_model(model)
    weights, offset = _objective_weights(model, posterior_transform)
    with torch.no_grad():
        if model.train_targets.dtype != torch.double:
            model = copy.deepcopy(model).double()
        X = model.train_inputs[0]  # batch x n x d; transformed, since the model is in eval mode
        prior = model.forward(X)
        noisy = model.likelihood(prior, [X])
        covariance = noisy.covariance_matrix
        residual = (model.train_targets - noisy.mean).unsqueeze(-1)
        cholesky = psd_safe_cholesky(covariance)
        z = torch.cholesky_solve(residual, cholesky).squeeze(-1)
        smallest = torch.linalg.eigvalsh(covariance)[..., 0]
        # Rounding can make the smallest eigenvalue negative; the factor that was really solved
        # with (jitter included) bounds it from below.
        floor = torch.finfo(torch.double).eps * covariance.diagonal(dim1=-2, dim2=-1).sum(-1)
        variance = prior.lazy_covariance_matrix.diagonal(dim1=-1, dim2=-2)
        _check_constant(model, X, prior.mean, variance)
        shape = _member_shape(model)
        mean, scale = _outcome_scale(model, shape, X)
        targets = model.train_targets.expand_as(noisy.mean).reshape(*shape, -1)
        Y = targets * scale.unsqueeze(-1) + mean.unsqueeze(-1)
        objective = (Y[0] * weights.to(Y).unsqueeze(-1)).sum(dim=0) + offset
        return PosteriorSummary(
            X=X.reshape(-1, *X.shape[-2:])[0],
            z=z.reshape(*shape, -1),
            lambda_max=smallest.clamp_min(floor).reciprocal().reshape(shape),
            theta=variance[..., 0].sqrt().reshape(shape),
            noise=(covariance.diagonal(dim1=-2, dim2=-1) - variance).mean(dim=-1).reshape(shape),
            prior_mean=prior.mean[..., 0].reshape(shape).detach(),  # a view of the parameter
            Y_mean=mean,
            Y_scale=scale,
            weights=weights.to(X),
            offset=offset,
            kernel=model.covar_module,
            targets=targets,
            Y=objective,
            Y_std=_std(objective),
            Y_range=float(objective.max() - objective.min()),
        )


def check_model(model: ExactGP) -> ExactGP:
    r"""Refuse a model that the theorem does not cover, or that was not fitted.

    Args:
        model: Any BoTorch model.

    Returns:
        The model, known to be an exact GP.

    Raises:
        UnsupportedError: With what was expected, what came and what to do.
    """
    name = type(model).__name__
    exact = isinstance(model, ExactGP) and isinstance(model, GPyTorchModel)
    simple = exact and hasattr(model, "covar_module") and hasattr(model, "mean_module")
    if not simple or isinstance(model, MultiTaskGP) or model.train_inputs is None:
        raise UnsupportedError(
            f"Expected an exact GP with one mean and one covariance module; got {name}, which the "
            "expansion theorem does not cover. Use a SingleTaskGP (one per outcome) or an ensemble "
            "of them such as EnsembleMapSaasSingleTaskGP."
        )
    if model.train_targets.shape != model.train_inputs[0].shape[:-1]:
        raise UnsupportedError(
            "Expected independent outputs, with targets of shape "
            f"{tuple(model.train_inputs[0].shape[:-1])}; got {name} with targets of shape "
            f"{tuple(model.train_targets.shape)}. Use a "
            "SingleTaskGP instead of a multi-task model."
        )
    if model.training or model.covar_module is None:
        state = "is in training mode" if model.training else "has no kernel yet"
        raise UnsupportedError(
            f"Expected a fitted model in evaluation mode; this {name} {state}, so it was probably "
            "never fitted. Call `fit_gpytorch_mll(ExactMarginalLogLikelihood("
            "model.likelihood, model))`, or `model.eval()` if its hyper-parameters were set "
            "another way."
        )
    batch_shape = model.train_inputs[0].shape[:-2]
    ensemble = getattr(model, "_is_ensemble", False)
    if len(batch_shape) > 1 or (batch_shape and not ensemble and model.num_outputs == 1):
        raise UnsupportedError(
            f"Expected one set of training data; got {name} with batch shape {tuple(batch_shape)}. "
            "Fit one model per data set."
        )
    _check_transforms(model)
    return model


def _check_transforms(model: ExactGP) -> None:
    transform = getattr(model, "input_transform", None)
    parts = transform.values() if isinstance(transform, ChainedInputTransform) else [transform]
    for part in parts:
        if not isinstance(part, AffineInputTransform | Log10 | None) or _rotates(part):
            raise UnsupportedError(
                "Expected an input transform that is invertible beyond the data, dimension by "
                f"dimension: Normalize, InputStandardize or Log10; got {type(part).__name__}. "
                "Remove it, or apply it to the data before the model."
            )
    outcome = getattr(model, "outcome_transform", None)
    if not isinstance(outcome, Standardize | None):
        raise UnsupportedError(
            "Expected `outcome_transform` to be Standardize or None, so that the limit of an upper "
            f"confidence bound is linear in the model's; got {type(outcome).__name__}. Transform "
            "the outcomes before the model is built."
        )


def _rotates(transform: InputTransform | None) -> bool:
    coefficient = getattr(transform, "coefficient", None)
    return coefficient is not None and bool((coefficient <= 0).any())


def _check_constant(model: ExactGP, X: Tensor, mean: Tensor, variance: Tensor) -> None:
    shifted = X + 1e3 * (1 + X.abs().max())  # one datum alone would look constant
    means = torch.cat([mean, model.mean_module(shifted).expand_as(mean)], dim=-1)
    if not torch.allclose(means, means[..., :1], atol=1e-8 * float(variance.max()) ** 0.5):
        raise UnsupportedError(
            "Expected a constant prior mean, so that the upper confidence bound has a limit at "
            f"infinity; got {type(model.mean_module).__name__}. Use ConstantMean or ZeroMean."
        )
    far = model.covar_module(shifted, diag=True).expand_as(variance)
    variance = torch.cat([variance, far], dim=-1)
    if not torch.allclose(variance, variance[..., :1], atol=0.0):
        raise UnsupportedError(
            "Expected a kernel with the same prior variance everywhere (Assumption 4.2); got "
            f"{type(model.covar_module).__name__} with k(x, x) from {variance.min():.3g} to "
            f"{variance.max():.3g}. Use a stationary kernel."
        )


def _member_shape(model: ExactGP) -> tuple[int, int]:
    """``(S, M)``: members of the ensemble, outputs that are combined."""
    if getattr(model, "_is_ensemble", False):
        return model.batch_shape[0], 1  # a fully Bayesian model keeps one copy of its data
    return 1, model.num_outputs


def _objective_weights(
    model: ExactGP, posterior_transform: PosteriorTransform | None
) -> tuple[Tensor, float]:
    if posterior_transform is None:
        if model.num_outputs != 1:
            raise UnsupportedError(
                f"Expected a single-output model or a posterior transform; got {model.num_outputs} "
                "outputs. Pass `posterior_transform=ScalarizedPosteriorTransform(weights)`."
            )
        return torch.ones(1, dtype=torch.double), 0.0
    if not isinstance(posterior_transform, ScalarizedPosteriorTransform):
        raise UnsupportedError(
            "Expected a ScalarizedPosteriorTransform, which keeps the objective a Gaussian process;"
            f" got {type(posterior_transform).__name__}."
        )
    weights: Tensor = posterior_transform.get_buffer("weights").to(torch.double)
    if weights.numel() != model.num_outputs:
        raise UnsupportedError(
            f"Expected one weight per output ({model.num_outputs}); got {weights.numel()}. Pass "
            "`ScalarizedPosteriorTransform(weights)` with that many weights."
        )
    return weights, float(posterior_transform.offset)


def _outcome_scale(model: ExactGP, shape: tuple[int, int], like: Tensor) -> tuple[Tensor, Tensor]:
    outcome = getattr(model, "outcome_transform", None)
    if outcome is None:
        return like.new_zeros(shape), like.new_ones(shape)
    mean, scale = outcome.means.to(like), outcome.stdvs.to(like)
    # Standardize keeps `batch_shape x 1 x m`; an ensemble repeats its one output.
    count = shape[0] * shape[1]
    return mean.reshape(-1).expand(count).reshape(shape), scale.reshape(-1).expand(count).reshape(
        shape
    )


def _std(values: Tensor) -> float:
    std = float(values.std()) if values.numel() > 1 else 0.0
    # As Standardize does for constant data; relative, so that tiny outcomes keep their scale.
    return std if std > 1e-8 * max(float(values.abs().max()), 1e-300) else 1.0
