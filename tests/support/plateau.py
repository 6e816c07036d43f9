"""Models of data in a small part of a domain: in a wide box, mostly plateau."""

from __future__ import annotations

from functools import cache

import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.test_functions import Hartmann
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from botorch_ubo.acquisition.search import Neighborhood
from botorch_ubo.policies.view import ModelView
from tests.support.gps import tensor

BETA = 4.0


@cache
def fitted(d: int, seed: int) -> SingleTaskGP:
    """Hartmann, training data in a box 0.4 wide around the centre of the domain."""
    generator = torch.Generator().manual_seed(seed)
    X = 0.3 + 0.4 * torch.rand(5 * d, d, generator=generator, dtype=torch.double)
    Y = -Hartmann(d)._evaluate_true(X).unsqueeze(-1)
    model = SingleTaskGP(X, Y, input_transform=Normalize(d, bounds=cube(d, 0.4)))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def cube(d: int, width: float, center: float = 0.5) -> Tensor:
    return tensor([[center - width / 2] * d, [center + width / 2] * d])


def neighborhood(model: SingleTaskGP) -> Neighborhood:
    return ModelView(model, cube(model.train_inputs[0].shape[-1], 0.4)).neighborhood


def ucb(model: SingleTaskGP) -> UpperConfidenceBound:
    return UpperConfidenceBound(model, beta=tensor(BETA))


def log_ei(model: SingleTaskGP) -> LogExpectedImprovement:
    return LogExpectedImprovement(model, best_f=model.posterior(raw_inputs(model)).mean.max())


def raw_inputs(model: SingleTaskGP) -> Tensor:
    return model.input_transform.untransform(model.train_inputs[0])
