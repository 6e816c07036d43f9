r"""A conformance suite for strategies, ours or a third party's (needs pytest).

A subclass names the method that uses the strategy, and inherits the tests:

    >>> class TestMine(StrategyConformance):
    >>>     method = Method(
    >>>         name="Mine", strategy=Mine(), trigger=Always(),
    >>>         acquisition=log_ei, batch_acquisition=q_log_ei,
    >>>     )

The models have hyper-parameters at their initial values: the suite is about boxes, not fits.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.boxes import contains
from botorch_ubo.controller import ExpandingBounds, Method

QUICK = SearchSettings(num_restarts=2, raw_samples=32)
"""A search that is good enough for a test of boxes."""


class StrategyConformance:
    """What every strategy must do; inherit, and say which method uses it."""

    method: ClassVar[str | Method]
    """A method with the strategy, its trigger and acquisition functions, or the name of one."""
    devices: ClassVar[tuple[str, ...]] = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
    steps: ClassVar[int] = 3

    def make(self, bounds: Tensor, **kwargs: Any) -> ExpandingBounds:
        r"""Build a controller that uses the strategy.

        Args:
            bounds: The first ``2 x d`` box.
            kwargs: To be passed on to ``ExpandingBounds``.
        """
        return ExpandingBounds(bounds, method=self.method, search=QUICK, **kwargs)

    def must_contain(self, box: ExpandingBounds, X: Tensor, Y: Tensor) -> Tensor:
        r"""Points that the box must contain at any time.

        Args:
            box: The controller.
            X: ``n x d`` data.
            Y: ``n x 1`` observations, to be maximised.

        Returns:
            A ``k x d`` tensor: by default the first box if boxes are nested, else the best
            observation.
        """
        return box.initial_bounds if box.strategy.nested else X[Y.argmax()].unsqueeze(0)

    @pytest.mark.parametrize("d", [1, 2, 10])
    def test_box_is_finite_ordered_and_contains_what_it_must(self, d: int) -> None:
        """At each step, as do the parts of it that are searched; the suggestion is in one."""
        bounds, X, Y = make_data(d)
        box = self.make(bounds)
        for step in run(box, X, Y, self.steps):
            check_box(box.bounds)
            slack = 1e-9 * (box.bounds[1] - box.bounds[0])
            loose = box.bounds + torch.stack([-slack, slack])
            assert contains(loose, self.must_contain(box, step.X, step.Y)).all()
            region = box.context(step.model).search_boxes.reshape(-1, 2, d)
            assert all(contains(loose, part).all() for part in region)
            assert any(contains(part, step.x).all() for part in region)

    @pytest.mark.parametrize("d", [1, 3])
    def test_hard_limits_are_never_crossed(self, d: int) -> None:
        """Neither by the box, nor by its parts, nor by a suggestion."""
        bounds, X, Y = make_data(d)
        limits = bounds + torch.tensor([[-0.1], [0.2]]).to(bounds)
        box = self.make(bounds, hard_limits=limits)
        for step in run(box, X, Y, self.steps):
            region = box.context(step.model).search_boxes.reshape(-1, d)
            for points in (box.bounds, region, step.x):
                assert contains(limits, points).all()

    @pytest.mark.parametrize("dtype", [torch.float, torch.double])
    def test_dtype_and_device_are_kept(self, dtype: torch.dtype) -> None:
        """On every device of the suite."""
        steps = 2 if dtype == torch.double else 1
        for device in self.devices:
            bounds, X, Y = (tensor.to(device, dtype) for tensor in make_data(2))
            box = self.make(bounds)
            for step in run(box, X, Y, steps):
                for tensor in (box.bounds, step.x):
                    assert tensor.dtype == dtype
                    assert tensor.device.type == device

    def test_runs_repeat(self) -> None:
        """With the same seed, whatever the global generator does, which is left alone."""
        bounds, X, Y = make_data(2)
        generator = torch.get_rng_state()
        one, two = ([*run(self.make(bounds, seed=5), X, Y, 2)] for _ in range(2))
        assert all(torch.equal(a.x, b.x) for a, b in zip(one, two, strict=True))
        assert torch.equal(torch.get_rng_state(), generator)

    def test_state_survives_json(self) -> None:
        """A controller that took over a saved state answers the same, again and afterwards."""
        bounds, X, Y = make_data(2)
        box, other = self.make(bounds), self.make(bounds)
        saved = ""
        for step in run(box, X, Y, self.steps):
            if saved:
                other.load_state_dict(json.loads(saved))
                assert torch.equal(other.suggest(step.model), step.x)
                assert torch.equal(other.suggest(step.model), step.x)
                assert other.state_dict() == box.state_dict()
            saved = json.dumps(box.state_dict())

    def test_a_box_rebuilt_from_data_suggests_the_same(self) -> None:
        """Where the strategy says that it can be: neither a current box nor a memory is needed."""
        bounds, X, Y = make_data(2)
        box = self.make(bounds, max_growth=float("inf"))
        if not box.method.rebuildable:
            pytest.skip("the method's box depends on those before it")
        for step in run(box, X, Y, self.steps):
            other = self.make(bounds, max_growth=float("inf"))
            other.rebuild(step.X, len(X))
            assert torch.equal(other.suggest(step.model), step.x)

    def test_noisy_and_duplicate_data(self) -> None:
        """Up to the same point with several values."""
        bounds, X, Y = make_data(2, noise=0.5)
        X = torch.cat([X, X[:3], X[:1], X[:1]])
        Y = torch.cat([Y, Y[:3] + 0.5, Y[:1], Y[:1]])
        box = self.make(bounds)
        for step in run(box, X, Y, self.steps):
            check_box(box.bounds)
            assert step.x.isfinite().all()

    def test_minimising_the_negative_is_the_same(self) -> None:
        """The box does not depend on the sign."""
        bounds, X, Y = make_data(2)
        up = self.make(bounds)
        down = self.make(bounds, maximize=False)
        for step in run(up, X, Y, self.steps):
            down.update(make_model(step.X, -step.Y, bounds))
            assert torch.allclose(up.bounds, down.bounds, rtol=1e-6, atol=1e-6)

    def test_strategy_remembers_nothing(self) -> None:
        """A run leaves no trace in it."""
        bounds, X, Y = make_data(2)
        box = self.make(bounds)
        context = box.context(make_model(X, Y, bounds))
        before = copy.deepcopy(vars(box.strategy))
        first = box.strategy.propose(context)
        assert len([*run(box, X, Y, self.steps)]) == self.steps
        again = box.strategy.propose(context)
        assert vars(box.strategy) == before
        assert torch.equal(first.bounds, again.bounds)

    def test_logarithmic_inputs_stay_positive(self) -> None:
        """Lengths are the model's, also beside a hard limit on one side."""
        bounds, X, Y = make_data(2)
        bounds, X = 10**bounds, 10**X
        limits = {0: (None, float(1.05 * bounds[1, 0]))}
        box = self.make(bounds, hard_limits=limits)
        for step in run(box, X, Y, self.steps, make_log_model):
            check_box(box.bounds)
            assert (box.bounds[0] > 0).all()
            assert (step.x > 0).all()

    def test_several_points_and_pending_ones(self) -> None:
        """A batch of distinct points, and one more while they are pending."""
        bounds, X, Y = make_data(2)
        box = self.make(bounds)
        model = make_model(X, Y, bounds)
        first = box.suggest(model, q=2)
        assert first.shape == (2, 2)
        assert not torch.equal(first[0], first[1])
        pending = box.suggest(model, X_pending=first)
        assert contains(box.bounds, torch.cat([first, pending])).all()


@dataclass(frozen=True)
class Step:
    """The data and model of one step, and the point that was suggested from them."""

    X: Tensor
    Y: Tensor
    model: SingleTaskGP
    x: Tensor


def run(
    box: ExpandingBounds,
    X: Tensor,
    Y: Tensor,
    steps: int,
    build: Callable[[Tensor, Tensor, Tensor], SingleTaskGP] | None = None,
) -> Iterator[Step]:
    """Suggest, evaluate, and suggest again, on :func:`objective`."""
    build = build or make_model
    for _ in range(steps):
        model = build(X, Y, box.initial_bounds)
        x = box.suggest(model)
        yield Step(X, Y, model, x)
        X, Y = torch.cat([X, x]), torch.cat([Y, objective(x)])


def check_box(bounds: Tensor) -> None:
    """Assert that a box is finite and ordered."""
    assert bounds.isfinite().all()
    assert (bounds[0] < bounds[1]).all()


def make_data(d: int, noise: float = 0.0) -> tuple[Tensor, Tensor, Tensor]:
    """A first box with sides 2, 3, ..., and ``3 d`` smooth observations in it."""
    generator = torch.Generator().manual_seed(d)
    upper = 1 + torch.arange(d, dtype=torch.double)
    bounds = torch.stack([torch.full_like(upper, -1.0), upper])
    uniform = torch.rand(3 * d, d, generator=generator, dtype=torch.double)
    X = bounds[0] + (bounds[1] - bounds[0]) * uniform
    error = torch.randn(3 * d, 1, generator=generator, dtype=torch.double)
    return bounds, X, objective(X) + noise * error


def objective(X: Tensor) -> Tensor:
    """A smooth hill with its top on the edge of the first boxes, ``n x 1``."""
    return (-(X - 1).square().mean(dim=-1, keepdim=True) / 4).exp()


def make_model(X: Tensor, Y: Tensor, bounds: Tensor) -> SingleTaskGP:
    """BoTorch's default GP, hyper-parameters at their initial values, in evaluation mode."""
    d = X.shape[-1]
    model = SingleTaskGP(
        X,
        Y,
        # The default, spelled out: it then does not warn of points outside the unit cube.
        covar_module=get_covar_module_with_dim_scaled_prior(ard_num_dims=d),
        input_transform=Normalize(d, bounds=bounds.to(X)),
    )
    model.eval()
    return model


def make_log_model(X: Tensor, Y: Tensor, bounds: Tensor) -> SingleTaskGP:
    """The same on logarithms of the inputs."""
    d = X.shape[-1]
    transform = ChainedInputTransform(
        log=Log10(indices=list(range(d))), unit=Normalize(d, bounds=bounds.log10())
    )
    model = SingleTaskGP(X, Y, input_transform=transform)
    model.eval()
    return model
