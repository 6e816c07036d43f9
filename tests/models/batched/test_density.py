"""The density with a batch dimension is that of the fast path, run by run."""

import pytest
import torch

from botorch_ubo.models import default_model
from botorch_ubo.models.batched.density import NOT_POSITIVE_DEFINITE, BatchedDensity, Hyperpriors
from botorch_ubo.models.quick import EXACT_NOISE, LogDensity
from tests.support.batches import data, unit_box


def _both(d: int, exact: bool):
    X, Y, present = data(d)
    models = [
        default_model(X[i, row], Y[i, row].unsqueeze(-1), unit_box(d))
        for i, row in enumerate(present)
    ]
    y = torch.zeros_like(Y)
    for i, row in enumerate(present):
        y[i, row] = models[i].train_targets
    priors = Hyperpriors.of(d, X)
    batched = BatchedDensity.of(0.5 + X / 6, y, present, priors, torch.tensor([exact]))
    p = priors.modes + torch.linspace(-0.5, 1.0, 3 * (d + 2), dtype=torch.double).reshape(3, -1)
    if exact:
        p[:, -1] = torch.tensor(EXACT_NOISE).double().log()
    densities = [LogDensity(it.train(), EXACT_NOISE if exact else None) for it in models]
    return batched, densities, p


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_it_is_the_fast_paths_for_every_run(d, exact):
    batched, densities, p = _both(d, exact)
    values, gradients = batched(p)
    torch.testing.assert_close(batched.value(p), values, rtol=1e-10, atol=1e-10)
    for i, density in enumerate(densities):
        parameters = p[i, :-1] if exact else p[i]
        value, gradient = density(parameters.numpy())
        assert float(values[i]) == pytest.approx(value, abs=1e-8, rel=1e-8)
        expected = torch.from_numpy(gradient)
        torch.testing.assert_close(gradients[i, : len(expected)], expected, rtol=1e-8, atol=1e-8)
        assert not exact or float(gradients[i, -1]) == 0.0


def test_the_priors_are_those_of_the_default_model():
    density = _both(3, False)[1][0]
    priors = Hyperpriors.of(3, torch.zeros(0).double())
    assert priors.loc.tolist() == density.loc.tolist()
    assert torch.stack([priors.lower, priors.upper]).T.tolist() == density.bounds.tolist()


def test_a_matrix_without_a_factor_spoils_no_other_row():
    batched, _, p = _both(2, False)
    good = batched(p)
    p[1, :2], p[1, -1] = 40.0, -700.0  # all data in one place, without noise
    values, gradients = batched(p)
    assert float(values[1]) == NOT_POSITIVE_DEFINITE == float(batched.value(p)[1])
    torch.testing.assert_close(values[[0, 2]], good[0][[0, 2]])
    torch.testing.assert_close(gradients[[0, 2]], good[1][[0, 2]])


def test_several_arguments_share_the_data():
    X, Y, present = data(2)
    priors = Hyperpriors.of(2, X)
    exact = torch.tensor([False, True, False])
    shared = BatchedDensity.of(X, Y, present, priors, exact)
    p = priors.modes + torch.linspace(-0.5, 1.0, 36, dtype=torch.double).reshape(3, 3, 4)
    values, gradients = shared(p.reshape(9, 4))
    for i, kind in enumerate(exact):
        alone = BatchedDensity.of(X, Y, present, priors, kind.reshape(1))
        value, gradient = alone(p[:, i])
        torch.testing.assert_close(values.reshape(3, 3)[:, i], value)
        torch.testing.assert_close(gradients.reshape(3, 3, 4)[:, i], gradient)
