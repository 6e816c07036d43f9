"""Functions drawn from a GP whose hyper-parameters are known, and their maxima in a box."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from botorch.models import SingleTaskGP
from botorch.sampling.pathwise import draw_kernel_feature_paths
from botorch.utils.sampling import manual_seed
from gpytorch.kernels import RBFKernel
from gpytorch.means import ZeroMean
from scipy.optimize import minimize
from torch import Tensor

Path = Callable[[Tensor], Tensor]
"""``n x d`` points to ``n x 1`` values, differentiable."""

NUM_FEATURES = 1024
NOISE = 1e-6  # variance, of a prior variance of 1: the least that gpytorch takes without a word
_GRID = {1: 2001, 2: 101, 3: 41}  # points per side
_POLISHED = 5


def known_model(X: Tensor, Y: Tensor, lengthscale: float) -> SingleTaskGP:
    """The GP that the paths are drawn from, on data: zero mean, RBF, variance 1, nothing fitted."""
    kernel = RBFKernel(ard_num_dims=X.shape[-1]).to(X)
    kernel.lengthscale = lengthscale
    return SingleTaskGP(
        X,
        Y,
        torch.full_like(Y, NOISE),
        covar_module=kernel,
        mean_module=ZeroMean(),
        outcome_transform=None,
    ).eval()


def draw_path(dim: int, lengthscale: float, seed: int) -> Path:
    """One function of the prior, by random Fourier features.

    Every path has features of its own, so that over paths the covariance is exactly the kernel's.
    """
    origin = torch.zeros(1, dim, dtype=torch.double)
    prior = known_model(origin, torch.zeros(1, 1, dtype=torch.double), lengthscale)
    with manual_seed(seed):
        path = draw_kernel_feature_paths(
            prior,
            torch.Size([]),
            num_features=NUM_FEATURES,
            # The default, a Sobol sequence of so many dimensions, takes a while to set up.
            weight_generator=torch.randn,
        )
    path.requires_grad_(False)
    return lambda X: path(X).reshape(-1, 1)


def maximum_in(path: Path, box: Tensor) -> float:
    """The maximum over a ``2 x d`` box: a dense grid, the best points of it polished."""
    dim = box.shape[-1]
    if dim not in _GRID:
        raise ValueError(f"Expected a dimension of {sorted(_GRID)}, for a dense grid; got {dim}.")
    sides = [torch.linspace(low, high, _GRID[dim], dtype=torch.double)
             for low, high in box.T.tolist()]  # fmt: skip
    grid = torch.cartesian_prod(*sides).reshape(-1, dim)
    values = torch.cat([path(part) for part in grid.split(5000)]).squeeze(-1)

    def negated(x: np.ndarray) -> tuple[float, np.ndarray]:
        X = torch.from_numpy(x).reshape(1, dim).requires_grad_(True)
        value = -path(X).sum()
        (gradient,) = torch.autograd.grad(value, X)
        return value.item(), gradient.flatten().numpy()

    polished = [
        -minimize(negated, grid[i].numpy(), jac=True, method="L-BFGS-B", bounds=box.T.tolist()).fun
        for i in values.topk(_POLISHED).indices
    ]
    return max(float(values.max()), *map(float, polished))
