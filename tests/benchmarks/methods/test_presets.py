from __future__ import annotations

import math

import pytest
import torch

from benchmarks.methods.presets import fit_published_model
from botorch_ubo import published_model


@pytest.mark.slow
def test_restarts_find_a_likelihood_no_single_start_beats() -> None:
    """Against a grid over both parameters of the model."""
    torch.manual_seed(1)
    box = torch.tensor([[0.0, 0.0], [4.0, 4.0]], dtype=torch.double)
    X = 4 * torch.rand(8, 2, dtype=torch.double)
    Y = torch.sin(2 * X[:, :1]) + X[:, 1:] / 4
    model = fit_published_model(X, Y, box)
    best = _log_likelihood(model, model.covar_module)
    grid = published_model(X, Y)
    for lengthscale in torch.logspace(-3, 3, 31).tolist():
        for outputscale in torch.logspace(-3, 5, 17).tolist():
            grid.covar_module.base_kernel.lengthscale = lengthscale
            grid.covar_module.outputscale = outputscale
            assert _log_likelihood(grid, grid.covar_module) <= best + 1e-3


def _log_likelihood(model: torch.nn.Module, kernel: torch.nn.Module) -> float:
    with torch.no_grad():
        X, y = model.train_inputs[0], model.train_targets
        gram = kernel(X).to_dense() + model.likelihood.noise.diag()
        cholesky = torch.linalg.cholesky(gram)
        white = torch.linalg.solve_triangular(cholesky, y.unsqueeze(-1), upper=False)
        log_det = 2 * cholesky.diagonal().log().sum()
        return float(-0.5 * (white.square().sum() + log_det + len(y) * math.log(2 * math.pi)))
