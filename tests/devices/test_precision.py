"""Single precision in, single precision out; a double run stays double throughout."""

import sys

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from botorch_ubo import (
    Always,
)
from botorch_ubo.posterior import summarize_posterior
from botorch_ubo.strategies.refinement import refine_in_balls
from tests.support.controlled import build as build_box
from tests.support.controlled import corrected
from tests.support.on_devices import (
    BOUNDS,
    FAST,
    MODELS,
    assert_on,
    build,
    needs_cuda,
    needs_simgpu,
)

# Data as they are, not standardised, and single precision: BoTorch warns of both.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("rbf", "cpu"),
        ("matern_log", "cpu"),
        pytest.param("rbf", "simgpu", marks=[needs_simgpu, pytest.mark.slow]),
        pytest.param("rbf", "cuda", marks=needs_cuda),
        pytest.param("matern_log", "cuda", marks=needs_cuda),
    ],
)
def test_single_precision(name: str, device: str) -> None:
    """Candidates in the model's dtype, geometry in double, the box that of a double model."""
    single, double = (build(name, device, dtype) for dtype in (torch.float, torch.double))
    boxes = (
        corrected(BOUNDS.float().to(device), **FAST),
        corrected(BOUNDS.to(device), **FAST),
    )
    x = boxes[0].suggest(single)
    boxes[1].update(double)
    assert_on(device, torch.float, x, boxes[0].bounds)
    torch.testing.assert_close(boxes[0].bounds.double(), boxes[1].bounds, rtol=1e-3, atol=1e-3)
    summary = summarize_posterior(single)
    assert_on(device, torch.double, summary.z, summary.lambda_max, summary.X)
    assert all(p.dtype == torch.float for p in single.parameters())  # the user's model is intact


class _SinglePrecision(TorchFunctionMode):
    """Notes every call from our package that makes a float32 tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        out = func(*args, **(kwargs or {}))
        copied = getattr(func, "__name__", "") == "clone"  # as precise as what is copied
        if isinstance(out, Tensor) and out.dtype == torch.float and not copied:
            frame = sys._getframe(1)
            name = frame.f_globals.get("__name__", "")
            if name.split(".")[0] == "botorch_ubo":
                self.found.add(f"{name}:{frame.f_lineno} {getattr(func, '__name__', func)}")
        return out


SLOW = [
    pytest.param(name, method, marks=pytest.mark.slow)
    for name in sorted(MODELS)
    for method in ("EI-Roaming", "GPUCB-UBO", "GPUCB-UBO (as published)")
    if (name, method) != ("quick", "EI-Roaming")
]


@pytest.mark.parametrize(("name", "method"), [("quick", "EI-Roaming"), *SLOW])
def test_a_double_run_makes_no_single_precision_tensor(name: str, method: str) -> None:
    """`torch.tensor(0.2)` and the like would lose half of the digits on their way to double."""
    box = build_box(method, BOUNDS, trigger=Always(), **FAST)
    with _SinglePrecision() as guard:
        for n in (8, 9):
            model = build(name, "cpu", n=n)
            box.suggest(model)
            box.suggest(model, q=2)
        context = box.context(model)
        bounds = context.confidence
        _ = bounds.regret_bound, bounds.ucb.value_at_infinity
        far = torch.full((1, 2), 50.0, dtype=torch.double)
        refine_in_balls(context, far)
        bounds.__dict__["ucb_maximizer"] = (far, bounds.ucb_at_infinity - 1e-9)
        box.strategy.refine(context, far, bounds.ucb)
    assert guard.found == set()


def test_the_guard_notices() -> None:
    code = compile("import torch\ntorch.tensor([0.5])", "x", "exec")
    with _SinglePrecision() as guard:
        exec(code, {"__name__": "botorch_ubo.made_up"})
        exec(code, {"__name__": "somebody_else"})
    assert len(guard.found) == 1
