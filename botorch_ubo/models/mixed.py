r"""The covariance over numbers and categories: a product, so that both have a say everywhere.

``k((x, c), (x', c')) = s^2 RBF(x, x') exp(-mean_j [c_j != c'_j] / l_j)``, with BoTorch's own
``CategoricalKernel``. What was learned of the numbers in one category holds in another as far as
the two are found to be alike, and for a parameter whose categories do not matter ``l_j`` grows.

NOTE: BoTorch's ``MixedSingleTaskGP`` adds a sum of the two kernels to their product. A summand
that knows categories only does not decay with distance, and every growing box is about distance.
"""

from __future__ import annotations

from collections.abc import Sequence

from botorch.models.kernels import CategoricalKernel
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import Kernel
from gpytorch.priors import LogNormalPrior


def mixed_kernel(d: int, categorical: Sequence[int]) -> Kernel:
    r"""The kernel of ``d`` columns, some of which hold codes of categories.

    Args:
        d: The number of columns.
        categorical: Those with codes; BoTorch's default kernel if there are none.

    Returns:
        The kernel, without an output scale.
    """
    if not categorical:
        return get_covar_module_with_dim_scaled_prior(ard_num_dims=d)
    alone = len(categorical) == d
    between = CategoricalKernel(
        ard_num_dims=len(categorical),
        active_dims=None if alone else tuple(categorical),
        # Median 1, where two categories have correlation 1/e; from 1e-5 to 0.9 within two sigma.
        lengthscale_prior=LogNormalPrior(loc=0.0, scale=1.2),
        lengthscale_constraint=GreaterThan(1e-2, transform=None, initial_value=1.0),
    )
    if alone:
        return between
    numbers = [i for i in range(d) if i not in set(categorical)]
    along = get_covar_module_with_dim_scaled_prior(
        ard_num_dims=len(numbers), active_dims=tuple(numbers)
    )
    return along * between
