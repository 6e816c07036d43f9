r"""Log expected improvement of a :class:`QuickGP`, with its gradient written out.

With ``u = (mu - best_f) / sigma`` and ``EI = sigma h(u)``, ``h(u) = phi(u) + u Phi(u)``, the
derivatives are ``dEI/dmu = Phi(u)`` and ``dEI/dsigma = phi(u)``, so

``d log EI = (Phi(u) dmu + phi(u) dsigma) / (sigma h(u))``,

and those of mean and variance are products of the kernel with ``z`` and ``C^{-1} k``.

The value is that of BoTorch's ``LogExpectedImprovement``, except that variances have the model's
floor and not one in units of the outcomes. It is computed on the CPU by numpy: with tens of
observations a tensor operation costs more than the arithmetic in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import UnsupportedError
from botorch.utils.transforms import t_batch_mode_transform
from gpytorch.settings import min_variance
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import erfcx, ndtr
from torch import Tensor

from botorch_ubo.quick_gp import Prepared, QuickGP

Array = NDArray[np.float64]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_FAR = 1e150  # length-scales, whose squares are still numbers


class QuickLogExpectedImprovement(AcquisitionFunction):
    r"""Log expected improvement of a :class:`QuickGP`, for models on the CPU.

    Example:
        >>> model = fit_default_model(X, Y, bounds)
        >>> acqf = QuickLogExpectedImprovement(model, best_f=Y.max())
        >>> optimize_acqf(acqf, bounds, q=1, num_restarts=10, raw_samples=512)
    """

    _log = True

    def __init__(
        self,
        model: QuickGP,
        best_f: float | Tensor,
        maximize: bool = True,
    ) -> None:
        r"""Log expected improvement.

        Args:
            model: A fitted model.
            best_f: The value to improve on, a scalar.
            maximize: If True, consider the problem a maximization problem.
        """
        super().__init__(model)
        self.best_f = float(best_f)
        self.maximize = maximize
        self._known: tuple[Prepared, tuple[float, bool], Formula] | None = None
        self.prepare()

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]  # annotated for the base class
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate log expected improvement on the candidate set X.

        Args:
            X: A ``b x 1 x d``-dim batch of points.

        Returns:
            A ``b``-dim tensor.
        """
        prepared, formula = self.prepare()
        if not prepared.affine:
            X = self.model.transform_inputs(X)
        points = (X.squeeze(-2) - prepared.origin) * prepared.slope
        values: Tensor = _LogImprovement.apply(points.reshape(-1, X.shape[-1]), formula)
        return values.reshape(X.shape[:-2])

    def prepare(self) -> tuple[Prepared, Formula]:
        """What the model has prepared, and the formula made of it; anew if anything changed."""
        model: QuickGP = self.model  # type: ignore[assignment]  # it is one, see __init__
        if model.training:  # as `posterior` does
            model.eval()
        if not model.has_shortcut():
            raise UnsupportedError(
                "Expected a QuickGP of one output with a squared exponential kernel and a constant "
                f"mean; got a kernel {type(model.covar_module).__name__}, a mean "
                f"{type(model.mean_module).__name__} and {model.num_outputs} output(s). Use "
                "BoTorch's LogExpectedImprovement."
            )
        arguments = (self.best_f, self.maximize)
        prepared = model.prepare()
        known = self._known
        if known is None or known[0] is not prepared or known[1] != arguments:
            known = self._known = prepared, arguments, Formula.of(prepared, *arguments)
        return prepared, known[2]


@dataclass(frozen=True)
class Formula:
    """The formulas above in numpy, for points in length-scales from the model's origin."""

    X: Array
    """``n x d`` training inputs."""
    half_norms: Array
    """``n``-dim: half the squared norms of ``X``."""
    variance: float
    """Of the prior."""
    min_variance: float
    inverse: Array
    """``n x n``: the inverse of the Cholesky factor of ``C``."""
    z: Array
    """``n``-dim: ``C^{-1} (y - c)``, with the sign under which improvement is upwards."""
    gap: float
    """The prior mean less the value to improve on, with that sign."""
    log_scale: float
    """The logarithm of the outcomes' unit."""

    @classmethod
    def of(cls, p: Prepared, best_f: float, maximize: bool) -> Formula:
        """Move to numpy what does not depend on the point."""
        sign = 1.0 if maximize else -1.0
        cholesky = _array(p.cholesky)
        best = (best_f - float(p.Y_mean)) / float(p.Y_scale)
        return cls(
            X=_array(p.X),
            half_norms=_array(p.half_norms),
            variance=float(p.variance),
            min_variance=min_variance.value(p.X.dtype),
            inverse=solve_triangular(cholesky, np.eye(len(cholesky)), lower=True),
            z=sign * _array(p.z.squeeze(-1)),
            gap=sign * (float(p.prior_mean) - best),
            log_scale=math.log(float(p.Y_scale)),
        )

    def __call__(self, points: Array, gradient: bool = True) -> tuple[Array, Array]:
        """The ``b`` values at ``b x d`` points, and ``b x d`` gradients (else nothing)."""
        points = np.clip(points, -_FAR, _FAR)
        # -|a - b|^2 / 2 = a.b - |a|^2 / 2 - |b|^2 / 2
        exponent = points @ self.X.T
        exponent -= self.half_norms
        exponent -= 0.5 * np.einsum("ij,ij->i", points, points)[:, None]
        covariance = self.variance * np.exp(np.minimum(exponent, 0.0))
        half = covariance @ self.inverse.T
        variance = self.variance - np.einsum("ij,ij->i", half, half)
        sigma = np.sqrt(np.maximum(variance, self.min_variance))
        u = (self.gap + covariance @ self.z) / sigma
        log_h, Phi_h, phi_h = improvement_terms(u)
        values = log_h + self.log_scale + np.log(sigma)
        if not gradient:
            return values, np.empty((0, points.shape[-1]))
        by_mean = Phi_h / sigma
        by_sigma = phi_h / sigma
        by_sigma[variance <= self.min_variance] = 0.0  # sigma is constant there
        # dmu = z . dk and dsigma = -(C^{-1} k) . dk / sigma
        weights = np.outer(by_mean, self.z)
        weights -= (by_sigma / sigma)[:, None] * (half @ self.inverse)
        weights *= covariance
        # dk_j / dx = k_j (x_j - x)
        return values, weights @ self.X - weights.sum(axis=-1)[:, None] * points


def improvement_terms(u: Array) -> tuple[Array, Array, Array]:
    """``log h``, ``Phi / h`` and ``phi / h`` of ``h = phi(u) + u Phi(u)``, without cancellation."""
    # h(-w) = phi(w) (1 - w m(w)) with Mills' ratio m(w) = sqrt(pi / 2) erfcx(w / sqrt(2)); far out
    # 1 - w m(w) ~ 1 / (w^2 + 3)
    w = np.maximum(-u, 1.0)  # the lower tail, of which the upper one is not to make infinities
    mills = math.sqrt(math.pi / 2) * erfcx(w / math.sqrt(2))
    rest = np.where(w < 1e3, 1 - w * mills, 1 / (w**2 + 3))
    v = np.maximum(u, -1.0)
    phi, Phi = np.exp(-0.5 * v**2 - _LOG_SQRT_2PI), ndtr(v)
    h = phi + v * Phi
    lower = u < -1.0
    return (
        np.where(lower, -0.5 * u**2 - _LOG_SQRT_2PI + np.log(rest), np.log(h)),
        np.where(lower, mills / rest, Phi / h),
        np.where(lower, 1 / rest, phi / h),
    )


class _LogImprovement(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, points: Tensor, formula: Formula) -> Tensor:
        values, gradient = formula(_array(points), ctx.needs_input_grad[0])
        ctx.save_for_backward(torch.from_numpy(gradient).to(points))
        return torch.from_numpy(values).to(points)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        if torch.is_grad_enabled():  # under `create_graph`
            raise UnsupportedError(
                "Expected to be differentiated once; a second derivative was asked for. Use "
                "BoTorch's LogExpectedImprovement."
            )
        (gradient,) = ctx.saved_tensors
        return grad_output.unsqueeze(-1) * gradient, None


def _array(tensor: Tensor) -> Array:
    array: Array = tensor.detach().to("cpu", torch.double).numpy()
    return array
