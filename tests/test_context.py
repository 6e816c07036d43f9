"""What a context derives from the posterior at the data."""

from __future__ import annotations

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from torch import Tensor

from botorch_ubo import ExpandingBounds, fit_default_model
from botorch_ubo.factories import sought_value
from tests.strategies.helpers import rbf_model, unit_box


def data(n: int = 7, d: int = 2) -> tuple[Tensor, Tensor]:
    X = torch.rand(n, d, generator=torch.Generator().manual_seed(3), dtype=torch.double)
    return X, -(X - 2).square().sum(dim=-1, keepdim=True)


class TestMeanAtData:
    def test_plain_model(self) -> None:
        X, Y = data()
        model = fit_default_model(X, Y, unit_box())
        with torch.no_grad():
            expected = model.posterior(X).mean.squeeze(-1)
        torch.testing.assert_close(
            ExpandingBounds(unit_box()).context(model).mean_at_data, expected
        )

    def test_members_of_an_ensemble_are_averaged(self) -> None:
        X, Y = data()
        model = EnsembleMapSaasSingleTaskGP(X, Y, num_taus=3).eval()
        context = ExpandingBounds(unit_box()).context(model)
        with torch.no_grad():
            expected = model.posterior(X).mean.mean(dim=0).squeeze(-1)
        torch.testing.assert_close(context.mean_at_data, expected)
        assert context.believed_best == int(expected.argmax())

    def test_outputs_are_combined(self) -> None:
        X, Y = data()
        model = SingleTaskGP(X, torch.cat([Y, 3 * X[:, :1]], dim=-1)).eval()
        transform = ScalarizedPosteriorTransform(torch.tensor([2.0, -1.0]).double(), 5.0)
        context = ExpandingBounds(unit_box(), posterior_transform=transform).context(model)
        with torch.no_grad():
            mean = model.posterior(X).mean
        torch.testing.assert_close(context.mean_at_data, 5 + 2 * mean[:, 0] - mean[:, 1])


@pytest.mark.parametrize("maximize", [True, False])
def test_stalled_evaluations_and_what_is_sought(maximize: bool) -> None:
    """Values rise by 1 up to the fifth evaluation, and by less than is notable from then on."""
    X = 10 * torch.arange(12, dtype=torch.double).unsqueeze(-1)  # out of reach of each other
    Y = torch.tensor([0, 1, 2, 3, 4, *[4 + 0.01 * i for i in range(1, 8)]], dtype=torch.double)
    sign = 1.0 if maximize else -1.0
    box = ExpandingBounds(
        unit_box(1), maximize=maximize, epsilon=0.2, epsilon_unit="raw", max_growth=1e3
    )
    stalled, sought = [], []
    for n in range(4, 13):
        model = rbf_model(X[:n], sign * Y[:n])
        box.update(model)
        context = box.context(model)
        assert context.believed_best == n - 1
        assert context.notable == pytest.approx(0.2 + 0.01)  # the noise has variance 1e-4
        stalled.append(context.stalled)
        margin = sign * float(sought_value(context)) - float(context.mean_at_data.abs().max())
        sought.append(round(margin, 6))
    assert stalled == [0, 0, 1, 2, 3, 4, 5, 6, 7]
    # In one dimension, every other evaluation from the first that brought nothing.
    assert sought == [0, 0, 0.21, 0, 0.21, 0, 0.21, 0, 0.21]


def test_a_moved_context_is_the_one_that_is_built_anew() -> None:
    X, Y = data()
    box = ExpandingBounds(unit_box())
    model = fit_default_model(X, Y, unit_box())
    before = box.context(model)
    _ = before.summary, before.unit, before.mean_at_data, before.beta, before.radius
    box.update(model)
    moved, anew = before.moved(box._state), box.context(model)
    assert moved.beta == anew.beta != before.beta
    assert torch.equal(moved.model_bounds, anew.model_bounds)
    assert torch.equal(moved.radius.half_widths, anew.radius.half_widths)
    assert (moved.t, moved.stalled, moved.epsilon) == (anew.t, anew.stalled, anew.epsilon)
