r"""Keep away from where evaluations failed: an acquisition function times a chance of success.

The chance is the share of successes among the evaluations around a point, weighted by inverse
distance (Shepard's interpolation of "it worked" and "it did not"),

``p(x) = sum_{s worked} |x - s|^-(d+1) / sum_{e any} |x - e|^-(d+1)``,

with distances in length-scales. It is 0 at a failure, 1 at a success, and the share of all
successes far away from both. It has no scale of its own, so that the edge of what works is
approached by something like bisection, however wide the box. Failures stay out of the model: they
bring no information on values, and unlike pending points no outcome to count on.

Weighting expected improvement by a chance of feasibility goes back to [Schonlau1998].

References:
    [Schonlau1998] M. Schonlau, W. J. Welch, and D. R. Jones. Global versus local search in
    constrained optimization of computer models. IMS Lecture Notes 34, 1998.
"""

from __future__ import annotations

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.utils.transforms import t_batch_mode_transform
from gpytorch.models import ExactGP
from torch import Tensor
from torch.nn.functional import softplus

from botorch_ubo.boxes import to_model_space

_MIN_SQUARED_DISTANCE = 1e-12  # keeps the logarithm finite at a failure itself


class LogFeasibilityWeighted(AcquisitionFunction):
    r"""``log a(x) + log p(x)`` for an acquisition function ``a`` and a chance of success ``p``.

    ``a`` itself is used if its values are logarithms. For any other ``v``, it is the logarithm of
    ``softplus((v - m) / s)``, with ``m`` and ``s`` its maximum and range over the successes: a
    monotone function of ``v`` that is positive, as a product with a chance needs it.

    Example:
        >>> acqf = LogExpectedImprovement(model, best_f)
        >>> acqf = LogFeasibilityWeighted(acqf, X, X_failed, lengthscales)
    """

    _log = True
    model: ExactGP

    def __init__(
        self,
        acq_function: AcquisitionFunction,
        X_success: Tensor,
        X_failed: Tensor,
        lengthscales: Tensor,
    ) -> None:
        r"""``log a(x) + log p(x)``.

        Args:
            acq_function: The acquisition function, of an exact GP; pending points are its own.
            X_success: ``n x d`` points whose evaluation succeeded, in raw units.
            X_failed: ``m x d`` points whose evaluation failed, in raw units.
            lengthscales: ``d``-dim units of distance, in the model's input space.
        """
        super().__init__(model=acq_function.model)
        self.acq_function = acq_function
        self.num_success = len(X_success)
        points = torch.cat([X_success, X_failed.to(X_success)])
        self.lengthscales = lengthscales.to(X_success)
        self.points = to_model_space(self.model, points).detach() / self.lengthscales
        self.power = X_success.shape[-1] + 1
        self.shift, self.unit = 0.0, 1.0
        if not acq_function._log:
            with torch.no_grad():
                values = acq_function(X_success.unsqueeze(-2))
            self.shift = float(values.max())
            self.unit = float(values.max() - values.min()) or 1.0

    @property
    def X_pending(self) -> Tensor | None:  # type: ignore[override]
        """Pending points of the acquisition function; absent if it takes none."""
        return self.acq_function.X_pending

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:
        r"""Hand pending points to the acquisition function.

        Args:
            X_pending: ``m x d`` points that are being evaluated.
        """
        self.acq_function.set_X_pending(X_pending)

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]  # annotated for the base only
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate on the candidate set X.

        Args:
            X: A ``(b) x 1 x d``-dim tensor of design points.

        Returns:
            A ``(b)``-dim tensor of values.
        """
        value = self.acq_function(X)
        if not self.acq_function._log:
            scaled = (value - self.shift) / self.unit
            # log(softplus(v)) is v itself, to machine precision, long before exp(v) underflows.
            value = torch.where(scaled > -30, softplus(scaled.clamp_min(-30)).log(), scaled)
        return value + self.log_chance(X.squeeze(-2))

    def log_chance(self, X: Tensor) -> Tensor:
        """Logarithm of the chance of success at ``b x d`` points (``b``)."""
        scaled = to_model_space(self.model, X) / self.lengthscales
        squared = (scaled.unsqueeze(-2) - self.points).square().sum(dim=-1)  # b x (n + m)
        weights = -self.power / 2 * squared.clamp_min(_MIN_SQUARED_DISTANCE).log()
        return weights[..., : self.num_success].logsumexp(dim=-1) - weights.logsumexp(dim=-1)
