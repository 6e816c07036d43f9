"""Nothing is left on the CPU by accident: parts of the flow on every other device."""

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, qUpperConfidenceBound

from botorch_ubo.acquisition.search import PrivateDraws, maximize_acquisition
from botorch_ubo.strategies.refinement import refine_in_balls
from tests.support.controlled import corrected
from tests.support.on_devices import (
    BOUNDS,
    DEVICES,
    FAST,
    FEW,
    assert_on,
    build,
    inputs,
)

# Data as they are, not standardised, and single precision: BoTorch warns of both.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("device", DEVICES)
class TestParts:
    @pytest.mark.slow
    def test_search_with_the_users_acquisition(self, device: str) -> None:
        found = []
        for at in (device, "cpu"):
            model = build("rbf", at)
            box = corrected(BOUNDS.to(at), **FAST)
            acqf = LogExpectedImprovement(model, best_f=0.5)
            found.append(box.suggest(model, acqf))
            assert_on(at, torch.double, found[-1])
        torch.testing.assert_close(found[0].cpu(), found[1], rtol=1e-5, atol=1e-6)

    def test_union_of_boxes(self, device: str) -> None:
        model = build("rbf", device)
        context = corrected(BOUNDS.to(device)).context(model)
        boxes = torch.stack([BOUNDS, BOUNDS + 3]).to(device)
        X, value = maximize_acquisition(
            context.confidence.ucb, boxes, context.view.neighborhood, settings=FEW
        )
        assert_on(device, torch.double, X, value)

    def test_private_draws(self, device: str) -> None:
        found = []
        for at in (device, "cpu"):
            with PrivateDraws(0):
                weights = torch.rand(4, 6, dtype=torch.double, device=at)
                found.append([weights, weights.multinomial(2), torch.randperm(5, device=at)])
                found[-1].append(torch.randn_like(weights))
                found[-1].append(torch.zeros_like(weights).uniform_())
            assert all(x.device.type == at for x in found[-1])
        for one, other in zip(*found, strict=True):
            assert torch.equal(one.cpu(), other)

    @pytest.mark.slow
    def test_within_constraints(self, device: str) -> None:
        model = build("rbf", device)
        box = corrected(BOUNDS.to(device), **FAST)
        limit = [(torch.tensor([0, 1]), torch.ones(2, dtype=torch.double).to(device), 2.0)]
        x = box.suggest(model, inequality_constraints=limit, discrete_dims={0: [0.5, 1.0, 1.5]})
        assert_on(device, torch.double, x)
        assert float(x[0, 0]) in (0.5, 1.0, 1.5) and float(x.sum()) >= 2 - 1e-6

    @pytest.mark.slow
    def test_batch_and_pending_points(self, device: str) -> None:
        model = build("rbf", device)
        box = corrected(BOUNDS.to(device), **FAST)
        pending = inputs(2).to(device)
        acqf = qUpperConfidenceBound(model, beta=4.0)
        x = box.suggest(model, acqf, q=2, X_pending=pending)
        assert_on(device, torch.double, x)
        assert x.shape == (2, 2)

    @pytest.mark.slow
    def test_refinement(self, device: str) -> None:
        found = []
        for at in (device, "cpu"):
            model = build("rbf", at)
            box = corrected(BOUNDS.to(at), **FAST)
            box.update(model)
            box.load_state_dict({**box.state_dict(), "bounds": [[-60.0, -60.0], [60.0, 60.0]]})
            far = torch.full((1, 2), 50.0, dtype=torch.double).to(at)
            found.append(refine_in_balls(box.context(model), far))
            assert_on(at, torch.double, found[-1])
        torch.testing.assert_close(found[0].cpu(), found[1], rtol=1e-4, atol=1e-4)

    @pytest.mark.slow
    def test_regret_bound(self, device: str) -> None:
        bounds = []
        for at in (device, "cpu"):
            box = corrected(BOUNDS.to(at), **FAST)
            box.update(build("rbf", at))
            bounds.append(box.context(build("rbf", at, n=14)).confidence.regret_bound)
        assert bounds[0] == pytest.approx(bounds[1], rel=1e-6)

    @pytest.mark.slow
    def test_model_moved_after_its_fit(self, device: str) -> None:
        box = corrected(BOUNDS.to(device), **FAST)
        model = build("rbf", "cpu").to(device)
        context = box.context(model)
        assert_on(
            device, torch.double, context.X, context.confidence.lcb_at_data, box.suggest(model)
        )
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
            corrected(BOUNDS.to(device), **FAST),
            corrected(BOUNDS, **FAST),
        )
        there.update(build("rbf", device))
        here.load_state_dict(there.state_dict())
        torch.testing.assert_close(here.bounds, there.bounds.cpu())
        assert here.update(build("rbf", "cpu")) is not None  # the same data: nothing happens
        assert len(here.history) == 1

    @pytest.mark.slow
    def test_bounds_on_the_cpu_for_a_model_elsewhere(self, device: str) -> None:
        box = corrected(BOUNDS, hard_limits=torch.stack([BOUNDS[0] - 0.2, BOUNDS[1] + 9]), **FAST)
        x = box.suggest(build("rbf", device))
        assert_on(device, torch.double, x)
        assert_on("cpu", torch.double, box.bounds)


@pytest.mark.parametrize("device", ["cpu", *DEVICES])
@pytest.mark.slow
def test_the_users_model_stays_where_it_was(device: str) -> None:
    model = build("rbf", device)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    corrected(BOUNDS.to(device), **FAST).suggest(model)
    for key, value in model.state_dict().items():
        assert_on(device, before[key].dtype, value)
        assert torch.equal(value.cpu(), before[key].cpu())
