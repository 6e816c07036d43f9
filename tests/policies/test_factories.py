"""Which improvement the default seeks, and by which class."""

from __future__ import annotations

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo import ExpandingBounds
from botorch_ubo.acquisition import qLogIncrementalExpectedImprovement as qLogIncremental
from botorch_ubo.models import fit_default_model
from botorch_ubo.models.quick.log_ei import QuickLogExpectedImprovement
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.factories import (
    best_mean_with_margin,
    q_searching_log_ei,
    searching_log_ei,
)

BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)


def data(scale: float = 1.0) -> tuple[Tensor, Tensor]:
    X = draw_sobol_samples(BOUNDS, 30, 1, seed=0).squeeze(-2)
    return X, scale * X.sum(dim=-1, keepdim=True).sin()


def context(model: SingleTaskGP, maximize: bool = True) -> Context:
    return ExpandingBounds(BOUNDS, maximize=maximize).context(model.eval())


@pytest.mark.parametrize(
    ("fit", "expected"),
    [
        (lambda X, Y: fit_default_model(X, Y, BOUNDS), QuickLogExpectedImprovement),
        (lambda X, Y: SingleTaskGP(X, Y), LogExpectedImprovement),
    ],
)
def test_the_quick_form_for_the_model_that_has_it(fit, expected: type) -> None:
    now = context(fit(*data()))
    assert type(searching_log_ei(now)) is expected
    batch = expected if expected is QuickLogExpectedImprovement else qLogIncremental
    assert type(q_searching_log_ei(now)) is batch


@pytest.mark.parametrize("maximize", [True, False])
def test_the_batch_form_seeks_the_same(maximize: bool) -> None:
    now = context(SingleTaskGP(*data()), maximize)
    sign = 1.0 if maximize else -1.0
    assert float(q_searching_log_ei(now).best_f) == pytest.approx(
        sign * float(best_mean_with_margin(now))
    )


@pytest.mark.parametrize("scale", [1e-5, 1e9])
def test_the_batch_form_knows_the_unit_of_the_outcomes(scale: float) -> None:
    """The same landscape, whatever the unit: BoTorch's smoothing of 1e-6 would fill all of it."""
    x = torch.tensor([[[0.9, 0.8]], [[0.1, 0.2]]]).double()
    values = []
    for unit in (1.0, scale):
        model = SingleTaskGP(*data(unit))
        torch.manual_seed(0)
        values.append(q_searching_log_ei(context(model))(x).detach().diff())
    torch.testing.assert_close(values[0], values[1], rtol=1e-4, atol=1e-4)
