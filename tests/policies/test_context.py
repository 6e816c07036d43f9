"""A context: the model's view in the light of the controller's state."""

import gc
import weakref

import pytest
import torch

from botorch_ubo import ExpandingBounds, fit_default_model
from botorch_ubo.policies.progress import evaluations_without_improvement
from tests.support.by_hand import feed, random_data, rbf_model, unit_box
from tests.support.controlled import UNIT, build, corrected, data, gp
from tests.support.gps import tensor

BOUNDS = tensor([[10.0, -1.0], [30.0, 1.0]])


def test_with_another_state_it_is_the_one_that_is_built_anew() -> None:
    X, Y = data(7)
    box = corrected(UNIT)
    model = fit_default_model(X, Y, UNIT)
    before = box.context(model)
    _ = before.view.summary, before.unit, before.values, before.confidence.radius, before.box
    box.update(model)
    moved, anew = before.with_state(box._state), box.context(model)
    assert moved.view is before.view  # nothing of the model is computed again
    assert moved.confidence.beta == anew.confidence.beta != before.confidence.beta
    assert torch.equal(moved.box, anew.box) and not torch.equal(moved.box, before.box)
    assert torch.equal(moved.first_box, before.first_box)
    radii = [context.confidence.radius.half_widths for context in (moved, anew)]
    assert torch.equal(*radii)
    idle = [evaluations_without_improvement(context) for context in (moved, anew)]
    assert (moved.t, idle[0], moved.epsilon) == (anew.t, idle[1], anew.epsilon)


@pytest.mark.parametrize("method", ["EI-Turns", "GPUCB-UBO"])
def test_a_step_that_is_over_leaves_no_matrix_behind(method: str) -> None:
    """Without the collector, which in a long run comes after hundreds of steps."""
    X, Y = data(7)
    box = build(method, UNIT)
    gc.collect()
    gc.disable()
    try:
        model = box.fit(X, Y)
        context = box.context(model)
        _ = context.confidence.beta, context.view.model.posterior(X.unsqueeze(-2)).mean
        matrix = weakref.ref(context.view.model.factored().gram.cholesky)
        assert matrix() is not None
        del context, model
        assert matrix() is None
    finally:
        gc.enable()


def test_counters() -> None:
    X, Y = random_data(12)
    box = build("EI-Volx2", unit_box())  # moves after six evaluations
    model = rbf_model(X[:4], Y[:4])
    fresh = box.context(model)
    assert (fresh.n, fresh.d, fresh.num_initial, fresh.t, fresh.t_local) == (4, 2, 4, 1, 1)
    found = []
    for n in range(4, 13):
        feed(box, X[:n], Y[:n], start=n)
        context = box.context(rbf_model(X[:n], Y[:n]))
        assert context.num_initial == 4
        found.append((context.t, context.t_local))
    assert found == [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 1), (8, 2), (9, 3)]


def test_seeds_differ_by_step_and_by_the_users() -> None:
    X, Y = random_data(6)
    seeds = {
        (seed, n): ExpandingBounds(unit_box(), seed=seed).context(rbf_model(X[:n], Y[:n])).seed
        for seed in (0, 1)
        for n in (5, 6)
    }
    assert len(set(seeds.values())) == 4


class TestSpaces:
    def test_boxes_are_in_the_models_space_and_back(self) -> None:
        X = tensor([[12.0, 0.0], [20.0, 0.5], [25.0, -0.5]])
        model = rbf_model(X, tensor([0.0, 1.0, 2.0]), bounds=BOUNDS)
        box = build("EI-Volx2", BOUNDS)
        box.load_state_dict({**box.state_dict(), "bounds": [[0.0, -2.0], [50.0, 2.0]]})
        context = box.context(model)
        assert torch.equal(context.first_box, unit_box())
        torch.testing.assert_close(context.box, tensor([[-0.5, -0.5], [2.0, 1.5]]))
        torch.testing.assert_close(context.to_raw(context.box), box.bounds)
        torch.testing.assert_close(context.to_raw(context.X), X)
        torch.testing.assert_close(context.search_boxes, box.bounds)

    def test_limits_are_the_users(self) -> None:
        X = tensor([[12.0, 0.0], [20.0, 0.5], [25.0, -0.5]])
        model = rbf_model(X, tensor([0.0, 1.0, 2.0]), bounds=BOUNDS)
        box = build("EI-Volx2", BOUNDS, hard_limits={0: (0.0, None), 1: (None, 1.0)})
        cut = box.context(model).within_limits(tensor([[-5.0, -5.0], [5.0, 5.0]]))
        torch.testing.assert_close(cut, tensor([[-0.5, -5.0], [5.0, 1.0]]))

    @pytest.mark.parametrize("dtype", [torch.float, torch.double])
    def test_double_for_policies_the_models_dtype_for_searches(self, dtype: torch.dtype) -> None:
        X, Y = data()
        context = corrected(UNIT).context(gp(X.to(dtype), Y.to(dtype)))
        for value in (context.X, context.box, context.first_box, context.observed):
            assert value.dtype == torch.double
        assert context.search_boxes.dtype == dtype
