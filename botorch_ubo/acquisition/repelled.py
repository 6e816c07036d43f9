r"""Pending points for acquisition functions that propose one point at a time.

References:
    [Gonzalez2016] J. Gonzalez, Z. Dai, P. Hennig, and N. Lawrence. Batch Bayesian Optimization via
    Local Penalization. AISTATS 2016.
"""

from __future__ import annotations

from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.utils.transforms import t_batch_mode_transform
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.compat.botorch_private import LogValues
from botorch_ubo.models.space import to_kernel_space

_MIN_FACTOR = 1e-12  # keeps the logarithm finite at a pending point itself


class LogRepelledAcquisition(LogValues, AcquisitionFunction):
    r"""A logarithmic acquisition function that keeps away from pending points.

    ``log a(x) + sum_p log(1 - rho(x, p)^2)``, in the manner of local penalisation
    [Gonzalez2016]. The factor ``1 - rho^2`` is the share of the prior variance that an exact
    observation at ``p`` would leave at ``x``: zero at ``p``, one beyond the kernel's reach. It
    serves functions that have no Monte Carlo form; where BoTorch has one, use that.

    Example:
        >>> acqf = LogRepelledAcquisition(LogExpectedImprovement(model, best_f=0.2))
        >>> acqf.set_X_pending(X_pending)
    """

    model: ExactGP

    def __init__(self, acq_function: AcquisitionFunction, X_pending: Tensor | None = None) -> None:
        r"""A logarithmic acquisition function that keeps away from pending points.

        Args:
            acq_function: A ``q = 1`` acquisition function with logarithmic values, of an exact GP.
            X_pending: ``m x d`` pending points.
        """
        super().__init__(model=acq_function.model)
        self.acq_function = acq_function
        self.set_X_pending(X_pending)

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]  # annotated for the base only
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate on the candidate set X.

        Args:
            X: A ``(b) x 1 x d``-dim tensor of design points.

        Returns:
            A ``(b)``-dim tensor of values.
        """
        value = self.acq_function(X)
        if self.X_pending is None:
            return value
        kernel = self.model.covar_module
        points = to_kernel_space(self.model, X.squeeze(-2))  # b x d
        pending = to_kernel_space(self.model, self.X_pending.to(X))
        covariance = kernel(points, pending).to_dense()  # (members) x b x m
        variance = kernel(points, diag=True).unsqueeze(-1)
        factor = 1 - (covariance / variance).square()
        penalty = factor.clamp_min(_MIN_FACTOR).log().sum(dim=-1)
        return value + penalty.reshape(-1, penalty.shape[-1]).mean(dim=0)
