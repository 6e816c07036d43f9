r"""Keep proposals away from points that should not be proposed again.

References:
.. [Gonzalez2016]
    J. Gonzalez, Z. Dai, P. Hennig, and N. Lawrence. Batch Bayesian Optimization via Local
    Penalization. AISTATS 2016.
"""

from __future__ import annotations

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.utils.transforms import t_batch_mode_transform
from gpytorch.models import ExactGP
from torch import Tensor
from torch.nn.functional import softplus

from botorch_ubo.boxes import to_model_space

_MIN_FACTOR = 1e-12  # keeps the logarithm finite at an avoided point itself
_AVOIDED_REACH = 0.1  # of a length-scale


class RepelledAcquisition(AcquisitionFunction):
    r"""An acquisition function that keeps away from given points.

    ``log a(x) + sum_p log(1 - rho(x, p)^2)``, in the manner of local penalisation
    [Gonzalez2016]_. The factor ``1 - rho^2`` is the share of the prior variance that an exact
    observation at ``p`` would leave at ``x``: zero at ``p``, one beyond the kernel's reach. Around
    points that are only to be avoided, ``rho`` falls ten times faster: that ``x`` failed says
    little about a neighbour, which may well be the best point left. Values that are not
    logarithmic are made positive first, ``a = softplus((v - reference) / scale)``.

    It serves points whose evaluation failed: they bring no information, so that a Monte Carlo
    acquisition function must not count on their outcome as it does for pending points. It also
    gives pending points to functions that have no Monte Carlo form.

    Example:
        >>> acqf = RepelledAcquisition(LogExpectedImprovement(model, best_f=0.2), X_failed)
    """

    _log = True
    model: ExactGP
    X_pending: Tensor | None  # type: ignore[assignment]  # the base class knows no absence

    def __init__(
        self,
        acq_function: AcquisitionFunction,
        X_avoid: Tensor | None = None,
        reference: float = 0.0,
        scale: float = 1.0,
    ) -> None:
        r"""An acquisition function that keeps away from given points.

        Args:
            acq_function: An acquisition function of an exact GP, called with ``q = 1``.
            X_avoid: ``m x d`` points to keep away from.
            reference: For values that are not logarithmic: the value that is worth little.
            scale: Their unit.
        """
        super().__init__(model=acq_function.model)
        self.acq_function = acq_function
        self.X_avoid = X_avoid
        self.reference, self.scale = reference, scale
        self.X_pending = getattr(acq_function, "X_pending", None)

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:
        r"""Hand pending points to the acquisition function, or avoid them if it takes none.

        Args:
            X_pending: ``m x d`` points that are being evaluated.
        """
        self.X_pending = X_pending
        if hasattr(self.acq_function, "X_pending"):
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
        if not getattr(self.acq_function, "_log", False):
            value = softplus((value - self.reference) / self.scale).log()
        if self.X_avoid is not None:
            value = value + self._penalty(X, self.X_avoid, 1 / _AVOIDED_REACH)
        if self.X_pending is not None and not hasattr(self.acq_function, "X_pending"):
            value = value + self._penalty(X, self.X_pending, 1.0)
        return value

    def _penalty(self, X: Tensor, points: Tensor, stretch: float) -> Tensor:
        kernel = self.model.covar_module
        inputs = to_model_space(self.model, X.squeeze(-2))  # b x d
        others = to_model_space(self.model, points.to(X))  # m x d
        # Each pair on its own, as a difference: distances can then be stretched.
        steps = stretch * (inputs.unsqueeze(-2) - others).reshape(-1, X.shape[-1])  # (b m) x d
        correlation = kernel(steps, torch.zeros_like(steps), diag=True) / kernel(
            torch.zeros_like(steps), diag=True
        )
        factor = (1 - correlation.square()).clamp_min(_MIN_FACTOR)
        penalty = factor.log().reshape(-1, len(X), len(points)).sum(dim=-1)
        return penalty.mean(dim=0)  # over the members of an ensemble
