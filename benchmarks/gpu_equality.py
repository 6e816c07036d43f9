"""Does a device compute what the CPU computes? Values, gradients, boxes and suggestions."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from botorch.exceptions.warnings import BotorchWarning
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.gpu_cases import Case

RTOL = {"double": 1e-6, "float": 1e-2}
"""Single precision: values of the acquisition function are differences of nearly equal numbers."""
_POINTS = 32
_RESTARTS = 2


@dataclass(frozen=True)
class Equality:
    """How far a device is from the CPU, per quantity, relative to the largest value."""

    case: Case
    device: str
    differences: dict[str, float]

    @property
    def equal(self) -> bool:
        return all(value <= RTOL[self.case.dtype] for value in self.differences.values())


def compare(case: Case, device: str) -> Equality:
    """Compute everything on both devices."""
    with _prepared(device), warnings.catch_warnings():
        warnings.simplefilter("ignore", BotorchWarning)  # single precision is the question
        there, here = _compute(case, device), _compute(case, "cpu")
    differences = {}
    for name, expected in here.items():
        error = (there[name].to("cpu", torch.double) - expected.double()).abs().max()
        differences[name] = float(error / expected.double().abs().max())
    return Equality(case, device, differences)


def _compute(case: Case, device: str) -> dict[str, Tensor]:
    model = case.model(device)
    controller = case.controller(device, _RESTARTS)
    controller.update(model)
    context = controller.context(model)
    generator = torch.Generator().manual_seed(1)
    unit = torch.rand(_POINTS, 1, case.dim, generator=generator, dtype=torch.double)
    X = (2 * unit - 0.5).to(model.train_targets).requires_grad_(True)
    values = context.ucb(X)
    (gradient,) = torch.autograd.grad(values.sum(), X)
    suggestion = controller.suggest(model)
    with torch.no_grad():  # where the search ends may differ, how good that is may not
        suggested = context.ucb(suggestion.unsqueeze(-2))
    return {
        "box": controller.bounds,
        "acquisition": values.detach(),
        "gradient": gradient,
        "suggestion": suggested,
        **_likelihood(case, device),
    }


def _likelihood(case: Case, device: str) -> dict[str, Tensor]:
    model = case.model(device).train()
    mll = ExactMarginalLogLikelihood(model.likelihood, model).train()
    value = mll(model(*model.train_inputs), model.train_targets)
    gradients = torch.autograd.grad(value, list(model.parameters()))
    return {
        "likelihood": value.detach(),
        "likelihood's gradient": torch.cat([gradient.flatten() for gradient in gradients]),
    }


@contextmanager
def _prepared(device: str) -> Iterator[None]:
    if device != "simgpu":
        yield
        return
    # Registers the pretend device for the rest of the process.
    with importlib.import_module("tests.simgpu").without_view_writes():
        yield
