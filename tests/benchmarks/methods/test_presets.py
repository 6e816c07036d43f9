from __future__ import annotations

import math

import pytest
import torch
from botorch.exceptions.errors import ModelFittingError

from benchmarks.methods import presets
from benchmarks.methods.presets import AS_PUBLISHED, fit_published_model
from benchmarks.methods.registry import make_contender
from benchmarks.problems.problem import make_start
from benchmarks.problems.registry import find_problem
from botorch_ubo import fit_default_model, published_model


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


def test_as_published_has_the_authors_model_in_every_benchmark() -> None:
    problem = find_problem("beale", 0)
    contender = make_contender(AS_PUBLISHED, problem, make_start(problem, 0), 0)
    assert contender.fit is fit_published_model
    assert make_contender("GPUCB-UBO", problem, make_start(problem, 0), 0).fit is fit_default_model


def test_a_descent_that_fails_leaves_the_likelihood_of_its_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(mll: torch.nn.Module) -> None:
        raise ModelFittingError("no")

    monkeypatch.setattr(presets, "fit_gpytorch_mll", fail)
    X = torch.rand(6, 2, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    box = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)
    model = fit_published_model(X, X.sum(dim=-1, keepdim=True), box)
    lengthscale = model.covar_module.base_kernel.lengthscale.item()
    assert 1e-2 <= lengthscale <= 1e2
    assert model.covar_module.outputscale.item() == pytest.approx(1.0)
    # A smooth sum over the unit box is likelier with a long length-scale than with a short one.
    assert lengthscale > 0.3
    assert not model.training


def _log_likelihood(model: torch.nn.Module, kernel: torch.nn.Module) -> float:
    with torch.no_grad():
        X, y = model.train_inputs[0], model.train_targets
        gram = kernel(X).to_dense() + model.likelihood.noise.diag()
        cholesky = torch.linalg.cholesky(gram)
        white = torch.linalg.solve_triangular(cholesky, y.unsqueeze(-1), upper=False)
        log_det = 2 * cholesky.diagonal().log().sum()
        return float(-0.5 * (white.square().sum() + log_det + len(y) * math.log(2 * math.pi)))
