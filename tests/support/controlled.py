"""A controller's world: a hill outside the first box, and models that need no fitting."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from torch import Tensor

from botorch_ubo import (
    ExpandingBounds,
    Method,
    SearchSettings,
    UnboundedOptimizer,
    get_method,
)
from tests.support.gps import tensor

UNIT = tensor([[0.0, 0.0], [1.0, 1.0]])
FAST: dict[str, Any] = {"search": SearchSettings(num_restarts=2, raw_samples=32)}
_PARTS = {field.name for field in fields(Method)} - {"max_growth"}


def build(method: str, bounds: Tensor = UNIT, **arguments: Any) -> ExpandingBounds:
    """A controller with a method of which parts (strategy, trigger, beta, ...) may be replaced."""
    parts = {name: arguments.pop(name) for name in _PARTS & arguments.keys()}
    return ExpandingBounds(bounds, method=replace(get_method(method), **parts), **arguments)


def corrected(bounds: Tensor = UNIT, **arguments: Any) -> ExpandingBounds:
    """The same for the paper's method, corrected."""
    return build("GPUCB-UBO", bounds, **arguments)


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


def optimizer_with_data(**options: Any) -> UnboundedOptimizer:
    """An optimizer that has seen six values of a bowl outside its box."""
    X = torch.rand(6, 2, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    optimizer = UnboundedOptimizer([(0, 1), (0, 1)], num_initial=6, **{**FAST, **options})
    optimizer.add_data(X, (X - 2).square().sum(dim=-1))
    return optimizer
