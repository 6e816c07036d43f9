"""The same numbers on every device: geometry, acquisition functions, fits and loops."""

import pytest
import torch

from botorch_ubo import (
    Always,
    LowerConfidenceBound,
    UnboundedUpperConfidenceBound,
)
from botorch_ubo.models import fit_default_model
from botorch_ubo.posterior import summarize_posterior
from botorch_ubo.posterior.radius import theorem_radius
from tests.support.controlled import build as build_box
from tests.support.on_devices import (
    BOUNDS,
    DEVICES,
    FAST,
    MODELS,
    assert_on,
    build,
    inputs,
    objective,
)

# Data as they are, not standardised, and single precision: BoTorch warns of both.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "name",
    [m if m == "quick" else pytest.param(m, marks=pytest.mark.slow) for m in sorted(MODELS)],
)
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
        ("quick", "EI-Roaming", 2),
        pytest.param("rbf", "GPUCB-UBO", 2, marks=pytest.mark.slow),
        pytest.param("matern_log", "GPUCB-UBO", 1, marks=pytest.mark.slow),
        pytest.param("published", "GPUCB-UBO (as published)", 1, marks=pytest.mark.slow),
        pytest.param("matern_log", "EI-Roaming", 1, marks=pytest.mark.slow),
    ],
)
def test_loop_is_equal_to_the_cpus(name: str, method: str, steps: int, device: str) -> None:
    """Boxes, beta and suggestions are the same."""
    boxes = {
        at: build_box(method, BOUNDS.to(at), trigger=Always(), **FAST) for at in (device, "cpu")
    }
    for n in range(8, 8 + steps):
        found = {at: box.suggest(build(name, at, n=n)) for at, box in boxes.items()}
        assert_on(device, torch.double, found[device], boxes[device].bounds)
        torch.testing.assert_close(
            boxes[device].bounds.cpu(), boxes["cpu"].bounds, rtol=1e-8, atol=1e-12
        )
        torch.testing.assert_close(found[device].cpu(), found["cpu"], rtol=1e-8, atol=1e-8)
    n += 1
    betas = [box.context(build(name, at, n=n)).confidence.beta for at, box in boxes.items()]
    assert betas[0] == pytest.approx(betas[1], rel=1e-8)
    for step, expected in zip(boxes[device].trace, boxes["cpu"].trace, strict=True):
        assert step.epsilon == pytest.approx(expected.epsilon, rel=1e-8)


@pytest.mark.parametrize("device", DEVICES)
def test_default_fit_with_known_noise_is_equal_to_the_cpus(device: str) -> None:
    """With inferred noise it stays on the device: see ``test_single.py``."""
    models = []
    for at in (device, "cpu"):
        X = inputs().to(at)
        Yvar = torch.full_like(objective(X), 0.01)
        models.append(fit_default_model(X, objective(X), BOUNDS.to(at), Yvar))
        posterior = models[-1].posterior(inputs(5).to(at).unsqueeze(-2))
        assert_on(at, torch.double, posterior.mean, posterior.variance, *models[-1].parameters())
    for value, expected in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(value.cpu(), expected, rtol=1e-8, atol=1e-12)
