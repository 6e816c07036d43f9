"""Functions drawn from a GP whose hyper-parameters are known, and their maxima in a box."""

from collections.abc import Callable

import torch
from botorch.models import SingleTaskGP
from botorch.sampling.pathwise import draw_kernel_feature_paths
from botorch.utils.sampling import manual_seed, optimize_posterior_samples
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel
from gpytorch.means import ZeroMean
from torch import Tensor

Path = Callable[[Tensor], Tensor]  # ``n x d`` points to ``n x 1`` values, differentiable

NUM_FEATURES = 1024
NOISE = 1e-6  # variance, of a prior variance of 1: the least that gpytorch takes without a word
RAW_SAMPLES = 8192
NUM_POLISHED = 10


KERNELS: dict[str, Callable[[int], Kernel]] = {
    "RBF": lambda dim: RBFKernel(ard_num_dims=dim),
    "Matern 5/2": lambda dim: MaternKernel(nu=2.5, ard_num_dims=dim),
}


def known_model(
    X: Tensor, Y: Tensor, lengthscale: float, kernel_name: str = "RBF", noise: float = NOISE
) -> SingleTaskGP:
    """The GP that the paths are drawn from, on data: zero mean, variance 1, nothing fitted.

    ``noise`` is the variance of an observation.
    """
    kernel = KERNELS[kernel_name](X.shape[-1]).to(X)
    kernel.lengthscale = lengthscale
    return SingleTaskGP(
        X,
        Y,
        torch.full_like(Y, noise),
        covar_module=kernel,
        mean_module=ZeroMean(),
        outcome_transform=None,
    ).eval()


def draw_path(dim: int, lengthscale: float, seed: int, kernel_name: str = "RBF") -> Path:
    """One function of the prior, by random Fourier features.

    Every path has features of its own, so that over paths the covariance is exactly the kernel's.
    """
    origin = torch.zeros(1, dim, dtype=torch.double)
    prior = known_model(origin, torch.zeros(1, 1, dtype=torch.double), lengthscale, kernel_name)
    with manual_seed(seed):
        path = draw_kernel_feature_paths(
            prior,
            torch.Size([]),
            num_features=NUM_FEATURES,
            # The default, a Sobol sequence of so many dimensions, takes a while to set up.
            weight_generator=torch.randn,
        )
    path.requires_grad_(False)
    return lambda X: path(X).unsqueeze(-1)


def maximum_in(path: Path, box: Tensor) -> float:
    """The maximum over a ``2 x d`` box: many points, the best of them polished."""
    return maximizer_in(path, box)[1]


def maximizer_in(path: Path, box: Tensor) -> tuple[Tensor, float]:
    """The ``1 x d`` place of that maximum, and its value."""
    with manual_seed(0):
        X, values = optimize_posterior_samples(path, box, RAW_SAMPLES, NUM_POLISHED)
    return X.reshape(1, -1), float(values.max())
