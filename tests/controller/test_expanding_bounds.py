"""ExpandingBounds as its user meets it: boxes that move, and the model that it fits."""

import inspect
import math

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from torch import Tensor

from botorch_ubo import (
    Always,
    ExpandingBounds,
    ExpansionRecord,
    Never,
    TheoremBox,
    default_model,
    fit_default_model,
)
from tests.support.controlled import FAST, UNIT, bell, corrected, data, gp, inside, run
from tests.support.gps import tensor


def _capped_in_decades(lengthscale: float) -> tuple[ExpandingBounds, ExpansionRecord]:
    bounds = tensor([[1.0], [10.0]])
    X = tensor([[1.5], [4.0], [9.0]])
    transform = ChainedInputTransform(log=Log10([0]), unit=Normalize(1, bounds=bounds.log10()))
    model = SingleTaskGP(X, X.log10().sin(), input_transform=transform)
    model.covar_module.lengthscale = lengthscale
    box = corrected(bounds, max_growth=2.0)
    return box, box.update(model.eval())


class TestBox:
    def test_first_update_moves_to_the_theorems_box(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        box = corrected(UNIT)
        assert box.history == () and box.certificate is None
        record = box.update(model)
        assert box.history == (record,)
        assert record.iteration == 1 and record.num_observations == 6
        assert record.trigger == "first step" and record.regret_bound is None
        assert record.old_bounds == ((0.0, 0.0), (1.0, 1.0))
        assert box.bounds.tolist() == [list(row) for row in record.new_bounds]
        # By hand, in the model's space (which here is the raw one): data plus the half-widths.
        reach = 0.6 * record.details["radius"]
        expected = torch.stack([X.amin(0) - reach, X.amax(0) + reach])
        torch.testing.assert_close(box.bounds, expected)
        assert 2 < record.details["radius"] < 6
        assert torch.equal(box.initial_bounds, UNIT)

    def test_loop_reaches_an_optimum_outside_the_first_box(self) -> None:
        box = corrected(UNIT)
        X, Y = run(box, 8)
        assert not inside(UNIT, X)
        assert Y[:6].max() < 0.7 and Y.max() > 0.95
        assert len(box.trace) == 8

    def test_boxes_are_nested_and_hold_the_suggestions(self) -> None:
        box = corrected(UNIT, trigger=Always(), **FAST)
        X, Y = data()
        before = box.bounds
        for i in range(5):
            # Shrinking length-scales would shrink the theorem's box.
            model = gp(X, Y, lengthscale=0.8 / 2**i)
            x = box.suggest(model)
            assert inside(box.bounds, before) and inside(box.bounds, x)
            before = box.bounds
            X, Y = torch.cat([X, x]), torch.cat([Y, bell(x)])
        assert len(box.history) == 5
        for earlier, later in zip(box.history, box.history[1:], strict=False):
            assert later.old_bounds == earlier.new_bounds
        assert [record.iteration for record in box.history] == [1, 2, 3, 4, 5]

    def test_never_trigger_keeps_the_box(self) -> None:
        box = corrected(UNIT, trigger=Never(), **FAST)
        X, _ = run(box, 3)
        assert box.history == () and torch.equal(box.bounds, UNIT) and inside(UNIT, X)

    def test_growth_cap_shows_in_the_record(self) -> None:
        X, Y = data()
        box = corrected(UNIT, max_growth=2.0)
        record = box.update(gp(X, Y, lengthscale=1e4))
        assert set(record.capped) == {(k, side) for k in (0, 1) for side in ("lower", "upper")}
        torch.testing.assert_close(box.bounds, tensor([[-2.0, -2.0], [3.0, 3.0]]))
        assert "growth cap on x0 lower" in str(record)
        free = corrected(UNIT, max_growth=1e6, blind_limit=math.inf)
        assert free.update(gp(X, Y, lengthscale=1e4)).capped == ()
        assert (free.bounds[1] - free.bounds[0] > 1e3).all()

    def test_only_the_capped_sides_are_named(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        model.covar_module.lengthscale = tensor([[1e4, 0.1]])
        record = corrected(UNIT, max_growth=2.0).update(model)
        assert set(record.capped) == {(0, "lower"), (0, "upper")}

    def test_growth_is_capped_in_the_models_space(self) -> None:
        """Two decades per side for a Log10 input whose box spans one decade."""
        box, record = _capped_in_decades(lengthscale=10.0)
        torch.testing.assert_close(box.bounds, tensor([[1e-2], [1e3]]))
        assert (0, "upper") in record.capped

    def test_capped_lower_side_of_a_log_input_is_recorded(self) -> None:
        _, record = _capped_in_decades(lengthscale=10.0)
        assert set(record.capped) == {(0, "lower"), (0, "upper")}

    def test_growth_cap_of_a_log_input_with_an_endless_lengthscale(self) -> None:
        """10 ** -36000 is 0 in floating point; the cap must come before its logarithm."""
        box, _ = _capped_in_decades(lengthscale=1e4)
        torch.testing.assert_close(box.bounds, tensor([[1e-2], [1e3]]))

    def test_hard_limits_stop_sides_and_say_so(self) -> None:
        X, Y = data()
        box = corrected(UNIT, hard_limits={0: (-0.1, None), 1: (None, 1.0)})
        record = box.update(gp(X, Y))
        assert box.bounds[0, 0] == -0.1 and box.bounds[1, 1] == 1.0
        assert box.bounds[1, 0] > 1.5 and box.bounds[0, 1] < -0.5
        assert set(record.stopped_by_limit) == {(0, "lower"), (1, "upper")}
        assert "hard limit on" in str(record)

    def test_on_expand_accepts_refuses_and_shrinks(self) -> None:
        X, Y = data()
        seen = []
        answers = {"accepted": None, "refused": False, "shrunk": tensor([[-1.0, 0.0], [2.0, 1.0]])}
        for decision, answer in answers.items():
            box = corrected(UNIT, on_expand=lambda record, a=answer: seen.append(record) or a)
            record = box.update(gp(X, Y))
            assert record.decision == decision
            if decision == "refused":
                assert torch.equal(box.bounds, UNIT)
            elif decision == "shrunk":
                assert torch.equal(box.bounds, answer)
            else:
                assert (box.bounds[1] > 2).all()
        assert len(seen) == 3


def test_the_papers_two_methods_differ_as_documented() -> None:
    published = ExpandingBounds(UNIT, method="GPUCB-UBO (as published)", epsilon=0.02)
    assert published.settings.epsilon_unit == "range" and not published.strategy.nested
    assert published.settings.epsilon == 0.02 and published.settings.max_growth == math.inf
    mended = ExpandingBounds(UNIT, method="GPUCB-UBO")
    assert mended.strategy == TheoremBox() and mended.settings.epsilon_unit == "std"
    assert mended.settings.max_growth == 10.0


def test_default_model_works_out_of_the_box() -> None:
    X, Y = data()
    x = corrected(UNIT, **FAST).suggest(default_model(X, Y, UNIT).eval())
    assert x.shape == (1, 2)


class TestFit:
    """``box.fit`` is ``fit_default_model`` with the box's own sign and first box."""

    @staticmethod
    def cliff(maximize: bool) -> tuple[Tensor, Tensor]:
        """A hill among outcomes that are worse by a thousand, in the problem's own sign."""
        X, Y = data(12, seed=4)
        Y = Y - 1000 * (X[:, :1] < 0.3)
        return X, Y if maximize else -Y

    @pytest.mark.parametrize("maximize", [True, False])
    def test_is_the_default_model(self, maximize: bool) -> None:
        X, Y = self.cliff(maximize)
        box = ExpandingBounds(UNIT, maximize=maximize, **FAST)
        box.suggest(box.fit(X, Y))  # the box that moved is not what the model is scaled by
        assert not torch.equal(box.bounds, UNIT)
        found, expected = box.fit(X, Y), fit_default_model(X, Y, UNIT, maximize=maximize)
        other = fit_default_model(X, Y, UNIT, maximize=not maximize)
        assert found.state_dict().keys() == expected.state_dict().keys()
        for key, value in expected.state_dict().items():
            assert torch.equal(found.state_dict()[key], value), key
        assert torch.equal(found.train_targets, expected.train_targets)
        assert not torch.allclose(found.train_targets, other.train_targets)

    @pytest.mark.parametrize("maximize", [True, False])
    def test_the_best_values_are_not_compressed_but_the_worst_are(self, maximize: bool) -> None:
        X, Y = self.cliff(maximize)
        box = ExpandingBounds(UNIT, maximize=maximize)
        context = box.context(box.fit(X, Y))
        observed = tensor([context.view.to_raw_value(value) for value in context.observed.tolist()])
        observed = observed if maximize else -observed  # large is good
        good = (Y if maximize else -Y).squeeze(-1)
        best = good.topk(6).indices
        torch.testing.assert_close(observed[best], good[best])
        assert observed.min() > good.min() + 500

    def test_known_variances(self) -> None:
        X, Y = data(8)
        model = ExpandingBounds(UNIT).fit(X, Y, torch.full_like(Y, 0.04))
        expected = fit_default_model(X, Y, UNIT, torch.full_like(Y, 0.04))
        torch.testing.assert_close(model.likelihood.noise, expected.likelihood.noise)
        assert model.likelihood.noise.shape == (8,)

    def test_single_precision(self) -> None:
        X, Y = data(8)
        model = ExpandingBounds(UNIT).fit(X.float(), Y.float())
        assert model.train_targets.dtype == torch.float


def test_the_constructor_stays_small() -> None:
    parameters = inspect.signature(ExpandingBounds.__init__).parameters
    assert len(parameters) - 1 <= 12  # without self
    kinds = {p.kind for name, p in parameters.items() if name not in ("self", "bounds")}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("name", ["bounds", "initial_bounds", "hard_limits"])
def test_what_is_handed_out_may_be_changed(name: str) -> None:
    box = ExpandingBounds(UNIT, hard_limits=[(-5.0, 5.0)] * UNIT.shape[-1])
    before = getattr(box, name).clone()
    getattr(box, name).add_(1.0)
    assert torch.equal(getattr(box, name), before)
