"""Expected hypervolume improvement by formula, held to BoTorch's."""

import math

import pytest
import torch
from botorch.acquisition.multi_objective.analytic import ExpectedHypervolumeImprovement
from botorch.exceptions.errors import UnsupportedError
from botorch.models import ModelListGP
from botorch.utils.multi_objective.box_decompositions.non_dominated import (
    FastNondominatedPartitioning,
)
from torch import Tensor

from botorch_ubo.models import fit_default_models
from botorch_ubo.models.quick import (
    Line,
    QuickLogExpectedHypervolumeImprovement,
    QuickModelList,
    closed_form,
)
from tests.support.gps import tensor

UNIT = tensor([[0.0] * 3, [1.0] * 3])
FIRST, SECOND = Line(0, 1.0, 0.0), Line(1, 1.0, 0.0)
REFERENCE = tensor([-1.2, -30.0])


def rand(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(shape, generator=generator, dtype=torch.double)


X = rand(14, 3)
Y = torch.stack(
    [
        -(X - 0.2).square().sum(dim=-1),
        5 - 30 * (X - 0.8).square().sum(dim=-1),
        (6 * X[:, 0]).sin() - X[:, 1] * X[:, 2],
    ],
    dim=-1,
)


def fitted() -> QuickModelList:
    model = fit_default_models(X, Y, UNIT, None, (None,) * 3)
    assert isinstance(model, QuickModelList)
    return model


def never() -> ExpectedHypervolumeImprovement:
    raise AssertionError("nothing is pending")


def test_values_are_those_of_botorch() -> None:
    model = fitted()
    found = QuickLogExpectedHypervolumeImprovement(model, (FIRST, SECOND), X, REFERENCE, never)
    means = model.posterior(X).mean[:, :2].detach()
    partitioning = FastNondominatedPartitioning(REFERENCE, means)
    theirs = ExpectedHypervolumeImprovement(
        ModelListGP(*list(model.models)[:2]), REFERENCE.tolist(), partitioning
    )
    T = torch.cat([rand(40, 1, 3, seed=1), 3 * rand(40, 1, 3, seed=2) - 1])
    with torch.no_grad():
        ours, expected = found(T), theirs(T).log()
    known = expected > -20  # below, differences of theirs are rounding
    assert known.sum() > 15
    torch.testing.assert_close(ours[known], expected[known], atol=1e-5, rtol=1e-5)
    assert ours.isfinite().all()


def test_weights_offsets_and_the_chance_to_be_feasible() -> None:
    """Turned round, in other units and under a constraint, whose chance is a factor."""
    model = fitted()
    lines = (Line(0, 2.0, 1.0), Line(1, 0.5, -3.0))
    reference = tensor([2 * -1.2 + 1, 0.5 * -30 - 3])
    plain = QuickLogExpectedHypervolumeImprovement(model, (FIRST, SECOND), X, REFERENCE, never)
    other = QuickLogExpectedHypervolumeImprovement(
        model, lines, X, reference, never, [Line(2, -1.0, 0.3)]
    )
    T = rand(20, 1, 3, seed=3)
    with torch.no_grad():
        posterior = model.posterior(T)
        margin = (posterior.mean[..., 2] - 0.3) / posterior.variance[..., 2].sqrt()
        expected = plain(T) + torch.special.log_ndtr(margin).squeeze(-1) + math.log(2 * 0.5)
        torch.testing.assert_close(other(T), expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("constraints", [[], [Line(2, -1.0, 0.3)]])
def test_gradients_are_those_of_differences(constraints: list[Line]) -> None:
    found = QuickLogExpectedHypervolumeImprovement(
        fitted(), (FIRST, SECOND), X, REFERENCE, never, constraints
    )
    T = (3 * rand(20, 1, 3, seed=4) - 1).requires_grad_()
    (slope,) = torch.autograd.grad(found(T).sum(), T)
    step = 1e-6
    with torch.no_grad():
        for i in range(3):
            move = step * torch.eye(3, dtype=torch.double)[i]
            difference = (found(T + move) - found(T - move)) / (2 * step)
            torch.testing.assert_close(slope[:, 0, i], difference, atol=1e-3, rtol=1e-3)


def test_an_empty_front_and_pending_points() -> None:
    model, asked = fitted(), []

    def sampled() -> QuickLogExpectedHypervolumeImprovement:
        asked.append(True)
        return QuickLogExpectedHypervolumeImprovement(
            model, (FIRST, SECOND), X[:0], REFERENCE, never
        )

    found = QuickLogExpectedHypervolumeImprovement(
        model, (FIRST, SECOND), X[:0], REFERENCE, sampled
    )
    x = rand(1, 1, 3)
    with torch.no_grad():
        assert found(x).isfinite().all()
    assert closed_form(found) is not None and not asked
    found.set_X_pending(X[:1] + 0.1)
    assert closed_form(found) is None  # the search is not to pass by pending points


def test_two_objectives_of_one_outcome_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"Expected.*outcome of its own.*qLogNoisy"):
        QuickLogExpectedHypervolumeImprovement(fitted(), (FIRST, FIRST), X, REFERENCE, never)
