"""ExpandingBounds with every kind of model, and saved and loaded."""

import json
import math
from typing import Any

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.exceptions.errors import (
    BotorchTensorDimensionError,
    InputDataError,
)
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP

from botorch_ubo import (
    Always,
    ExpandingBounds,
    FirstStep,
)
from tests.controlled import FAST, UNIT, bell, data, gp, inside
from tests.helpers import tensor


class TestModels:
    def test_scalarised_outputs(self) -> None:
        X, Y = data(8)
        two = torch.cat([Y, X.sum(-1, keepdim=True)], dim=-1)
        model = gp(X, two)
        transform = ScalarizedPosteriorTransform(tensor([2.0, -0.3]), offset=1.0)
        box = ExpandingBounds.corrected(UNIT, posterior_transform=transform)
        x = box.suggest(model)
        assert inside(box.bounds, x)
        context = box.context(model)
        torch.testing.assert_close(context.Y, 2 * two[:, 0] - 0.3 * two[:, 1] + 1)
        far = torch.full((1, 1, 2), 1e3, dtype=torch.double)
        assert float(context.ucb(far)) == pytest.approx(context.ucb_at_infinity)
        assert box.suggest(model, q=2).shape == (2, 2)

    def test_a_scalarised_single_output_is_the_plain_problem(self) -> None:
        X, Y = data(8)
        transform = ScalarizedPosteriorTransform(tensor([1.0]))
        plain, scalarised = (
            ExpandingBounds.corrected(UNIT),
            ExpandingBounds.corrected(UNIT, posterior_transform=transform),
        )
        x = plain.suggest(gp(X, Y))
        torch.testing.assert_close(scalarised.suggest(gp(X, Y)), x)
        torch.testing.assert_close(scalarised.bounds, plain.bounds)

    def test_ensemble(self) -> None:
        X, Y = data(8)
        model = EnsembleMapSaasSingleTaskGP(X, Y, num_taus=3).eval()
        with torch.no_grad():
            model.covar_module.base_kernel.lengthscale = tensor(
                [[[0.3, 0.4]], [[0.5, 0.6]], [[0.9, 0.8]]]
            )
        box = ExpandingBounds.corrected(UNIT)
        x = box.suggest(model)
        assert x.shape == (1, 2) and inside(box.bounds, x)
        assert torch.equal(x, box.suggest(model))
        # The widest member decides how far to look.
        record = box.history[0]
        assert record.details["half_widths"][0] > 2 * 0.9

    def test_constant_outcomes(self) -> None:
        X, _ = data()
        box = ExpandingBounds.corrected(UNIT, **FAST)
        x = box.suggest(gp(X, torch.full((6, 1), 3.0, dtype=torch.double)))
        assert x.isfinite().all() and box.bounds.isfinite().all()

    def test_one_observation(self) -> None:
        box = ExpandingBounds.corrected(UNIT, **FAST)
        X = tensor([[0.4, 0.6]])
        x = box.suggest(gp(X, bell(X), outcome_transform=None))
        assert x.isfinite().all() and inside(box.bounds, x)

    def test_bounds_come_in_the_dtype_of_the_first(self) -> None:
        X, Y = data()
        box = ExpandingBounds.corrected(UNIT.float(), **FAST)
        x = box.suggest(gp(X, Y))
        assert box.bounds.dtype == torch.float and x.dtype == torch.double
        assert box.initial_bounds.dtype == box.hard_limits.dtype == torch.float


class TestState:
    def test_resumed_run_goes_on_as_the_uninterrupted_one(self) -> None:
        def controller() -> ExpandingBounds:
            return ExpandingBounds.corrected(
                UNIT, trigger=FirstStep() | Always(), hard_limits={1: (-9, 9)}
            )

        whole = controller()
        X, Y = data()
        resumed = None
        for _ in range(3):
            model = gp(X, Y)
            text = json.dumps(whole.state_dict())
            resumed = controller()
            resumed.load_state_dict(json.loads(text))
            x = whole.suggest(model)
            assert torch.equal(x, resumed.suggest(model))
            # Also when the run was cut between the suggestion and its result.
            again = controller()
            again.load_state_dict(json.loads(json.dumps(whole.state_dict())))
            assert torch.equal(x, again.suggest(model))
            X, Y = torch.cat([X, x]), torch.cat([Y, bell(x)])
        assert json.dumps(resumed.state_dict()) == json.dumps(whole.state_dict())
        assert resumed.history == whole.history and len(whole.history) == 3
        assert resumed.trace == whole.trace

    def test_state_before_the_first_update(self) -> None:
        X, Y = data()
        box, fresh = (
            ExpandingBounds.corrected(UNIT, **FAST),
            ExpandingBounds.corrected(UNIT, **FAST),
        )
        box.load_state_dict(json.loads(json.dumps(fresh.state_dict())))
        assert torch.equal(box.suggest(gp(X, Y)), fresh.suggest(gp(X, Y)))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"schema": 99}, "schema"),
            ({"bounds": [[0.0, 0.0], [math.nan, 1.0]]}, "finite"),
            ({"bounds": [[0.0, 2.0], [1.0, 1.0]]}, "lower < upper"),
            ({"bounds": [[0.0, 0.0], [1.0, 11.0]]}, "hard limits"),
            ({"bounds": [[0.0], [1.0]]}, "equal shape"),
            ({"num_observed": -1}, "count"),
            ({"num_initial": "six"}, "count"),
            ({"history": [{"iteration": 1}]}, "well-formed"),
            ({"memory": None}, "well-formed"),
        ],
    )
    def test_malformed_states_are_refused(self, change: dict[str, Any], message: str) -> None:
        X, Y = data()
        box = ExpandingBounds.corrected(UNIT, hard_limits={1: (-10, 10)})
        box.update(gp(X, Y))
        saved = box.state_dict()
        with pytest.raises(InputDataError, match=message):
            box.load_state_dict({**saved, **change})
        assert box.state_dict() == saved

    def test_missing_keys_and_other_dimensions_are_refused(self) -> None:
        X, Y = data()
        box = ExpandingBounds.corrected(UNIT)
        box.update(gp(X, Y))
        saved = box.state_dict()
        for key in saved:
            with pytest.raises(InputDataError, match=r"[Ee]xpected"):
                box.load_state_dict({k: v for k, v in saved.items() if k != key})
        with pytest.raises(BotorchTensorDimensionError, match="2 dimensions; got 1"):
            box.load_state_dict(ExpandingBounds.corrected(UNIT[:, :1]).state_dict())
        assert box.state_dict() == saved

    def test_the_saved_dict_is_a_copy(self) -> None:
        X, Y = data()
        box = ExpandingBounds.corrected(UNIT)
        box.update(gp(X, Y))
        saved = box.state_dict()
        text = json.dumps(saved)
        saved["bounds"][0][0] = 77.0
        saved["history"].clear()
        assert json.dumps(box.state_dict()) == text
