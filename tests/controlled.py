"""A controller's world: a hill outside the first box, and models that need no fitting."""

from collections.abc import Callable
from typing import Any

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from torch import Tensor

from botorch_ubo import (
    ExpandingBounds,
)
from tests.helpers import tensor

UNIT = tensor([[0.0, 0.0], [1.0, 1.0]])
FAST: dict[str, Any] = {"num_restarts": 2, "raw_samples": 32}


def bell(X: Tensor) -> Tensor:
    """A smooth maximum at (2, 1.5), outside the first box."""
    return torch.exp(-((X - torch.tensor([2.0, 1.5]).to(X)) ** 2).sum(-1, keepdim=True) / 4)


def data(n: int = 6, seed: int = 0, d: int = 2) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, d, generator=generator, dtype=torch.double)
    return X, bell(X[:, :2])


def gp(X: Tensor, Y: Tensor, lengthscale: float = 0.6, **kwargs: Any) -> SingleTaskGP:
    """The default model with hyper-parameters set by hand: no time is spent on fitting."""
    model = SingleTaskGP(X, Y, **{"input_transform": Normalize(2, bounds=UNIT.to(X)), **kwargs})
    model.covar_module.lengthscale = lengthscale
    model.likelihood.noise = 1e-4
    return model.eval()


def inside(box: Tensor, X: Tensor) -> bool:
    return bool(((X.double() >= box[0].double()) & (X.double() <= box[1].double())).all())


def run(
    box: ExpandingBounds, steps: int, f: Callable[[Tensor], Tensor] = bell, **kwargs: Any
) -> tuple[Tensor, Tensor]:
    X, Y = data()
    Y = f(X)
    for _ in range(steps):
        x = box.suggest(gp(X, Y, **kwargs))
        X, Y = torch.cat([X, x]), torch.cat([Y, f(x)])
    return X, Y
