"""Log augmented expected improvement, by hand and against BoTorch's LogEI."""

from __future__ import annotations

import math

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.exceptions.errors import InputDataError
from botorch.models import SingleTaskGP
from botorch.utils.testing import MockModel, MockPosterior

from botorch_ubo.acquisition import LogAugmentedExpectedImprovement


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_by_hand(dtype: torch.dtype) -> None:
    """At ``u = 0`` EI is ``sigma / sqrt(2 pi)``; sigma 3 and noise 4 leave ``1 - 4 / 5`` of it."""
    posterior = MockPosterior(
        mean=torch.full((1, 1), 2.0, dtype=dtype), variance=torch.full((1, 1), 9.0, dtype=dtype)
    )
    acqf = LogAugmentedExpectedImprovement(MockModel(posterior), best_f=2.0, noise_std=4.0)
    value = acqf(torch.zeros(1, 1, 1, dtype=dtype))
    assert value.dtype == dtype
    assert float(value) == pytest.approx(math.log(3 / math.sqrt(2 * math.pi) / 5), rel=1e-5)


def make_model() -> tuple[SingleTaskGP, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(9, 2, generator=generator, dtype=torch.double)
    return SingleTaskGP(X, X.sum(dim=-1, keepdim=True).sin()).eval(), X


@pytest.mark.parametrize("maximize", [True, False])
def test_without_noise_it_is_log_ei(maximize: bool) -> None:
    model, X = make_model()
    plain = LogExpectedImprovement(model, 0.5, maximize=maximize)
    acqf = LogAugmentedExpectedImprovement(model, 0.5, 0.0, maximize=maximize)
    torch.testing.assert_close(acqf(X.unsqueeze(-2)), plain(X.unsqueeze(-2)))


def test_known_places_lose_more() -> None:
    model, X = make_model()
    x = torch.stack([X[:1], X[:1] + 3.0])  # at a datum, and out of reach
    plain, acqf = LogExpectedImprovement(model, 0.5), LogAugmentedExpectedImprovement(model, 0.5, 1)
    loss = plain(x) - acqf(x)
    assert loss[0] > loss[1] + 1 > 1


def test_no_cancellation_where_noise_is_large() -> None:
    """``1 - s / t`` is ``sigma^2 / (2 s^2)`` for ``sigma << s``, far below rounding of 1."""
    posterior = MockPosterior(
        mean=torch.zeros(1, 1).double(), variance=torch.full((1, 1), 1e-8).double()
    )
    acqf = LogAugmentedExpectedImprovement(MockModel(posterior), best_f=0.0, noise_std=1e6)
    expected = math.log(1e-4 / math.sqrt(2 * math.pi)) + math.log(1e-8 / (2 * 1e12))
    assert float(acqf(torch.zeros(1, 1, 1).double())) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("noise_std", [-1.0, math.nan])
def test_bad_noise_is_refused(noise_std: float) -> None:
    model, _ = make_model()
    with pytest.raises(InputDataError, match="noise_std >= 0"):
        LogAugmentedExpectedImprovement(model, 0.5, noise_std)
