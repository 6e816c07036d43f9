"""The whole flow on every dtype and device: same numbers, nothing left on the CPU by accident.

CUDA is used where there is one. Everywhere, the flow also runs on a pretend accelerator
(``simgpu.py``) that raises where CUDA would. Registering it concerns the whole process, so no
other file may import it.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, qUpperConfidenceBound
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from gpytorch.kernels import MaternKernel, ScaleKernel
from torch import Tensor
from torch.overrides import TorchFunctionMode

from botorch_ubo import (
    Always,
    ExpandingBounds,
    LowerConfidenceBound,
    UnboundedUpperConfidenceBound,
    default_model,
    published_model,
)
from botorch_ubo.candidates import SearchSettings, maximize_acquisition
from botorch_ubo.methods import get_method
from botorch_ubo.models import fit_default_model
from botorch_ubo.posterior import summarize_posterior
from botorch_ubo.radius import theorem_radius
from botorch_ubo.refinement import refine_in_balls
from tests.helpers import tensor

try:
    from tests import simgpu
except ImportError:  # the function it builds on is torch's own and experimental
    simgpu = None

ROOT = Path(__file__).resolve().parent.parent
BOUNDS = tensor([[0.5, 0.5], [1.5, 2.5]])
# Every operation on the pretend device passes through Python: few of them, the same everywhere.
FAST: dict[str, Any] = {"num_restarts": 2, "raw_samples": 16, "options": {"maxiter": 12}}

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
needs_simgpu = pytest.mark.skipif(simgpu is None, reason="this torch cannot simulate a device")
DEVICES = [
    pytest.param("simgpu", marks=needs_simgpu),
    pytest.param("cuda", marks=needs_cuda),
]
ALL_DEVICES = ["cpu", *DEVICES]
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _no_view_writes() -> Iterator[None]:
    if simgpu is None:
        yield
    else:
        with simgpu.without_view_writes():
            yield


def objective(X: Tensor) -> Tensor:
    return torch.sin(3 * X).sum(dim=-1, keepdim=True)


def inputs(n: int = 8) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return BOUNDS[0] + torch.rand(n, 2, generator=generator, dtype=torch.double)


def rbf(X: Tensor, Y: Tensor) -> SingleTaskGP:
    return SingleTaskGP(X, Y, input_transform=Normalize(2, bounds=BOUNDS.to(X)))


def matern_log(X: Tensor, Y: Tensor) -> SingleTaskGP:
    transform = ChainedInputTransform(
        log=Log10([0, 1]), unit=Normalize(2, bounds=BOUNDS.log10().to(X))
    )
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=2)).to(X)
    return SingleTaskGP(
        X, Y, torch.full_like(Y, 1e-3), covar_module=kernel, input_transform=transform
    )


def quick(X: Tensor, Y: Tensor) -> SingleTaskGP:
    return default_model(X, Y, BOUNDS.to(X))


MODELS: dict[str, Callable[[Tensor, Tensor], SingleTaskGP]] = {
    "rbf": rbf,
    "quick": quick,
    "matern_log": matern_log,
    "published": published_model,
}


def build(name: str, device: str, dtype: torch.dtype = torch.double, n: int = 8) -> SingleTaskGP:
    """The same model on any device; hyper-parameters are set, not fitted."""
    X = inputs(n).to(device, dtype)
    model = MODELS[name](X, objective(X))
    base = getattr(model.covar_module, "base_kernel", model.covar_module)
    base.lengthscale = 0.6
    if name != "rbf":
        model.covar_module.outputscale = 1.3
    return model.eval()


def assert_on(device: str, dtype: torch.dtype, *tensors: Tensor) -> None:
    for value in tensors:
        assert value.device.type == device and value.dtype == dtype


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", sorted(MODELS))
class TestEqualToCpu:
    def test_geometry(self, name: str, device: str) -> None:
        summary, expected = (summarize_posterior(build(name, at)) for at in (device, "cpu"))
        for key in ("X", "z", "lambda_max", "theta", "prior_mean", "Y_mean", "Y_scale", "weights"):
            value = getattr(summary, key)
            assert_on(device, torch.double, value)
            torch.testing.assert_close(value.cpu(), getattr(expected, key), rtol=1e-8, atol=1e-12)
        assert summary.Y_std == pytest.approx(expected.Y_std, rel=1e-8)
        radius, same = (theorem_radius(s, 0.05, 4.0) for s in (summary, expected))
        assert_on(device, torch.double, radius.half_widths, radius.lengthscales)
        torch.testing.assert_close(radius.half_widths.cpu(), same.half_widths, rtol=1e-8, atol=0)
        assert radius.gamma == pytest.approx(same.gamma, rel=1e-8)

    def test_acquisition_values_and_gradients(self, name: str, device: str) -> None:
        for build_acqf in (
            lambda model: UnboundedUpperConfidenceBound(model, beta=4.0),
            lambda model: LowerConfidenceBound(model, beta=4.0),
        ):
            results = []
            for at in (device, "cpu"):
                acqf = build_acqf(build(name, at))
                X = inputs(5).unsqueeze(-2).to(at).requires_grad_(True)
                value = acqf(X)
                (gradient,) = torch.autograd.grad(value.sum(), X)
                assert_on(at, torch.double, value, gradient)
                results.append((value.detach().cpu(), gradient.cpu()))
            torch.testing.assert_close(results[0], results[1], rtol=1e-8, atol=1e-8)

    def test_value_at_infinity(self, name: str, device: str) -> None:
        values = [
            UnboundedUpperConfidenceBound(build(name, at), beta=4.0).value_at_infinity
            for at in (device, "cpu")
        ]
        assert values[0].device.type == device
        assert float(values[0]) == pytest.approx(float(values[1]), rel=1e-8)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("name", "method", "steps"),
    [
        ("rbf", "GPUCB-UBO", 2),
        ("matern_log", "GPUCB-UBO", 1),
        ("published", "GPUCB-UBO (as published)", 1),
        ("quick", "EI-Roaming", 2),
        ("matern_log", "EI-Roaming", 1),
    ],
)
def test_loop_is_equal_to_the_cpus(name: str, method: str, steps: int, device: str) -> None:
    """Boxes, beta and suggestions are the same."""
    boxes = {
        at: get_method(method).build(BOUNDS.to(at), trigger=Always(), **FAST)
        for at in (device, "cpu")
    }
    for n in range(8, 8 + steps):
        found = {at: box.suggest(build(name, at, n=n)) for at, box in boxes.items()}
        assert_on(device, torch.double, found[device], boxes[device].bounds)
        torch.testing.assert_close(
            boxes[device].bounds.cpu(), boxes["cpu"].bounds, rtol=1e-8, atol=1e-12
        )
        torch.testing.assert_close(found[device].cpu(), found["cpu"], rtol=1e-8, atol=1e-8)
    for step, expected in zip(boxes[device].trace, boxes["cpu"].trace, strict=True):
        assert step.beta == pytest.approx(expected.beta, rel=1e-8)
        assert step.epsilon == pytest.approx(expected.epsilon, rel=1e-8)


@pytest.mark.parametrize("fixed", [False, True], ids=["inferred", "fixed"])
@pytest.mark.parametrize("device", DEVICES)
def test_default_fit_is_equal_to_the_cpus(device: str, fixed: bool) -> None:
    models = []
    for at in (device, "cpu"):
        X = inputs().to(at)
        Yvar = torch.full_like(objective(X), 0.01) if fixed else None
        models.append(fit_default_model(X, objective(X), BOUNDS.to(at), Yvar))
        posterior = models[-1].posterior(inputs(5).to(at).unsqueeze(-2))
        assert_on(at, torch.double, posterior.mean, posterior.variance, *models[-1].parameters())
    for value, expected in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(value.cpu(), expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
class TestParts:
    def test_search_with_the_users_acquisition(self, device: str) -> None:
        found = []
        for at in (device, "cpu"):
            model = build("rbf", at)
            box = ExpandingBounds.corrected(BOUNDS.to(at), **FAST)
            acqf = LogExpectedImprovement(model, best_f=0.5)
            found.append(box.suggest(model, acqf))
            assert_on(at, torch.double, found[-1])
        torch.testing.assert_close(found[0].cpu(), found[1], rtol=1e-5, atol=1e-6)

    def test_union_of_boxes(self, device: str) -> None:
        model = build("rbf", device)
        context = ExpandingBounds.corrected(BOUNDS.to(device)).context(model)
        boxes = torch.stack([BOUNDS, BOUNDS + 3]).to(device)
        few = SearchSettings(2, 16, {"maxiter": 12})
        X, value = maximize_acquisition(context.ucb, boxes, context.neighborhood, settings=few)
        assert_on(device, torch.double, X, value)

    def test_batch_and_pending_points(self, device: str) -> None:
        model = build("rbf", device)
        box = ExpandingBounds.corrected(BOUNDS.to(device), **FAST)
        pending = inputs(2).to(device)
        acqf = qUpperConfidenceBound(model, beta=4.0)
        x = box.suggest(model, acqf, q=2, X_pending=pending)
        assert_on(device, torch.double, x)
        assert x.shape == (2, 2)

    def test_refinement(self, device: str) -> None:
        found = []
        for at in (device, "cpu"):
            model = build("rbf", at)
            box = ExpandingBounds.corrected(BOUNDS.to(at), **FAST)
            box.update(model)
            box.load_state_dict({**box.state_dict(), "bounds": [[-60.0, -60.0], [60.0, 60.0]]})
            far = torch.full((1, 2), 50.0, dtype=torch.double).to(at)
            found.append(refine_in_balls(box.context(model), far))
            assert_on(at, torch.double, found[-1])
        torch.testing.assert_close(found[0].cpu(), found[1], rtol=1e-4, atol=1e-4)

    def test_regret_bound(self, device: str) -> None:
        bounds = []
        for at in (device, "cpu"):
            box = ExpandingBounds.corrected(BOUNDS.to(at), **FAST)
            box.update(build("rbf", at))
            bounds.append(box.context(build("rbf", at, n=14)).regret_bound)
        assert bounds[0] == pytest.approx(bounds[1], rel=1e-6)

    def test_model_moved_after_its_fit(self, device: str) -> None:
        box = ExpandingBounds.corrected(BOUNDS.to(device), **FAST)
        model = build("rbf", "cpu").to(device)
        context = box.context(model)
        assert_on(device, torch.double, context.X, context.lcb_at_data, box.suggest(model))
        assert_on(device, torch.double, *model.parameters())

    def test_quick_model_moved_after_it_was_asked(self, device: str) -> None:
        model, X = build("quick", "cpu"), inputs(5).unsqueeze(-2)
        expected = model.posterior(X).mean.detach()
        mean = model.to(device).posterior(X.to(device)).mean
        assert_on(device, torch.double, mean)
        torch.testing.assert_close(mean.detach().cpu(), expected, rtol=1e-8, atol=1e-8)

    def test_state_crosses_devices(self, device: str) -> None:
        """Saved on an accelerator, loaded on the CPU."""
        there, here = (
            ExpandingBounds.corrected(BOUNDS.to(device), **FAST),
            ExpandingBounds.corrected(BOUNDS, **FAST),
        )
        there.update(build("rbf", device))
        here.load_state_dict(there.state_dict())
        torch.testing.assert_close(here.bounds, there.bounds.cpu())
        assert here.update(build("rbf", "cpu")) is not None  # the same data: nothing happens
        assert len(here.history) == 1

    def test_bounds_on_the_cpu_for_a_model_elsewhere(self, device: str) -> None:
        box = ExpandingBounds.corrected(
            BOUNDS, hard_limits=torch.stack([BOUNDS[0] - 0.2, BOUNDS[1] + 9]), **FAST
        )
        x = box.suggest(build("rbf", device))
        assert_on(device, torch.double, x)
        assert_on("cpu", torch.double, box.bounds)


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("rbf", "cpu"),
        ("matern_log", "cpu"),
        pytest.param("rbf", "simgpu", marks=needs_simgpu),
        pytest.param("rbf", "cuda", marks=needs_cuda),
        pytest.param("matern_log", "cuda", marks=needs_cuda),
    ],
)
def test_single_precision(name: str, device: str) -> None:
    """Candidates in the model's dtype, geometry in double, the box that of a double model."""
    single, double = (build(name, device, dtype) for dtype in (torch.float, torch.double))
    boxes = (
        ExpandingBounds.corrected(BOUNDS.float().to(device), **FAST),
        ExpandingBounds.corrected(BOUNDS.to(device), **FAST),
    )
    x = boxes[0].suggest(single)
    boxes[1].update(double)
    assert_on(device, torch.float, x, boxes[0].bounds)
    torch.testing.assert_close(boxes[0].bounds.double(), boxes[1].bounds, rtol=1e-3, atol=1e-3)
    summary = summarize_posterior(single)
    assert_on(device, torch.double, summary.z, summary.lambda_max, summary.X)
    assert all(p.dtype == torch.float for p in single.parameters())  # the user's model is intact


@pytest.mark.parametrize("device", ALL_DEVICES)
def test_the_users_model_stays_where_it_was(device: str) -> None:
    model = build("rbf", device)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    ExpandingBounds.corrected(BOUNDS.to(device), **FAST).suggest(model)
    for key, value in model.state_dict().items():
        assert_on(device, before[key].dtype, value)
        assert torch.equal(value.cpu(), before[key].cpu())


class _SinglePrecision(TorchFunctionMode):
    """Notes every call from our package that makes a float32 tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        out = func(*args, **(kwargs or {}))
        if isinstance(out, Tensor) and out.dtype == torch.float:
            frame = sys._getframe(1)
            name = frame.f_globals.get("__name__", "")
            if name.split(".")[0] == "botorch_ubo":
                self.found.add(f"{name}:{frame.f_lineno} {getattr(func, '__name__', func)}")
        return out


@pytest.mark.parametrize("name", sorted(MODELS))
@pytest.mark.parametrize("method", ["EI-Roaming", "GPUCB-UBO", "GPUCB-UBO (as published)"])
def test_a_double_run_makes_no_single_precision_tensor(name: str, method: str) -> None:
    """`torch.tensor(0.2)` and the like would lose half of the digits on their way to double."""
    box = get_method(method).build(BOUNDS, trigger=Always(), **FAST)
    with _SinglePrecision() as guard:
        for n in (8, 9):
            model = build(name, "cpu", n=n)
            box.suggest(model)
            box.suggest(model, q=2)
        context = box.context(model)
        _ = context.regret_bound, context.ucb.value_at_infinity
        far = torch.full((1, 2), 50.0, dtype=torch.double)
        refine_in_balls(context, far)
        context.__dict__["ucb_maximizer"] = (far, context.ucb_at_infinity - 1e-9)
        box.strategy.refine(context, far)
    assert guard.found == set()


def test_the_guard_notices() -> None:
    code = compile("import torch\ntorch.tensor([0.5])", "x", "exec")
    with _SinglePrecision() as guard:
        exec(code, {"__name__": "botorch_ubo.made_up"})
        exec(code, {"__name__": "somebody_else"})
    assert len(guard.found) == 1


@needs_simgpu
class TestSimgpu:
    """The pretend device itself: it must object where CUDA would, or the tests above are idle."""

    def test_mixing_devices_raises(self) -> None:
        with pytest.raises(RuntimeError, match="device"):
            torch.ones(2).to("simgpu") + torch.ones(2)

    def test_numpy_needs_the_cpu(self) -> None:
        with pytest.raises((RuntimeError, TypeError)):
            torch.ones(2).to("simgpu").numpy()

    def test_scalars_of_the_cpu_are_accepted(self) -> None:
        value = torch.ones(2).to("simgpu") * torch.tensor(3.0)
        assert value.device.type == "simgpu" and value.cpu().tolist() == [3.0, 3.0]

    def test_a_cpu_tensor_hidden_in_an_acquisition_is_caught(self) -> None:
        class Careless(UnboundedUpperConfidenceBound):
            def forward(self, X: Tensor) -> Tensor:
                return super().forward(X) + torch.zeros(X.shape[0], dtype=torch.double)

        model = build("rbf", "simgpu")
        with pytest.raises(RuntimeError, match="device"):
            ExpandingBounds.corrected(BOUNDS.to("simgpu"), **FAST).suggest(
                model, Careless(model, beta=4.0)
            )


def test_only_this_file_registers_the_pretend_device() -> None:
    files = subprocess.run(
        ["grep", "-rlE", "import simgpu|tests.simgpu", "--include=*.py", str(ROOT / "tests")],
        capture_output=True, text=True, check=False,
    ).stdout.split()  # fmt: skip
    assert files == [str(Path(__file__).resolve())]
