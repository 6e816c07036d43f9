"""Pending points for acquisition functions that propose one point at a time."""

import math

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Normalize
from gpytorch.kernels import RBFKernel, ScaleKernel

from botorch_ubo.acquisition.repelled import LogRepelledAcquisition
from tests.support.gps import tensor

X = tensor([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [5.0, 5.0]])
PENDING = tensor([[2.0, 3.0], [8.0, 8.0]])


def model() -> SingleTaskGP:
    """Length-scale 1/2 in the unit square of inputs from 0 to 10; variance 3."""
    kernel = ScaleKernel(RBFKernel()).double()
    kernel.base_kernel.lengthscale = 0.5
    kernel.outputscale = 3.0
    unit = Normalize(2, bounds=tensor([[0.0, 0.0], [10.0, 10.0]]))
    Y = X.sum(dim=-1, keepdim=True)
    return SingleTaskGP(X, Y, covar_module=kernel, input_transform=unit).eval()


def penalty(points: torch.Tensor, pending: torch.Tensor = PENDING) -> torch.Tensor:
    plain = LogExpectedImprovement(model(), 10.0)
    return (LogRepelledAcquisition(plain, pending)(points) - plain(points)).detach()


def test_by_hand() -> None:
    """One pending point at distance 5, a length-scale: rho^2 = exp(-1)."""
    found = penalty(tensor([[[2.0, 8.0]]]), PENDING[:1])
    assert float(found) == pytest.approx(math.log(1 - math.exp(-1)))


def test_penalties_of_several_points_add_up() -> None:
    points = tensor([[[1.0, 7.0]], [[6.0, 6.0]]])
    both = penalty(points, PENDING[:1]) + penalty(points, PENDING[1:])
    torch.testing.assert_close(penalty(points), both)


def test_at_a_pending_point_and_out_of_its_reach() -> None:
    at, beyond = penalty(torch.cat([PENDING[:1], PENDING[:1] + 200]).unsqueeze(-2))
    assert float(at) < -25 and math.isfinite(float(at))
    assert float(beyond) == pytest.approx(0.0, abs=1e-12)


def test_without_pending_points_it_is_the_function_itself() -> None:
    plain = LogExpectedImprovement(model(), 10.0)
    acqf = LogRepelledAcquisition(plain)
    points = X.unsqueeze(-2) + 1
    assert torch.equal(acqf(points), plain(points))
    acqf.set_X_pending(PENDING)
    assert (acqf(points) < plain(points)).all()
    acqf.set_X_pending(None)
    assert torch.equal(acqf(points), plain(points))


def test_members_of_an_ensemble_and_gradients() -> None:
    gp = EnsembleMapSaasSingleTaskGP(X / 10, X[:, :1], num_taus=3).eval()
    acqf = LogRepelledAcquisition(LogExpectedImprovement(gp, 5.0), PENDING / 10)
    points = (X / 10 + 0.05).unsqueeze(-2).requires_grad_()
    value = acqf(points)
    assert value.shape == (4,)
    (gradient,) = torch.autograd.grad(value.sum(), points)
    assert gradient.isfinite().all() and (gradient != 0).any()
