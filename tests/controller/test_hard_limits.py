"""Nothing crosses a hard limit: not a box, a start, a candidate, a refinement or a rounding.

Everything is compared with the user's own doubles, and with no tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings, StartsAroundData
from botorch_ubo.boxes import cast_inward, clip, fit_inside
from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.methods import available_methods, get_method
from botorch_ubo.models import default_model
from botorch_ubo.policies.triggers import Always
from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.strategies import FixedBox
from tests.support.controlled import FAST, UNIT, bell, build, corrected, data, gp, inside
from tests.support.gps import tensor

METHODS = [method.name for method in available_methods()]
MANY = settings(max_examples=1000, deadline=None)
SOME = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
# One step of the inner optimiser is enough to cross a limit, if it can be crossed.
SEARCH: dict[str, Any] = {"search": SearchSettings(2, 16, {"maxiter": 3})}

Pair = tuple[float | None, float | None]
Case = tuple[list[tuple[float, float]], list[Pair]]


@st.composite
def cases(draw: st.DrawFn, max_dims: int = 4) -> Case:
    """A box, and limits that touch it, leave room or are absent, on each side for itself."""
    box, limits = [], []
    for _ in range(draw(st.integers(1, max_dims))):
        scale = 10.0 ** draw(st.integers(-5, 5))
        lower = scale * draw(st.floats(-10, 10))
        upper = lower + scale * draw(st.floats(0.01, 10))
        room = st.none() | st.just(0.0) | st.floats(1e-3, 3)
        below, above = draw(room), draw(room)
        box.append((lower, upper))
        limits.append(
            (
                None if below is None else lower - scale * below,
                None if above is None else upper + scale * above,
            )
        )
    return box, limits


def tensor_case(case: Case) -> tuple[Tensor, Tensor]:
    """The box as a double tensor, digit by digit, and limits that are infinite on free sides."""
    box, limits = case
    low = [[a for a, _ in box], [b for _, b in box]]
    far = [
        [-math.inf if a is None else a for a, _ in limits],
        [math.inf if b is None else b for _, b in limits],
    ]
    return torch.tensor(low, dtype=torch.double), torch.tensor(far, dtype=torch.double)


def crossed(X: Tensor, limits: Tensor) -> bool:
    X = X.detach().double()
    return bool(((X < limits[0]) | (X > limits[1]) | ~X.isfinite()).any())


def random_model(box: Tensor, seed: int, dtype: torch.dtype) -> Any:
    """An unfitted model of random data in the box, with a length-scale short, usual or long."""
    generator = torch.Generator().manual_seed(seed)
    d = box.shape[-1]
    unit = torch.rand(5, d, generator=generator, dtype=torch.double)
    X = clip(box[0] + unit * (box[1] - box[0]), box).to(dtype)
    X = clip(X, cast_inward(box, X))
    Y = torch.randn(5, 1, generator=generator, dtype=torch.double).to(dtype)
    model = default_model(X, Y, box.to(dtype))
    model.covar_module.base_kernel.lengthscale = (0.1, 1.0, 30.0)[seed % 3]
    return model.eval()


@given(cases(), st.sampled_from([torch.float, torch.double]), st.floats(-3, 3), st.floats(0.1, 9))
@MANY
@pytest.mark.slow
def test_boxes(case: Case, dtype: torch.dtype, shift: float, factor: float) -> None:
    """A box moved and blown up, cut to limits, cast: inside the limits, and a box."""
    box, limits = tensor_case(case)
    side = box[1] - box[0]
    moved = torch.stack([box[0] + shift * side, box[0] + shift * side + factor * side])
    assert not crossed(clip(moved, limits), limits)
    fitted = fit_inside(moved, limits)
    assert not crossed(fitted, limits)
    assert (fitted[0] < fitted[1]).all()
    cast = cast_inward(fitted, torch.empty(0, dtype=dtype))
    if (cast[0] < cast[1]).all():  # single precision may not tell the faces apart
        assert not crossed(cast, limits)
        assert not crossed(cast, fitted)


@given(cases(), st.integers(0, 99), st.integers(1, 8))
@MANY
@pytest.mark.slow
def test_initial_design(case: Case, seed: int, number: int) -> None:
    box, limits = tensor_case(case)
    optimizer = UnboundedOptimizer(case[0], hard_limits=case[1], seed=seed)
    X = torch.tensor([trial.X for trial in optimizer.ask(number)], dtype=torch.double)
    assert not crossed(X, limits)
    assert not crossed(X[: box.shape[-1] + 1], box)


@given(cases(), st.integers(0, 99), st.sampled_from([torch.float, torch.double]))
@SOME
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_starts_of_a_search(case: Case, seed: int, dtype: torch.dtype) -> None:
    box, limits = tensor_case(case)
    controller = corrected(box, hard_limits=limits)
    model = random_model(box, seed, dtype)
    controller.update(model)
    context = controller.context(model)
    draw = StartsAroundData(context.view.neighborhood, seed)
    starts = draw(context.confidence.ucb, context.search_boxes, 1, 4, 32)
    assert not crossed(starts, limits)
    assert not crossed(starts, controller.bounds)


@pytest.mark.slow
@given(cases(), st.integers(0, 99), st.sampled_from(METHODS), st.floats(0.1, 100))
@SOME
@pytest.mark.filterwarnings("ignore")
def test_moves_of_the_box(case: Case, seed: int, method: str, max_growth: float) -> None:
    box, limits = tensor_case(case)
    controller = build(method, box, hard_limits=limits, max_growth=max_growth, seed=seed, **SEARCH)
    for step in range(2):
        record = controller.update(random_model(box, seed + step, torch.double))
        assert not crossed(controller.bounds, limits)
        assert (controller.bounds[0] < controller.bounds[1]).all()
        if record is not None:
            assert not crossed(torch.tensor(record.new_bounds, dtype=torch.double), limits)


@given(
    cases(3),
    st.integers(0, 99),
    st.sampled_from(METHODS),
    st.sampled_from([torch.float, torch.double]),
    st.integers(1, 2),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_candidates(
    case: Case,
    seed: int,
    method: str,
    dtype: torch.dtype,
    q: int,
    pending: bool,
    failed: bool,
) -> None:
    """One point or several, beside pending and failed ones, by every method, in both dtypes."""
    box, limits = tensor_case(case)
    controller = build(method, box, hard_limits=limits, seed=seed, **SEARCH)
    model = random_model(box, seed, dtype)
    here = box.to(dtype).mean(dim=0, keepdim=True)
    X = controller.suggest(
        model, q=q, X_pending=here if pending else None, X_failed=here if failed else None
    )
    assert X.shape == (q, box.shape[-1])
    assert X.dtype == dtype
    assert not crossed(X, limits)


SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 24)]


@pytest.mark.parametrize("seed", [*range(3), *SLOW])
@pytest.mark.filterwarnings("ignore")
def test_whole_runs(seed: int) -> None:
    """Runs with batches, failures, late results and an optimum beyond the limits."""
    generator = torch.Generator().manual_seed(seed)
    d = 1 + seed % 3
    box = [(float(i), i + 1.1) for i in range(d)]
    room = 3 * torch.rand(d, 2, generator=generator, dtype=torch.double)
    kept = torch.rand(d, 2, generator=generator) < 0.7
    limits: list[Pair] = [
        (
            low - float(room[i, 0]) if kept[i, 0] else None,
            high + float(room[i, 1]) if kept[i, 1] else None,
        )
        for i, (low, high) in enumerate(box)
    ]
    optimizer = UnboundedOptimizer(
        box, hard_limits=limits, method=METHODS[seed % len(METHODS)], seed=seed, num_initial=3,
        **SEARCH,
    )  # fmt: skip
    while len(optimizer.trials) < 8:
        optimizer.ask(1 + seed % 2)
        trial = optimizer.pending[-1]
        if len(optimizer.trials) % 5 == 4:
            optimizer.tell_failed(trial, "broke")
        else:
            optimizer.tell(trial, sum((x - 50.0) ** 2 for x in trial.X))
    _, far = tensor_case((box, limits))
    assert not crossed(torch.tensor([t.X for t in optimizer.trials], dtype=torch.double), far)
    assert not crossed(optimizer.box.bounds, far)


LIMIT_CASES = st.fixed_dictionaries(
    {
        # Neither 0.1 nor its like is a float32 (nor a float64, but that one is ours).
        "low": st.sampled_from([0.1, 0.3, 0.7, 1e-3, 1 / 3]),
        "span": st.sampled_from([1.1, 1.7, 3.3, 10.1]),
        "lengthscale": st.sampled_from([0.05, 0.5, 5.0]),
        "dtype": st.sampled_from([torch.float, torch.double]),
        "log": st.booleans(),
        "seed": st.integers(0, 10_000),
    }
)


@given(LIMIT_CASES)
@settings(max_examples=20)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_boxes_and_candidates_of_the_theorem_in_decades(case: dict[str, Any]) -> None:
    """Neither by a box nor by a candidate, compared with the user's own doubles."""
    low, high = case["low"], case["low"] * case["span"]
    limits = tensor([[low, low], [high, high]])
    generator = torch.Generator().manual_seed(case["seed"])
    corners = torch.rand(2, 2, generator=generator, dtype=torch.double).sort(dim=0).values
    first = limits[0] + (0.02 + 0.96 * corners) * (limits[1] - limits[0])
    first[1] = torch.maximum(first[1], first[0] + 0.01 * (high - low))
    unit = torch.rand(5, 2, generator=generator, dtype=torch.double)
    X = (first[0] + unit * (first[1] - first[0])).to(case["dtype"])
    bounds = first.to(X)
    if case["log"]:
        transform = ChainedInputTransform(log=Log10([0, 1]), n=Normalize(2, bounds=bounds.log10()))
    else:
        transform = Normalize(2, bounds=bounds)
    box = corrected(bounds, hard_limits=limits, trigger=Always(), **FAST)
    for _ in range(3):
        model = gp(X, bell(X), case["lengthscale"], input_transform=transform)
        x = box.suggest(model)
        assert x.dtype == case["dtype"] and x.shape == (1, 2)
        assert inside(limits, x) and inside(limits, box.bounds)
        for record in box.history:
            assert inside(limits, tensor(record.new_bounds))
        X = torch.cat([X, x])


def test_tiny_rooms_between_box_and_limit() -> None:
    """A limit one representable number beyond the box."""
    limits = (math.nextafter(0.1, 0.0), math.nextafter(0.3, 1.0))
    optimizer = UnboundedOptimizer([(0.1, 0.3)], hard_limits=[limits], num_initial=3, **SEARCH)
    for _ in range(8):
        trial = optimizer.ask()
        assert limits[0] <= trial.X[0] <= limits[1]
        optimizer.tell(trial, -trial.X[0])


@dataclass(frozen=True)
class Astray(FixedBox):
    """Refines every candidate to a place beyond all limits."""

    def refine(self, context: Any, X: Tensor, acq_function: Any) -> Tensor:
        return X + 100.0


def test_limits_have_the_last_word_after_a_refinement() -> None:
    method = replace(get_method("EI-Vanilla"), name="Astray", strategy=Astray())
    box = ExpandingBounds(UNIT, method=method, hard_limits=[(None, 1.25), (None, 1.5)], **FAST)
    assert box.suggest(gp(*data())).tolist() == [[1.25, 1.5]]
