r"""Log expected improvement of a :class:`QuickGP`, also beyond pending points.

The value is that of BoTorch's ``LogExpectedImprovement``, except that variances have the model's
floor and not one in units of the outcomes. It is computed on the CPU by numpy: with tens of
observations a tensor operation costs more than the arithmetic in it.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import UnsupportedError
from botorch.utils.transforms import t_batch_mode_transform
from gpytorch.settings import min_variance
from torch import Tensor

from botorch_ubo.compat.botorch_private import LogValues
from botorch_ubo.models.quick.factored import FactoredPosterior, to_array
from botorch_ubo.models.quick.gp import QuickGP
from botorch_ubo.models.quick.improvement import NumpyLogEI
from botorch_ubo.models.quick.written_out import ClosedForm, ValuesAndGradients


class QuickLogExpectedImprovement(LogValues, AcquisitionFunction):
    r"""Log expected improvement of a :class:`QuickGP`, for models on the CPU.

    With pending points, that of one more point beyond what they may bring. For several points,
    choose one after another: ``optimize_acqf(..., sequential=True)``.

    Example:
        >>> model = fit_default_model(X, Y, bounds)
        >>> acqf = QuickLogExpectedImprovement(model, best_f=Y.max())
        >>> optimize_acqf(acqf, bounds, q=1, num_restarts=10, raw_samples=512)
    """

    def __init__(
        self,
        model: QuickGP,
        best_f: float | Tensor,
        maximize: bool = True,
        X_pending: Tensor | None = None,
        seed: int = 0,
    ) -> None:
        r"""Log expected improvement.

        Args:
            model: A fitted model.
            best_f: The value to improve on, a scalar.
            maximize: If True, consider the problem a maximization problem.
            X_pending: ``m x d`` points that are being evaluated.
            seed: Of the outcomes that pending points may have.
        """
        super().__init__(model)
        self.best_f = float(best_f)
        self.maximize = maximize
        self.seed = seed
        self._known: tuple[Any, NumpyLogEI] | None = None
        self.set_X_pending(X_pending)
        self.formula()  # a model without it is refused here, not in the midst of a search

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]  # annotated for the base class
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate log expected improvement on the candidate set X.

        Args:
            X: A ``b x 1 x d``-dim batch of points.

        Returns:
            A ``b``-dim tensor.
        """
        factored, formula = self.formula()
        points = self._points(factored, X.squeeze(-2))
        values: Tensor = WrittenOut.apply(points.reshape(-1, X.shape[-1]), formula)
        return values.reshape(X.shape[:-2])

    def closed_form(self) -> ClosedForm | None:
        """The formula of raw inputs; ``None`` if the way to them is not affine."""
        if type(self) is not QuickLogExpectedImprovement:  # a subclass may have other values
            return None
        factored, formula = self.formula()
        if not factored.affine:
            return None
        rough = formula.roughly() if len(formula.root) else None
        return ClosedForm(formula, factored.origin, factored.slope, rough)

    def formula(self) -> tuple[FactoredPosterior, NumpyLogEI]:
        """The model's factored posterior, and the formula made of it."""
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
        p = model.factored()
        # Held, not compared by value: an object that is alive cannot be mistaken for another.
        sources = (p, self.X_pending, self.best_f, self.maximize, self.seed)
        if self._known is None or not all(map(_same, self._known[0], sources)):
            self._known = sources, self._build(p)
        return p, self._known[1]

    def _build(self, p: FactoredPosterior) -> NumpyLogEI:
        sign = 1.0 if self.maximize else -1.0
        scale = float(p.Y_scale)
        formula = NumpyLogEI.of(
            p.arrays,
            gap=sign * (float(p.prior_mean) - (self.best_f - float(p.Y_mean)) / scale),
            sign=sign,
            min_variance=min_variance.value(p.X.dtype),
            log_scale=math.log(scale),
        )
        if self.X_pending is None or not len(self.X_pending):
            return formula
        pending = self._points(p, self.X_pending.to(p.X))
        return formula.beyond(to_array(pending), self.seed)

    def _points(self, p: FactoredPosterior, X: Tensor) -> Tensor:
        """Raw inputs (``... x d``) in length-scales from the origin."""
        return ((X if p.affine else self.model.transform_inputs(X)) - p.origin) * p.slope


def _same(known: Any, now: Any) -> bool:
    return known is now or (isinstance(now, bool | float | int) and known == now)


class WrittenOut(torch.autograd.Function):
    """A formula as a function of tensors, with the gradient that it has written out."""

    @staticmethod
    def forward(ctx: Any, points: Tensor, formula: ValuesAndGradients) -> Tensor:
        """The ``b`` values at ``b x d`` points."""
        values, gradient = formula(to_array(points), ctx.needs_input_grad[0])
        ctx.save_for_backward(torch.from_numpy(gradient).to(points))
        return torch.from_numpy(values).to(points)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        """The gradient that the formula had with them."""
        if torch.is_grad_enabled():  # under `create_graph`
            raise UnsupportedError(
                "Expected to be differentiated once; a second derivative was asked for. Use "
                "BoTorch's LogExpectedImprovement."
            )
        (gradient,) = ctx.saved_tensors
        return grad_output.unsqueeze(-1) * gradient, None
