r"""One model on a device: the engine of many runs, with one of them.

There a copy to the host costs more than the arithmetic of a fit, so that neither numpy nor SciPy
has a part in it.
"""

from __future__ import annotations

import torch
from botorch.exceptions.errors import ModelFittingError

from botorch_ubo.models.batched.density import NOT_POSITIVE_DEFINITE
from botorch_ubo.models.batched.fit import fit_batched
from botorch_ubo.models.batched.gp import BatchedGP
from botorch_ubo.models.quick import QuickGP


@torch.no_grad()
def fit_on_device(model: QuickGP) -> QuickGP:
    r"""Fit a default model in place where its data are, and put it in evaluation mode.

    Args:
        model: Of :func:`botorch_ubo.models.default_model`, whose noise is to be inferred.

    Returns:
        The model.

    Raises:
        ModelFittingError: If no covariance matrix was positive definite.
    """
    model.train()
    X = model.transform_inputs(model.train_inputs[0]).unsqueeze(0)
    y = model.train_targets.unsqueeze(0)
    present = torch.ones_like(y, dtype=torch.bool)
    fit = fit_batched(X, y, present)
    if not bool(fit.value < NOT_POSITIVE_DEFINITE):
        raise ModelFittingError(
            "Expected a positive definite covariance matrix for some hyper-parameters; found none. "
            "Are there observations at one place that contradict each other?"
        )
    values = fit.p[0].exp()
    model.covar_module.base_kernel.lengthscale = values[:-1]
    model.covar_module.outputscale = values[-1]
    model.likelihood.noise = fit.noise[0]
    model.mean_module.constant.copy_(BatchedGP.of(X, y, present, fit).prior_mean[0])
    return model.eval()


@torch.no_grad()
def as_batch(model: QuickGP, maximize: bool = True) -> BatchedGP | None:
    r"""The posterior of a fitted model as a batch of one.

    Args:
        model: One that has the shortcut (``QuickGP.has_shortcut``).
        maximize: If False, the posterior of the negative.

    Returns:
        The posterior in standardised units, of points in raw ones; ``None`` if the way between
        inputs and length-scales is not affine.
    """
    p = model.factored()
    if not p.affine:
        return None
    sign = 1.0 if maximize else -1.0
    cholesky = p.gram.cholesky.unsqueeze(0)
    eye = torch.eye(len(p.X), dtype=p.X.dtype, device=p.X.device)
    inverse = torch.linalg.solve_triangular(cholesky, eye.unsqueeze(0), upper=False)
    z, log_variance = sign * p.gram.z.unsqueeze(0), p.variance.log()
    residual = sign * p.gram.covariance @ p.gram.z
    return BatchedGP(
        origin=p.origin.reshape(1, 1, -1),
        lengthscales=p.slope.reciprocal().unsqueeze(0),
        variance=p.variance.reshape(1),
        noise=model.likelihood.noise.detach().mean().reshape(1),  # which no search asks for
        prior_mean=sign * p.prior_mean.reshape(1),
        present=torch.ones_like(p.half_norms, dtype=torch.bool).unsqueeze(0),
        X=p.X.unsqueeze(0),
        log_variance=log_variance.reshape(1, 1, 1),
        offsets=(log_variance - p.half_norms).reshape(1, 1, -1),
        covariance=p.gram.covariance.unsqueeze(0),
        cholesky=cholesky,
        inverse=inverse,
        z=z,
        solutions=torch.cat([inverse.mT, z.unsqueeze(-1)], dim=-1),
        y=(sign * p.prior_mean + residual).unsqueeze(0),
    )
