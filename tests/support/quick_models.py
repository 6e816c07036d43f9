"""Quick GPs of all kinds, and their parent's answers to compare with."""

import copy
from collections.abc import Callable

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.models.transforms.input import (
    ChainedInputTransform,
    InputStandardize,
    InputTransform,
    Log10,
    Warp,
)
from botorch.posteriors import Posterior
from gpytorch.kernels import Kernel, RBFKernel, ScaleKernel
from torch import Tensor

from botorch_ubo.models.quick.gp import PointPosterior, QuickGP
from tests.support.gps import tensor

D = 3
POSITIVE = tensor([[0.5, 1.0, 20.0], [2.5, 9.0, 60.0]])
DEFAULT = Standardize(1)


def scaled(kernel: Kernel) -> Kernel:
    kernel = ScaleKernel(kernel)
    kernel.outputscale = 2.7
    return kernel


def one_lengthscale() -> Kernel:
    kernel = RBFKernel()
    kernel.lengthscale = 0.6
    return kernel


def ard() -> Kernel:
    kernel = RBFKernel(ard_num_dims=D)
    kernel.lengthscale = torch.tensor([0.3, 0.8, 1.7])
    return kernel


KERNELS: dict[str, Callable[[], Kernel]] = {
    "rbf": one_lengthscale,
    "ard": ard,
    "scaled": lambda: scaled(one_lengthscale()),
    "scaled_ard": lambda: scaled(ard()),
}
INPUTS: dict[str, Callable[[], InputTransform | None]] = {
    "none": lambda: None,
    "normalize": lambda: Normalize(D, bounds=POSITIVE),
    "learned": lambda: Normalize(D),
    "some": lambda: Normalize(D, indices=[0, 2], bounds=POSITIVE[:, [0, 2]]),
    "log": lambda: Log10([0, 1, 2]),
    "log_of_some": lambda: Log10([1]),
    "chained": lambda: ChainedInputTransform(
        log=Log10([0, 1, 2]), unit=Normalize(D, bounds=POSITIVE.log10())
    ),
    "standardize": lambda: InputStandardize(D),
    "warp": lambda: Warp(D, indices=[0, 1, 2], bounds=POSITIVE + tensor([[-9.0], [9.0]])),
    "only_in_training": lambda: Normalize(D, bounds=POSITIVE, transform_on_eval=False),
    "reversed": lambda: Normalize(D, bounds=POSITIVE / 60, reverse=True),
}


def data(n: int = 12, dtype: torch.dtype = torch.double) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(n)
    uniform = torch.rand(n, D, generator=generator, dtype=torch.double)
    X = POSITIVE[0] + (POSITIVE[1] - POSITIVE[0]) * uniform
    Y = 40 + 5 * torch.sin(6 * uniform).sum(dim=-1, keepdim=True)
    return X.to(dtype), Y.to(dtype)


def make(
    kernel: str = "scaled_ard",
    inputs: str = "normalize",
    outcome: object = DEFAULT,
    dtype: torch.dtype = torch.double,
    fixed: bool = False,
    n: int = 12,
) -> QuickGP:
    X, Y = data(n, dtype)
    Yvar = torch.linspace(0.01, 0.5, n).to(X).unsqueeze(-1) if fixed else None
    model = QuickGP(
        X,
        Y,
        Yvar,
        covar_module=KERNELS[kernel](),
        input_transform=INPUTS[inputs](),
        outcome_transform=copy.deepcopy(outcome),
    ).to(X)
    model.mean_module.constant = 0.4
    return model.eval()


def points(count: int = 9, dtype: torch.dtype = torch.double) -> Tensor:
    """Single points inside and around the data, two of them at data."""
    generator = torch.Generator().manual_seed(1)
    uniform = torch.rand(count - 2, D, generator=generator, dtype=torch.double)
    around = POSITIVE[0] + (POSITIVE[1] - POSITIVE[0]) * (1.5 * uniform - 0.1)
    X = torch.cat([around.clamp_min(0.05), data(12)[0][:2]])
    return X.unsqueeze(-2).to(dtype)


def of_parent(model: QuickGP, X: Tensor, **kwargs: object) -> Posterior:
    return SingleTaskGP.posterior(model, X, **kwargs)


def assert_quick(model: QuickGP, X: Tensor | None = None, rtol: float = 1e-8) -> None:
    """The shortcut is taken, and mean, variance and their gradients are the parent's."""
    X = points(dtype=model.train_targets.dtype) if X is None else X
    found = []
    for ask in (model.posterior, lambda X: of_parent(model, X)):
        leaf = X.clone().requires_grad_(True)
        posterior = ask(leaf)
        gradients = [
            torch.autograd.grad(value.sum(), leaf, retain_graph=True)[0]
            for value in (posterior.mean, posterior.variance)
        ]
        found.append([posterior.mean.detach(), posterior.variance.detach(), *gradients])
        found[-1] += [posterior.rsample().shape]
    assert isinstance(model.posterior(X), PointPosterior)
    *values, shape = found[0]
    *expected, same = found[1]
    assert shape == same
    for value, other in zip(values, expected, strict=True):
        assert value.dtype == other.dtype and value.shape == other.shape
        torch.testing.assert_close(value, other, rtol=rtol, atol=rtol * float(other.abs().max()))
