"""ExpandingBounds as its user meets it: boxes and suggestions."""

import json
from typing import Any

import pytest
import torch
from botorch.acquisition import (
    LogExpectedImprovement,
    UpperConfidenceBound,
    qLogExpectedImprovement,
    qUpperConfidenceBound,
)
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from hypothesis import given, settings
from hypothesis import strategies as st

from botorch_ubo import (
    Always,
    ConstantBeta,
    ExpandingBounds,
    ExpansionRecord,
    Never,
    TheoremBox,
    default_model,
    fit_default_model,
)
from tests.controlled import FAST, UNIT, bell, data, gp, inside, run
from tests.helpers import tensor


def _capped_in_decades(lengthscale: float) -> tuple[ExpandingBounds, ExpansionRecord]:
    bounds = tensor([[1.0], [10.0]])
    X = tensor([[1.5], [4.0], [9.0]])
    transform = ChainedInputTransform(log=Log10([0]), unit=Normalize(1, bounds=bounds.log10()))
    model = SingleTaskGP(X, X.log10().sin(), input_transform=transform)
    model.covar_module.lengthscale = lengthscale
    box = ExpandingBounds.corrected(bounds, max_growth=2.0)
    return box, box.update(model.eval())


class TestBox:
    def test_first_update_moves_to_the_theorems_box(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        box = ExpandingBounds.corrected(UNIT)
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
        box = ExpandingBounds.corrected(UNIT)
        X, Y = run(box, 8)
        assert not inside(UNIT, X)
        assert Y[:6].max() < 0.7 and Y.max() > 0.95
        assert len(box.trace) == 8

    def test_boxes_are_nested_and_hold_the_suggestions(self) -> None:
        box = ExpandingBounds.corrected(UNIT, trigger=Always(), **FAST)
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
        box = ExpandingBounds.corrected(UNIT, trigger=Never(), **FAST)
        X, _ = run(box, 3)
        assert box.history == () and torch.equal(box.bounds, UNIT) and inside(UNIT, X)

    def test_growth_cap_shows_in_the_record(self) -> None:
        X, Y = data()
        box = ExpandingBounds.corrected(UNIT, max_growth=2.0)
        record = box.update(gp(X, Y, lengthscale=1e4))
        assert set(record.capped) == {(k, side) for k in (0, 1) for side in ("lower", "upper")}
        torch.testing.assert_close(box.bounds, tensor([[-2.0, -2.0], [3.0, 3.0]]))
        assert "growth cap on x0 lower" in str(record)
        free = ExpandingBounds.corrected(UNIT, max_growth=1e6)
        assert free.update(gp(X, Y, lengthscale=1e4)).capped == ()
        assert (free.bounds[1] - free.bounds[0] > 1e3).all()

    def test_only_the_capped_sides_are_named(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        model.covar_module.lengthscale = tensor([[1e4, 0.1]])
        record = ExpandingBounds.corrected(UNIT, max_growth=2.0).update(model)
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
        box = ExpandingBounds.corrected(UNIT, hard_limits={0: (-0.1, None), 1: (None, 1.0)})
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
            box = ExpandingBounds.corrected(
                UNIT, on_expand=lambda record, a=answer: seen.append(record) or a
            )
            record = box.update(gp(X, Y))
            assert record.decision == decision
            if decision == "refused":
                assert torch.equal(box.bounds, UNIT)
            elif decision == "shrunk":
                assert torch.equal(box.bounds, answer)
            else:
                assert (box.bounds[1] > 2).all()
        assert len(seen) == 3


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
def test_hard_limits_are_never_crossed(case: dict[str, Any]) -> None:
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
    box = ExpandingBounds.corrected(bounds, hard_limits=limits, trigger=Always(), **FAST)
    for _ in range(3):
        model = gp(X, bell(X), case["lengthscale"], input_transform=transform)
        x = box.suggest(model)
        assert x.dtype == case["dtype"] and x.shape == (1, 2)
        assert inside(limits, x) and inside(limits, box.bounds)
        for record in box.history:
            assert inside(limits, tensor(record.new_bounds))
        X = torch.cat([X, x])


class TestSuggestions:
    def test_twice_is_the_same_and_changes_nothing(self) -> None:
        X, Y = data()
        box = ExpandingBounds.corrected(UNIT)
        model = gp(X, Y)
        first = box.suggest(model)
        saved = json.dumps(box.state_dict())
        torch.manual_seed(99)  # nor does the global state matter
        assert torch.equal(first, box.suggest(model))
        assert torch.equal(first, box.suggest(gp(X, Y)))  # an equal model, built anew
        assert json.dumps(box.state_dict()) == saved
        record = box.update(model)
        assert record == box.history[-1] and len(box.history) == 1
        assert json.dumps(box.state_dict()) == saved

    def test_a_refit_of_the_same_data_gives_its_own_suggestion(self) -> None:
        """The box stays, since the data are the same; the maximiser is the new model's."""
        X, Y = data()
        box = ExpandingBounds.corrected(UNIT)
        box.suggest(gp(X, Y))
        bounds = box.bounds
        other = gp(X, Y, lengthscale=0.3)
        x = box.suggest(other)
        assert torch.equal(box.bounds, bounds)
        twin = ExpandingBounds.corrected(UNIT)
        twin.load_state_dict(box.state_dict())
        assert torch.equal(x, twin.suggest(other))

    def test_global_random_state_is_untouched(self) -> None:
        X, Y = data()
        torch.manual_seed(5)
        before = torch.get_rng_state()
        ExpandingBounds.corrected(UNIT).suggest(gp(X, Y))
        assert torch.equal(before, torch.get_rng_state())

    def test_users_acquisition_as_instance_and_as_factory(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        acqf = LogExpectedImprovement(model, best_f=Y.max())
        by_instance = ExpandingBounds.corrected(UNIT).suggest(model, acqf)
        by_factory = ExpandingBounds.corrected(UNIT).suggest(
            model, lambda m: LogExpectedImprovement(m, best_f=Y.max())
        )
        by_constructor = ExpandingBounds.corrected(
            UNIT, acquisition=lambda c: LogExpectedImprovement(c.model, best_f=c.Y.max())
        ).suggest(model)
        assert torch.equal(by_instance, by_factory) and torch.equal(by_instance, by_constructor)
        assert not torch.allclose(
            by_instance, ExpandingBounds.corrected(UNIT).suggest(model), atol=1e-3
        )
        grid = UNIT[0] - 2 + 5 * torch.rand(2000, 1, 2, dtype=torch.double)
        with torch.no_grad():
            assert acqf(by_instance.unsqueeze(-2)) >= acqf(grid).max() - 1e-6

    def test_default_is_the_maximiser_of_ucb(self) -> None:
        X, Y = data(12)
        model = gp(X, Y)
        box = ExpandingBounds.corrected(UNIT, trigger=Never(), beta=ConstantBeta(4.0))
        x = box.suggest(model)
        ucb = UpperConfidenceBound(model, beta=tensor(4.0))
        grid = torch.rand(4000, 1, 2, dtype=torch.double)
        with torch.no_grad():
            assert ucb(x.unsqueeze(-2)) >= ucb(grid).max() - 1e-9

    def test_minimising_equals_maximising_the_negated_problem(self) -> None:
        for q in (1, 2):
            boxes = ExpandingBounds.corrected(UNIT, maximize=False), ExpandingBounds.corrected(UNIT)
            X, Y = data()
            for _ in range(2):
                low = boxes[0].suggest(gp(X, -Y), q=q)
                high = boxes[1].suggest(gp(X, Y), q=q)
                torch.testing.assert_close(low, high, atol=1e-6, rtol=1e-6)
                torch.testing.assert_close(boxes[0].bounds, boxes[1].bounds)
                X, Y = torch.cat([X, high]), torch.cat([Y, bell(high)])

    def test_batch_is_distinct_and_inside(self) -> None:
        X, Y = data()
        box = ExpandingBounds.corrected(UNIT, **FAST)
        x = box.suggest(gp(X, Y), q=3)
        assert x.shape == (3, 2) and inside(box.bounds, x) and torch.pdist(x).min() > 1e-2

    def test_pending_points_keep_candidates_away_but_not_the_box(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        alone = ExpandingBounds.corrected(UNIT, beta=9.0)
        free = alone.suggest(model, q=2)
        box = ExpandingBounds.corrected(UNIT, beta=9.0)
        x = box.suggest(model, X_pending=free[:1])
        assert (x - free[:1]).norm() > 0.1
        torch.testing.assert_close(x, free[1:], atol=0.3, rtol=0)
        assert torch.equal(box.bounds, alone.bounds)
        assert json.dumps(box.state_dict()) == json.dumps(alone.state_dict())

    def test_pending_and_failed_points_come_to_the_dtype_of_the_model(self) -> None:
        X, Y = data()
        model = fit_default_model(X.float(), Y.float(), UNIT.float())
        extra = tensor([[0.5, 0.5]])
        x = ExpandingBounds(UNIT, **FAST).suggest(model, q=2, X_pending=extra, X_failed=extra + 1)
        assert x.dtype == torch.float and x.shape == (2, 2)

    def test_pending_points_of_a_users_acquisition_are_restored(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        acqf = qLogExpectedImprovement(model, best_f=Y.max())
        own = tensor([[0.2, 0.2]])
        acqf.set_X_pending(own)
        ExpandingBounds.corrected(UNIT, **FAST).suggest(
            model, acqf, q=2, X_pending=tensor([[0.9, 0.9]])
        )
        assert torch.equal(acqf.X_pending, own)

    def test_batch_acquisition_of_the_constructor(self) -> None:
        X, Y = data()
        model = gp(X, Y)
        box = ExpandingBounds.corrected(
            UNIT,
            acquisition=lambda c: LogExpectedImprovement(c.model, best_f=c.Y.max()),
            batch_acquisition=lambda c: qLogExpectedImprovement(c.model, best_f=c.Y.max()),
            **FAST,
        )
        assert box.suggest(model, q=2).shape == (2, 2)
        assert box.suggest(model).shape == (1, 2)

    def test_seed_changes_the_starts_only(self) -> None:
        X, Y = data()
        values = []
        for seed in (0, 1):
            box = ExpandingBounds.corrected(UNIT, seed=seed)
            x = box.suggest(gp(X, Y))
            values.append(float(box.context(gp(X, Y)).ucb(x.unsqueeze(-2))))
        assert values[0] == pytest.approx(values[1], abs=1e-4)


def test_presets_differ_as_documented() -> None:
    published = ExpandingBounds.as_published(UNIT)
    assert published.settings.epsilon_unit == "range" and not published.strategy.nested
    corrected = ExpandingBounds.corrected(UNIT)
    assert corrected.strategy == TheoremBox() and corrected.settings.epsilon_unit == "std"
    assert ExpandingBounds.as_published(UNIT, epsilon=0.02).settings.epsilon == 0.02


def test_default_model_works_out_of_the_box() -> None:
    X, Y = data()
    x = ExpandingBounds.corrected(UNIT, **FAST).suggest(default_model(X, Y, UNIT).eval())
    assert x.shape == (1, 2)


def test_qucb_is_the_default_for_batches() -> None:
    X, Y = data()
    model = gp(X, Y)
    box = ExpandingBounds.corrected(UNIT, beta=4.0)
    x = box.suggest(model, q=2)
    acqf = qUpperConfidenceBound(model, beta=4.0)
    other = ExpandingBounds.corrected(UNIT, beta=4.0).suggest(model, acqf, q=2)
    torch.testing.assert_close(x, other, atol=0.05, rtol=0)
