"""Random Gaussian processes, and the dense algebra that the package is checked against."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from gpytorch.kernels import (
    ConstantKernel,
    Kernel,
    MaternKernel,
    PeriodicKernel,
    PiecewisePolynomialKernel,
    RBFKernel,
    RQKernel,
    ScaleKernel,
)
from torch import Tensor

NOISE_KINDS = ("homoskedastic", "fixed", "heteroskedastic")
INPUT_TRANSFORMS = ("none", "normalize", "learned", "log")


class SquaredKernel(Kernel):
    """``exp(-r^2)``, as a user would write it: nothing about it is registered."""

    has_lengthscale = True

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: object) -> Tensor:
        distance = self.covar_dist(
            x1 / self.lengthscale, x2 / self.lengthscale, square_dist=True, diag=diag
        )
        return distance.neg().exp()


def tensor(*values: object) -> Tensor:
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.double)


def log_uniform(low: float, high: float, *shape: int) -> Tensor:
    span = math.log(high) - math.log(low)
    return (math.log(low) + span * torch.rand(shape, dtype=torch.double)).exp()


def _plain(kind: type[Kernel], **kwargs: object) -> Callable[[int], Kernel]:
    """A kernel in double precision with random length-scales, per dimension or not."""

    def build(d: int) -> Kernel:
        ard = {"ard_num_dims": d} if torch.rand(()) < 0.7 else {}
        kernel = kind(**ard, **kwargs).double()
        kernel.lengthscale = log_uniform(0.05, 2.0, 1, kernel.ard_num_dims or 1)
        return kernel

    return build


def _rq(d: int) -> Kernel:
    kernel = _plain(RQKernel)(d)
    kernel.alpha = log_uniform(0.5, 5.0, 1)
    return kernel


def _over_parts(d: int) -> Kernel:
    """A product of kernels on disjoint dimensions."""
    if d == 1:
        return _plain(RBFKernel, active_dims=(0,))(1)
    rest = tuple(range(1, d))
    return _plain(RBFKernel, active_dims=(0,))(1) * _plain(MaternKernel, active_dims=rest)(d - 1)


def _constant(d: int) -> Kernel:
    kernel = ConstantKernel().double()
    kernel.constant = log_uniform(0.3, 3.0, 1)
    return kernel


KERNELS: dict[str, Callable[[int], Kernel]] = {
    "rbf": _plain(RBFKernel),
    "matern12": _plain(MaternKernel, nu=0.5),
    "matern32": _plain(MaternKernel, nu=1.5),
    "matern52": _plain(MaternKernel, nu=2.5),
    "rq": _rq,
    "piecewise0": _plain(PiecewisePolynomialKernel, q=0),
    "piecewise1": _plain(PiecewisePolynomialKernel, q=1),
    "product": lambda d: KERNELS["rbf"](d) * KERNELS["matern32"](d),
    "sum": lambda d: KERNELS["rbf"](d) + random_scale(KERNELS["matern52"](d)),
    "active_dims": _over_parts,
    "constant_times_rbf": lambda d: _constant(d) * KERNELS["rbf"](d),
    "periodic_times_rbf": lambda d: _plain(PeriodicKernel)(d) * KERNELS["rbf"](d),
    "user_defined": _plain(SquaredKernel),
}
# Registered closed forms of one scaled distance.
CLOSED_FORMS = ("rbf", "matern12", "matern32", "matern52", "rq")
# Outside the ellipsoid of half-widths is enough for these; a product needs outside the box.
ELLIPSOIDAL = (*CLOSED_FORMS, "piecewise0", "piecewise1", "sum", "constant_times_rbf")


def random_scale(kernel: Kernel) -> Kernel:
    kernel = ScaleKernel(kernel).double()
    kernel.outputscale = log_uniform(0.1, 10.0)
    return kernel


def input_transform(name: str, d: int) -> ChainedInputTransform | Normalize | None:
    bounds = torch.stack([torch.full((d,), 0.5), torch.full((d,), 2.5)]).double()
    if name == "log":
        unit = Normalize(d, bounds=bounds.log10())
        return ChainedInputTransform(log=Log10(list(range(d))), unit=unit)
    return {
        "none": lambda: None,
        "normalize": lambda: Normalize(d, bounds=bounds),
        "learned": lambda: Normalize(d),
    }[name]()


def random_model(
    family: str,
    d: int | None = None,
    n: int | None = None,
    noise: str | None = None,
    inputs: str | None = None,
    standardize: bool | None = None,
) -> SingleTaskGP:
    """A single-output model in evaluation mode; what is not given is drawn at random."""
    d = d or int(torch.randint(1, 7, ()))
    n = n or int(torch.randint(2, 61, ()))
    noise = noise or NOISE_KINDS[int(torch.randint(3, ()))]
    inputs = inputs or INPUT_TRANSFORMS[int(torch.randint(4, ()))]
    standardize = bool(torch.rand(()) < 0.5) if standardize is None else standardize
    X = 0.5 + 2 * torch.rand(n, d, dtype=torch.double)
    mean = torch.randn((), dtype=torch.double)
    Y = torch.randn(n, 1, dtype=torch.double)
    # Normal; with outliers; all but equal to the prior mean, so that the variance term matters.
    Y = (3 * Y + 1, 3 * Y**3 + 1, mean + 1e-5 * Y)[int(torch.randint(2 if standardize else 3, ()))]
    unit = Y.var() if standardize else 1.0
    variance = {
        "homoskedastic": None,
        "fixed": unit * log_uniform(1e-4, 1e-1).expand(n, 1),
        "heteroskedastic": unit * log_uniform(1e-4, 1.0, n, 1),
    }[noise]
    model = SingleTaskGP(
        X,
        Y,
        train_Yvar=variance,
        covar_module=random_scale(KERNELS[family](d)),
        input_transform=input_transform(inputs, d),
        outcome_transform=Standardize(1) if standardize else None,
    )
    model.mean_module.constant = mean
    if variance is None:
        model.likelihood.noise = log_uniform(1e-4, 1e-1)
    return model.eval()


class Dense:
    """The posterior of a single-output model by textbook algebra, in the model's input space."""

    def __init__(self, model: SingleTaskGP) -> None:
        with torch.no_grad():
            self.X = model.train_inputs[0]
            self.kernel = model.covar_module
            self.mean = float(model.mean_module(self.X)[0])
            noise = model.likelihood.noise.expand(len(self.X))
            self.gram = self.kernel(self.X).to_dense() + noise.diag()
            self.inverse = torch.linalg.inv(self.gram)
            self.z = self.inverse @ (model.train_targets - self.mean)
            self.theta = float(self.kernel(self.X[:1]).to_dense()) ** 0.5
        outcome = getattr(model, "outcome_transform", None)
        self.shift = 0.0 if outcome is None else float(outcome.means)
        self.scale = 1.0 if outcome is None else float(outcome.stdvs)

    def ucb(self, X: Tensor, beta: float) -> Tensor:
        """Upper confidence bound in raw units at ``m x d`` points of the model's space."""
        with torch.no_grad():
            k = self.kernel(X, self.X).to_dense()
        variance = self.theta**2 - ((k @ self.inverse) * k).sum(dim=-1)
        ucb = self.mean + k @ self.z + beta**0.5 * variance.clamp_min(0).sqrt()
        return self.shift + self.scale * ucb

    def limit(self, beta: float) -> float:
        """Proposition 4.1."""
        return self.shift + self.scale * (self.mean + beta**0.5 * self.theta)
