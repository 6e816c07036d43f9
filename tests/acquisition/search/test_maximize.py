"""The search must find hills in a box that is mostly plateau, and never lose to a stock call."""

from functools import cache
from unittest import mock

import pytest
import torch
from botorch.acquisition import (
    AcquisitionFunction,
    qUpperConfidenceBound,
)
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.generation import gen
from botorch.optim import optimize_acqf
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings, climbing, maximize_acquisition
from botorch_ubo.models import fit_default_model
from botorch_ubo.models.quick.log_ei import QuickLogExpectedImprovement
from tests.support.gps import tensor
from tests.support.plateau import BETA, cube, fitted, log_ei, neighborhood, ucb

BUILDS = [(ucb, 0), (ucb, 1), (ucb, 2), (ucb, 3), (log_ei, 0), (log_ei, 1)]
WIDTHS = (1.0, 5.0, 20.0, 100.0)
CLIMB = "botorch_ubo.acquisition.search.maximize.climb"
OPTIMIZE = "botorch_ubo.acquisition.search.climbing.optimize_acqf"
# Stock calls on a plateau say so at length.
pytestmark = pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.BotorchWarning")


@cache
def compared(build, d: int, seed: int) -> list[tuple[float, float]]:
    """The values that a stock call and our search reach in boxes of growing width."""
    model = fitted(d, seed)
    acqf = build(model)
    values = []
    for width in WIDTHS:
        box = cube(d, width)
        torch.manual_seed(seed)
        _, stock = optimize_acqf(acqf, bounds=box, q=1, num_restarts=10, raw_samples=512)
        X, value = maximize_acquisition(acqf, box, neighborhood(model), seed=seed)
        assert X.shape == (1, d) and value.shape == (1,)
        assert ((X >= box[0]) & (X <= box[1])).all()
        torch.testing.assert_close(acqf(X.unsqueeze(-2)), value)
        values.append((float(stock), float(value)))
    return values


CASES = [(build, seed, d) for d in (3, 6) for build, seed in BUILDS]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "seed", "d"), CASES)
def test_never_worse_than_a_stock_call(build, seed: int, d: int) -> None:
    for width, (stock, ours) in zip(WIDTHS, compared(build, d, seed), strict=True):
        assert ours >= stock - 1e-6 * max(1.0, abs(stock)), f"width {width}"


@pytest.mark.slow
@pytest.mark.parametrize("d", [3, 6])
def test_finds_the_hill_that_a_stock_call_loses(d: int) -> None:
    """The reason for this module: from width 20 on, a stock call returns the plateau's value."""
    won = 0
    for seed in range(4):
        (_, hill), *wide = compared(ucb, d, seed)[1:]
        for stock, ours in wide:
            assert ours >= hill - 1e-5 * abs(hill)
            won += int(ours > stock + 1e-3)
    assert won >= 4  # of 8; were it 0, the tests of this file would prove nothing


def test_maximum_on_the_boundary_and_a_box_beside_the_data() -> None:
    model = fitted(3, 0)
    acqf = ucb(model)
    beside = cube(3, 0.2, center=1.0)  # no datum in it; starts near data must be brought inside
    X, value = maximize_acquisition(acqf, beside, neighborhood(model))
    assert ((X >= beside[0]) & (X <= beside[1])).all()
    grid = beside[0] + 0.2 * torch.rand(4096, 1, 3, dtype=torch.double)
    with torch.no_grad():
        assert value >= acqf(grid).max() - 1e-9


def test_batched_lbfgs_is_used_and_the_serial_path_is_not() -> None:
    model = fitted(3, 0)
    with (
        mock.patch.object(gen, "fmin_l_bfgs_b_batched", wraps=gen.fmin_l_bfgs_b_batched) as batched,
        mock.patch.object(gen, "minimize_with_timeout", wraps=gen.minimize_with_timeout) as serial,
    ):
        maximize_acquisition(ucb(model), cube(3, 5.0), neighborhood(model))
    assert batched.call_count == 1  # all restarts at once
    assert serial.call_count == 0


@pytest.mark.slow
def test_costs_no_more_evaluations_than_a_stock_call() -> None:
    model = fitted(6, 0)
    counts = []
    for search in ("stock", "ours"):
        acqf = ucb(model)
        points = 0

        def count(module: object, inputs: tuple[Tensor, ...]) -> None:
            nonlocal points
            points += inputs[0].shape[0]

        acqf.register_forward_pre_hook(count)
        torch.manual_seed(0)
        if search == "stock":
            optimize_acqf(acqf, bounds=cube(6, 1.0), q=1, num_restarts=10, raw_samples=512)
        else:
            maximize_acquisition(acqf, cube(6, 1.0), neighborhood(model))
        counts.append(points)
    assert counts[1] <= 1.25 * counts[0]


def test_greedy_batch_is_distinct_and_restores_pending_points() -> None:
    model = fitted(3, 1)
    acqf = qUpperConfidenceBound(model, beta=BETA)
    pending = tensor([[0.5, 0.5, 0.5]])
    acqf.set_X_pending(pending)
    X, value = maximize_acquisition(acqf, cube(3, 5.0), neighborhood(model), q=3)
    assert X.shape == (3, 3) and value.shape == (3,)
    assert torch.pdist(X).min() > 1e-3
    assert torch.equal(acqf.X_pending, pending)
    acqf.set_X_pending(None)
    maximize_acquisition(acqf, cube(3, 5.0), neighborhood(model), q=2)
    assert acqf.X_pending is None


def test_pending_points_are_restored_after_an_error() -> None:
    model = fitted(3, 1)
    acqf = qUpperConfidenceBound(model, beta=BETA)
    original = climbing.climb
    calls = []

    def fail_second(*args: object, **kwargs: object) -> tuple[Tensor, Tensor]:
        calls.append(acqf.X_pending)
        if len(calls) == 2:
            raise RuntimeError("out of memory")
        return original(*args, **kwargs)

    with (
        mock.patch(CLIMB, fail_second),
        pytest.raises(RuntimeError, match="out of memory"),
    ):
        maximize_acquisition(acqf, cube(3, 5.0), neighborhood(model), q=2)
    assert calls[0] is None and calls[1].shape == (1, 3)
    assert acqf.X_pending is None


def test_greedy_batch_takes_pending_points_into_account() -> None:
    """The second of a batch is what a search with the first pending finds."""
    model = fitted(3, 1)
    acqf = qUpperConfidenceBound(model, beta=BETA)
    near = neighborhood(model)
    X, _ = maximize_acquisition(acqf, cube(3, 5.0), near, q=2, seed=4)
    acqf.set_X_pending(X[:1])
    second, _ = maximize_acquisition(acqf, cube(3, 5.0), near, q=1, seed=5)
    torch.testing.assert_close(second, X[1:])


def test_union_of_boxes_is_respected() -> None:
    model = fitted(3, 0)
    acqf = ucb(model)
    near = neighborhood(model)
    hill, _ = maximize_acquisition(acqf, cube(3, 5.0), near)
    # The hill lies between the boxes, in their hull but in neither of them.
    left, right = cube(3, 0.4), cube(3, 0.4)
    left[1, 0] = hill[0, 0] - 0.05
    left[0, 0] = left[1, 0] - 0.4
    right[0, 0] = hill[0, 0] + 0.05
    right[1, 0] = right[0, 0] + 0.4
    boxes = torch.stack([left, right])
    X, value = maximize_acquisition(acqf, boxes, near)
    inside = ((X.unsqueeze(-3) >= boxes[:, :1]) & (X.unsqueeze(-3) <= boxes[:, 1:])).all(-1)
    assert inside.any()
    apart = [float(maximize_acquisition(acqf, box, near)[1]) for box in boxes]
    assert float(value) == pytest.approx(max(apart), abs=1e-6)
    assert apart[0] != pytest.approx(apart[1], abs=1e-3)


def test_many_boxes_cost_about_two_searches() -> None:
    model = fitted(3, 0)
    boxes = torch.stack([cube(3, 0.2, center=c) for c in (0.1, 0.3, 0.5, 0.7, 0.9)])
    with mock.patch(CLIMB, wraps=climbing.climb) as spy:
        maximize_acquisition(ucb(model), boxes, neighborhood(model))
    restarts = [len(call.args[2]) for call in spy.call_args_list]
    assert len(restarts) == 5 and sum(restarts) <= 10


def test_repeatable_by_seed_and_global_state_untouched() -> None:
    model = fitted(3, 2)
    acqf, near = ucb(model), neighborhood(model)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first, _ = maximize_acquisition(acqf, cube(3, 20.0), near, seed=3)
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(2)
    again, _ = maximize_acquisition(acqf, cube(3, 20.0), near, seed=3)
    assert torch.equal(first, again)


def test_global_state_untouched_after_an_error() -> None:
    class Broken(AcquisitionFunction):
        def forward(self, X: Tensor) -> Tensor:
            raise ValueError("broken")

    model = fitted(3, 2)
    before = torch.get_rng_state()
    with pytest.raises(ValueError, match="broken"):
        maximize_acquisition(Broken(model), cube(3, 20.0), neighborhood(model))
    assert torch.equal(before, torch.get_rng_state())


def test_analytic_acquisition_with_a_batch_is_refused() -> None:
    model = fitted(3, 0)
    with pytest.raises(UnsupportedError, match=r"q=2.*UpperConfidenceBound.*Use a q-acquisition"):
        maximize_acquisition(ucb(model), cube(3, 5.0), neighborhood(model), q=2)


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (1, 2, 4), (2,)])
def test_boxes_of_a_wrong_shape_are_refused(shape: tuple[int, ...]) -> None:
    model = fitted(3, 0)
    with pytest.raises(InputDataError, match="2 x 3"):
        maximize_acquisition(ucb(model), torch.zeros(shape).double(), neighborhood(model))


def test_options_reach_the_optimiser() -> None:
    model = fitted(3, 0)
    settings = SearchSettings(4, 64, {"maxiter": 1})
    with mock.patch(OPTIMIZE, wraps=optimize_acqf) as spy:
        maximize_acquisition(ucb(model), cube(3, 5.0), neighborhood(model), settings=settings)
    assert spy.call_args.kwargs["options"] == {"maxiter": 1}
    assert spy.call_args.kwargs["num_restarts"] == 4


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e6, 1e12])
def test_units_of_the_inputs_do_not_matter(unit: float) -> None:
    bounds = cube(2, 1.0)
    X = draw_sobol_samples(bounds, 8, 1, seed=0).squeeze(-2)
    Y = -(X - 1.2).square().sum(dim=-1, keepdim=True)
    found = []
    for side in (1.0, unit):
        model = fit_default_model(side * X, Y, side * bounds)
        acqf = QuickLogExpectedImprovement(model, Y.max())
        found.append(maximize_acquisition(acqf, side * cube(2, 3.0), neighborhood(model)))
    torch.testing.assert_close(found[1][0] / unit, found[0][0], rtol=0, atol=0.02)
    torch.testing.assert_close(found[1][1], found[0][1], rtol=0, atol=1e-3)
