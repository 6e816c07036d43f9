"""The improvement of one more point: by hand, and against BoTorch's joint improvement."""

from __future__ import annotations

import math

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.sampling.normal import SobolQMCNormalSampler
from botorch.utils.testing import MockModel, MockPosterior

from botorch_ubo.acquisition import qLogIncrementalExpectedImprovement
from tests.support.gps import tensor

PENDING = tensor([[0.9, 0.9], [0.2, 1.4]])


def make_model() -> SingleTaskGP:
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(9, 2, generator=generator, dtype=torch.double)
    model = SingleTaskGP(X, X.sum(dim=-1, keepdim=True).sin())
    model.likelihood.noise = 0.2
    return model.eval()


def candidates(count: int = 6) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return 2 * torch.rand(count, 1, 2, generator=generator, dtype=torch.double)


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize(("pending", "gain"), [(2.0, 1.0), (0.0, 2.0)])
def test_by_hand(dtype: torch.dtype, pending: float, gain: float) -> None:
    """3 at the candidate, 1 known: a pending 2 leaves a gain of 1, a pending 0 one of 2."""
    samples = torch.tensor([[[3.0], [pending]]], dtype=dtype)
    acqf = qLogIncrementalExpectedImprovement(
        MockModel(MockPosterior(samples=samples)),
        best_f=1.0,
        sampler=SobolQMCNormalSampler(torch.Size([2])),
        X_pending=torch.ones(1, 1, dtype=dtype),
    )
    value = acqf(torch.zeros(1, 1, 1, dtype=dtype))
    assert value.dtype == dtype
    assert float(value) == pytest.approx(math.log(gain), abs=1e-5)


def test_joint_improvement_is_that_of_pending_points_and_the_increment() -> None:
    model, X = make_model(), candidates()
    sampler = SobolQMCNormalSampler(torch.Size([2**14]), seed=0)
    added = qLogIncrementalExpectedImprovement(model, 0.8, sampler, X_pending=PENDING)(X)
    joint = qLogExpectedImprovement(model, 0.8, sampler, X_pending=PENDING, tau_max=1e-4)(X)
    alone = qLogExpectedImprovement(model, 0.8, sampler, tau_max=1e-4)(PENDING)
    torch.testing.assert_close(added.exp(), joint.exp() - alone.exp(), rtol=0.03, atol=1e-4)


def test_without_pending_points_it_is_the_analytic_form() -> None:
    model, X = make_model(), candidates()
    sampler = SobolQMCNormalSampler(torch.Size([2**14]), seed=0)
    value = qLogIncrementalExpectedImprovement(model, 0.8, sampler)(X)
    torch.testing.assert_close(value, LogExpectedImprovement(model, 0.8)(X), rtol=0.0, atol=0.02)


@pytest.mark.filterwarnings("ignore:A not p.d., added jitter")  # two points are one
def test_a_pending_point_is_not_proposed_again() -> None:
    """By the joint improvement it is hardly worse than any other: that of pending points alone."""
    acqf = qLogIncrementalExpectedImprovement(make_model(), 0.8, X_pending=PENDING)
    assert (acqf(PENDING.unsqueeze(-2)) < acqf(candidates()).max() - 5).all()
    joint = qLogExpectedImprovement(make_model(), 0.8, X_pending=PENDING)
    assert (joint(PENDING.unsqueeze(-2)) > joint(candidates()).max() - 1).all()


def test_members_of_an_ensemble_and_gradients() -> None:
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(8, 2, generator=generator, dtype=torch.double)
    model = EnsembleMapSaasSingleTaskGP(X, X.sum(dim=-1, keepdim=True), num_taus=3).eval()
    acqf = qLogIncrementalExpectedImprovement(model, 1.0, X_pending=PENDING)
    points = candidates().requires_grad_()
    value = acqf(points)
    value.sum().backward()
    assert value.shape == (6,)
    assert points.grad.isfinite().all()
    assert (points.grad != 0).any()


def test_several_points_at_once_are_refused() -> None:
    acqf = qLogIncrementalExpectedImprovement(make_model(), 0.8)
    with pytest.raises(AssertionError, match="q=1"):
        acqf(PENDING)
