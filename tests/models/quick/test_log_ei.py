"""QuickLogExpectedImprovement is BoTorch's LogExpectedImprovement, value and gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.exceptions.errors import UnsupportedError
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from botorch.optim import optimize_acqf
from gpytorch.kernels import MaternKernel

from botorch_ubo.acquisition.feasibility import LogFeasibilityWeighted
from botorch_ubo.models import default_model, fit_default_model
from botorch_ubo.models.quick.gp import QuickGP
from botorch_ubo.models.quick.log_ei import QuickLogExpectedImprovement

BOUNDS = torch.tensor([[0.0, 0.0, 1.0], [1.0, 2.0, 4.0]], dtype=torch.double)


def make_data(seed: int, n: int = 15) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(n, 3, generator=generator, dtype=torch.double)
    X = BOUNDS[0] + unit * (BOUNDS[1] - BOUNDS[0])
    return X, 7 * (2 * X).sin().sum(dim=-1, keepdim=True) + 100


def compare(model: QuickGP, X: torch.Tensor, best_f: torch.Tensor, maximize: bool) -> None:
    X = X.unsqueeze(-2).requires_grad_()
    quick = QuickLogExpectedImprovement(model, best_f, maximize)(X)
    stock = LogExpectedImprovement(model, best_f, maximize=maximize)(X)
    tolerance = (
        {"rtol": 1e-7, "atol": 1e-9} if X.dtype == torch.double else {"rtol": 0.02, "atol": 1e-2}
    )
    torch.testing.assert_close(quick, stock, **tolerance)
    (quick_gradient,) = torch.autograd.grad(quick.sum(), X)
    (stock_gradient,) = torch.autograd.grad(stock.sum(), X)
    torch.testing.assert_close(quick_gradient, stock_gradient, **tolerance)


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_equals_botorch_near_and_far(seed: int, maximize: bool) -> None:
    X, Y = make_data(seed)
    model = fit_default_model(X, Y, BOUNDS, maximize=maximize)
    best_f = Y.max() if maximize else Y.min()
    compare(model, 0.3 + 0.4 * X, best_f, maximize)  # in between
    compare(model, X + 1e-2, best_f, maximize)  # next to data, where EI is tiny
    compare(model, X + 50, best_f, maximize)  # out of reach of all data
    compare(model, X - 0.1, best_f + (30 if maximize else -30), maximize)  # hopeless: log EI << 0


def test_through_a_transform_that_is_not_affine() -> None:
    X, Y = make_data(0)
    X = X + 1
    transform = ChainedInputTransform(
        log=Log10(indices=[0, 1, 2]), unit=Normalize(3, bounds=(BOUNDS + 1).log10())
    )
    model = QuickGP(X, Y, input_transform=transform).eval()
    assert not model.factored().affine
    compare(model, X + 0.1, Y.max(), True)


def test_single_precision() -> None:
    X, Y = make_data(1)
    model = fit_default_model(X, Y, BOUNDS).float()
    compare(model, (X + 0.2).float(), Y.max().float(), True)


def test_no_gradient_is_asked_of_it_twice() -> None:
    X, Y = make_data(2)
    acqf = QuickLogExpectedImprovement(fit_default_model(X, Y, BOUNDS), Y.max())
    x = (X[:1] + 0.1).unsqueeze(-2).requires_grad_()
    with pytest.raises(UnsupportedError, match="differentiated once"):
        torch.autograd.functional.hessian(lambda z: acqf(z).sum(), x)


def test_nothing_is_kept_of_what_changed() -> None:
    X, Y = make_data(0)
    model = fit_default_model(X, Y, BOUNDS)
    x = (X[:3] + 0.2).unsqueeze(-2)
    acqf = QuickLogExpectedImprovement(model, Y.max())
    acqf(x)
    acqf.best_f = float(Y.max()) + 5
    assert torch.equal(acqf(x), QuickLogExpectedImprovement(model, Y.max() + 5)(x))
    acqf.set_X_pending(X[:2] + 0.3)
    among = QuickLogExpectedImprovement(model, Y.max() + 5, X_pending=X[:2] + 0.3)
    assert torch.equal(acqf(x), among(x))
    acqf.set_X_pending(None)
    assert torch.equal(acqf(x), QuickLogExpectedImprovement(model, Y.max() + 5)(x))
    model.covar_module = MaternKernel(ard_num_dims=3)
    with pytest.raises(UnsupportedError, match="MaternKernel"):
        acqf(x)


def test_batches_of_batches() -> None:
    X, Y = make_data(0)
    acqf = QuickLogExpectedImprovement(fit_default_model(X, Y, BOUNDS), Y.max())
    x = (X[:12] + 0.2).unsqueeze(-2)
    assert torch.equal(acqf(x.reshape(3, 4, 1, 3)), acqf(x).reshape(3, 4))


@pytest.mark.filterwarnings("ignore:A not p.d., added jitter")  # on purpose
def test_gradient_where_the_variance_is_at_its_floor() -> None:
    """In single precision that is often the case; there the value depends on the mean alone."""
    generator = torch.Generator().manual_seed(1)
    X, Y = make_data(0)
    near = X[:1] + 1e-3 * torch.randn(25, 3, generator=generator, dtype=torch.double)
    X = torch.cat([X, near])
    Y = 7 * (2 * X).sin().sum(dim=-1, keepdim=True) + 100
    model = fit_default_model(X.float(), Y.float(), BOUNDS.float())
    acqf = QuickLogExpectedImprovement(model, Y.max())
    formula = acqf.formula()[1]
    points = formula.posterior.X[20:24] + 1e-3
    _, gradient = formula(points)
    step = 1e-5
    for j in range(3):
        shift = step * np.eye(3)[j]
        expected = (formula(points + shift)[0] - formula(points - shift)[0]) / (2 * step)
        np.testing.assert_allclose(gradient[:, j], expected, rtol=1e-2, atol=1e-2)


def test_optimize_acqf_finds_the_same() -> None:
    X, Y = make_data(3)
    model = fit_default_model(X, Y, BOUNDS)
    found = [
        optimize_acqf(
            acqf, BOUNDS, q=1, num_restarts=4, batch_initial_conditions=X[:4].unsqueeze(-2)
        )
        for acqf in (
            QuickLogExpectedImprovement(model, Y.max()),
            LogExpectedImprovement(model, Y.max()),
        )
    ]
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-4, atol=1e-4)


def test_its_values_are_logarithms() -> None:
    """As BoTorch's: what weighs it by a chance of success adds the logarithm of that chance."""
    X, Y = make_data(0)
    acqf = QuickLogExpectedImprovement(fit_default_model(X, Y, BOUNDS), Y.max())
    x = (X[:3] + 0.2).unsqueeze(-2)
    weighted = LogFeasibilityWeighted(acqf, X, X[:2] + 0.5, torch.ones(3).double())
    expected = acqf(x) + weighted.log_chance(x.squeeze(-2))
    torch.testing.assert_close(weighted(x), expected)


def test_single_precision_at_data_with_replicates() -> None:
    """The variance there is rounding; its floor is that of the model, 1e-6 of the outcomes'."""
    X, Y = make_data(1)
    X, Y = X[:3].repeat(40, 1), Y[:3].repeat(40, 1)
    model = default_model(X, Y, BOUNDS, torch.zeros_like(Y)).float().eval()
    x = X[:3].float().unsqueeze(-2)
    # With nothing to gain or lose, EI is sigma phi(0).
    expected = (model.factored().Y_scale * 1e-3 / (2 * torch.pi) ** 0.5).log()
    for i, mean in enumerate(model.posterior(x).mean.flatten()):
        value = QuickLogExpectedImprovement(model, mean)(x[i : i + 1])
        torch.testing.assert_close(value[0], expected, rtol=0, atol=0.5)


def test_model_with_another_kernel_is_refused() -> None:
    X, Y = make_data(0)
    model = QuickGP(X, Y, covar_module=MaternKernel(ard_num_dims=3)).eval()
    with pytest.raises(UnsupportedError, match="MaternKernel"):
        QuickLogExpectedImprovement(model, Y.max())


def test_model_in_training_mode_is_put_in_evaluation_mode() -> None:
    X, Y = make_data(0)
    model = fit_default_model(X, Y, BOUNDS)
    acqf = QuickLogExpectedImprovement(model, Y.max())
    x = (X[:3] + 0.2).unsqueeze(-2)
    expected = acqf(x)
    model.train()
    assert torch.equal(acqf(x), expected)
    assert not model.training
