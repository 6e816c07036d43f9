"""The default on a device: fit and search stay there, and find what they find on the CPU."""

from __future__ import annotations

import pytest
import torch
from botorch.exceptions.errors import UnsupportedError
from botorch.models.transforms.input import Log10
from torch import Tensor

from botorch_ubo import ExpandingBounds, SearchSettings, fit_default_model
from botorch_ubo.acquisition.batched import LogEIOnDevice, batched_form
from botorch_ubo.acquisition.feasibility import LogFeasibilityWeighted
from botorch_ubo.acquisition.search import maximize_acquisition
from botorch_ubo.models.own_units import in_own_units
from botorch_ubo.models.quick import LogDensity, QuickGP, QuickLogExpectedImprovement
from tests.support.on_devices import DEVICES, assert_on, needs_simgpu, simgpu

FEW = SearchSettings(num_restarts=4, raw_samples=64)


def box_of(d: int = 2) -> Tensor:
    return torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.double)


def data(n: int, d: int = 2, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    X = 2 * torch.rand(n, d, generator=generator, dtype=torch.double) - 0.5
    return X, -(X - 1.2).square().sum(dim=-1, keepdim=True) + 0.3 * torch.sin(5 * X[:, :1])


def fitted(device: str, n: int = 14, seed: int = 0) -> QuickGP:
    X, Y = (t.to(device) for t in data(n, seed=seed))
    return fit_default_model(X, Y, box_of().to(device))


def own(model: QuickGP) -> QuickGP:
    return in_own_units(model)[0]


@needs_simgpu
class TestTransfers:
    def test_none_inside_a_search(self) -> None:
        model = own(fitted("simgpu"))
        view = ExpandingBounds(box_of().to("simgpu")).context(model).view
        acqf = LogEIOnDevice(model, model.train_targets.max())
        pending = torch.full((2, 2), 0.4, dtype=torch.double).to("simgpu")
        with simgpu.count_transfers() as found:
            for X_pending in (None, pending):
                acqf.set_X_pending(X_pending)
                X, value = maximize_acquisition(
                    acqf, box_of().to("simgpu"), view.neighborhood, settings=FEW
                )
        assert found.tensors == 0
        assert 0 < found.numbers <= 30  # how many rows still climb, asked every other step
        assert_on("simgpu", torch.double, X, value)
        with simgpu.count_transfers() as found:
            X.cpu()
        assert found.tensors == 1  # or the lines above could not fail

    def test_a_few_per_suggestion_however_much_is_known(self) -> None:
        counts = []
        for n, settings in ((10, FEW), (30, SearchSettings(num_restarts=6, raw_samples=128))):
            X, Y = (t.to("simgpu") for t in data(n))
            box = ExpandingBounds(box_of().to("simgpu"), search=settings)
            failed = torch.full((1, 2), 3.0, dtype=torch.double).to("simgpu")
            with simgpu.count_transfers() as fitting:
                model = box.fit(X, Y)
            with simgpu.count_transfers() as found:
                x = box.suggest(model, X_failed=failed)
            assert_on("simgpu", torch.double, x)
            counts.append((fitting.tensors, found.tensors))
        assert counts[0] == counts[1]
        assert counts[0][0] <= 2 and counts[0][1] <= 20  # for the record of the step, mostly


@pytest.mark.parametrize("device", DEVICES)
class TestAsGoodAsOnTheCpu:
    @pytest.mark.parametrize("seed", range(3))
    def test_fit(self, device: str, seed: int) -> None:
        """Nats of the posterior density of the hyper-parameters."""
        X, Y = data(14, seed=seed)
        values = []
        for model in (fitted(device, seed=seed), fitted("cpu", seed=seed)):
            kernel = model.covar_module
            parts = (kernel.base_kernel.lengthscale, kernel.outputscale, model.likelihood.noise)
            p = torch.cat([part.detach().cpu().flatten() for part in parts]).log().numpy()
            here = fit_default_model(X, Y, box_of())
            values.append(LogDensity(here.train(), None).value(p))
            assert not model.training
        assert values[0] == pytest.approx(values[1], abs=0.05)

    @pytest.mark.parametrize("q", [1, 2])
    def test_suggestion(self, device: str, q: int) -> None:
        """By the CPU's acquisition function; where there are two hills alike, either will do."""
        found, X_failed = {}, torch.full((1, 2), 1.6, dtype=torch.double)
        for at in (device, "cpu"):
            X, Y = (t.to(at) for t in data(14))
            box = ExpandingBounds(box_of().to(at), search=FEW)
            found[at] = box.suggest(box.fit(X, Y), q=q, X_failed=X_failed.to(at)).cpu()
        context = ExpandingBounds(box_of()).context(fitted("cpu"))
        acqf = LogFeasibilityWeighted(
            QuickLogExpectedImprovement(context.view.model, context.observed.max()),
            context.view.X_raw, X_failed, context.lengthscales,
        )  # fmt: skip
        there, here = (acqf(X[:1].unsqueeze(-2)) for X in found.values())
        assert float(there) >= float(here) - 0.01
        assert found[device].shape == (q, 2)
        if q == 2:
            assert float((found[device][0] - found[device][1]).abs().max()) > 1e-3

    def test_more_data_than_a_model_is_conditioned_on(
        self, device: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from botorch_ubo.models import default

        rule = default.data_that_matter
        monkeypatch.setattr(default, "data_that_matter", lambda *a: rule(*a, count=12))
        X, Y = (t.to(device) for t in data(20))
        box = ExpandingBounds(box_of().to(device), search=FEW)
        model = box.fit(X, Y)
        assert len(model.selected) == 12
        assert_on(device, torch.double, box.suggest(model))


@pytest.mark.parametrize("device", ["cpu", *DEVICES])
class TestFormula:
    @pytest.mark.parametrize("maximize", [True, False])
    def test_values_and_gradients_are_those_of_the_cpus(self, device: str, maximize: bool) -> None:
        model, best_f = own(fitted("cpu")), 0.3
        expected = QuickLogExpectedImprovement(model, best_f, maximize)
        there = own(fitted("cpu")).to(device)
        acqf = LogEIOnDevice(there, torch.tensor(best_f, dtype=torch.double), maximize)
        results = []
        for at, function in ((device, acqf), ("cpu", expected)):
            X = data(6, seed=5)[0].unsqueeze(-2).to(at).requires_grad_(True)
            value = function(X)
            (gradient,) = torch.autograd.grad(value.sum(), X)
            results.append((value.detach().cpu(), gradient.cpu()))
        torch.testing.assert_close(results[0], results[1], rtol=1e-7, atol=1e-7)

    def test_beyond_pending_points(self, device: str) -> None:
        """Outcomes of pending points are other draws, so means over many are compared."""
        pending, X = data(3, seed=6)[0] + 2, data(6, seed=5)[0].unsqueeze(-2) + 2
        model, there = own(fitted("cpu")), own(fitted("cpu")).to(device)
        best_f = model.train_targets.max()
        found, expected = [], []
        for seed in range(256):
            quick = QuickLogExpectedImprovement(model, best_f, X_pending=pending, seed=seed)
            expected.append(quick(X).exp())
            acqf = LogEIOnDevice(there, best_f, seed=seed)
            alone = acqf(X.to(device)).cpu()
            acqf.set_X_pending(pending.to(device))
            found.append(acqf(X.to(device)).cpu().exp())
            assert (found[-1].log() < alone).all()
        means = [torch.stack(values).mean(dim=0).log() for values in (found, expected)]
        torch.testing.assert_close(*means, rtol=0, atol=0.05)
        acqf.set_X_pending(None)
        torch.testing.assert_close(acqf(X.to(device)).cpu(), alone)

    def test_weighted_by_the_chance_of_success(self, device: str) -> None:
        model = own(fitted("cpu"))
        context = ExpandingBounds(box_of()).context(model)
        X_failed, X = data(2, seed=7)[0].to(device), data(6, seed=5)[0].to(device)
        acqf = LogFeasibilityWeighted(
            LogEIOnDevice(own(fitted("cpu")).to(device), model.train_targets.max()),
            context.view.X_raw.to(device), X_failed, context.lengthscales.to(device),
        )  # fmt: skip
        form = batched_form(acqf)
        assert form is not None
        values, _ = form.formula(form.gp.to_points(X.unsqueeze(0)), False)
        expected = acqf(X.unsqueeze(-2))
        torch.testing.assert_close(values[0].cpu(), expected.cpu(), rtol=1e-6, atol=1e-6)

    def test_a_union_of_boxes(self, device: str) -> None:
        model = own(fitted("cpu")).to(device)
        box = ExpandingBounds(box_of().to(device))
        boxes = torch.stack([box_of() - 3, box_of() + 0.2]).to(device)
        acqf = LogEIOnDevice(model, model.train_targets.max())
        neighborhood = box.context(model).view.neighborhood
        X, value = maximize_acquisition(acqf, boxes, neighborhood, settings=FEW)
        torch.testing.assert_close(value, acqf(X.unsqueeze(-2)), rtol=1e-6, atol=1e-6)
        alone = [maximize_acquisition(acqf, b, neighborhood, settings=FEW)[1] for b in boxes]
        assert float(value) == pytest.approx(float(torch.cat(alone).max()), abs=0.01)
        inside = ((X >= boxes[:, 0]) & (X <= boxes[:, 1])).all(dim=-1)
        assert inside.tolist() == [bool(a == max(alone)) for a in alone]

    def test_refuses_what_its_formulas_do_not_cover(self, device: str) -> None:
        X, Y = data(8)
        bent = QuickGP(X + 1, Y, outcome_transform=None, input_transform=Log10([0, 1]))
        with pytest.raises(UnsupportedError, match="affine"):
            LogEIOnDevice(bent.eval().to(device), Y.max())
        with pytest.raises(UnsupportedError, match="own units"):
            LogEIOnDevice(fitted("cpu").to(device), Y.max())
