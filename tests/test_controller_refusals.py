"""Bad bounds, settings, models and calls are refused, and change nothing."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from botorch.acquisition import (
    UpperConfidenceBound,
)
from botorch.exceptions.errors import (
    BotorchError,
    BotorchTensorDimensionError,
    InputDataError,
    UnsupportedError,
)
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import Log10

from botorch_ubo import (
    ExpandingBounds,
)
from tests.controlled import FAST, UNIT, bell, data, gp
from tests.helpers import tensor


@pytest.mark.parametrize(
    ("bounds", "error", "message"),
    [
        (tensor([[0.0, math.nan], [1.0, 1.0]]), InputDataError, r"finite.*got.*nan"),
        (tensor([[-math.inf, 0.0], [1.0, 1.0]]), InputDataError, r"finite.*hard_limits"),
        (tensor([[0.0, 1.0], [1.0, 1.0]]), InputDataError, r"lower < upper.*\[1\]"),
        (tensor([[1.0, 0.0], [0.0, 1.0]]), InputDataError, r"lower < upper.*Swap"),
        (tensor([[0.0, 1.0]]), BotorchTensorDimensionError, r"2 x d.*\(1, 2\)"),
        (tensor([[0.0, 1.0]] * 3), BotorchTensorDimensionError, r"2 x d.*\(3, 2\).*\.T"),
        (tensor([0.0, 1.0]), BotorchTensorDimensionError, r"2 x d.*\(2,\)"),
        (torch.zeros(2, 0), BotorchTensorDimensionError, r"2 x d.*\(2, 0\)"),
        (torch.tensor([[0, 0], [1, 1]]), InputDataError, r"floating point.*int64.*double"),
        ([(0.0, 1.0), (0.0, 1.0)], InputDataError, r"tensor; got list"),
    ],
)
def test_bad_bounds_are_refused(bounds: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=r"Expected.*" + message):
        ExpandingBounds.corrected(bounds)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"epsilon": 0.0}, "positive finite `epsilon`; got 0"),
        ({"epsilon": -1.0}, "got -1"),
        ({"epsilon": math.nan}, "got nan"),
        ({"epsilon": math.inf}, "got inf"),
        ({"epsilon_unit": "sigma"}, "got 'sigma'"),
        ({"max_growth": 0.0}, "`max_growth`; got 0"),
        ({"max_growth": math.nan}, "got nan"),
        ({"hard_limits": {0: (0.5, None)}}, r"`bounds`.*within the hard limits"),
        ({"hard_limits": {0: (3, 2)}}, "lower < upper in `hard_limits`"),
        ({"hard_limits": {2: (0, 1)}}, "dimensions 0 to 1.*got 2"),
        ({"hard_limits": [(0, 1)]}, r"per dimension \(2\); got 1"),
        ({"hard_limits": torch.zeros(3, 2)}, r"2 x 2; got \(3, 2\)"),
        ({"beta": -1.0}, "positive finite beta"),
    ],
)
def test_bad_settings_are_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(BotorchError, match=r"Expected.*" + message):
        ExpandingBounds.corrected(UNIT, **kwargs)


def _with_targets(model: SingleTaskGP, value: float) -> SingleTaskGP:
    model.train_targets[2] = value
    return model


def _bad_calls() -> dict[str, tuple[dict[str, Any], Callable[[], Any], str]]:
    """Name: settings, the model, and what the message must say."""
    X, Y = data(7, seed=3)
    outside = torch.cat([X, tensor([[5.5, 0.5]])])
    return {
        "not fitted": ({}, lambda: SingleTaskGP(X, Y), "training mode.*fit_gpytorch_mll"),
        "other dimension": (
            {},
            lambda: gp(torch.rand(6, 3).double(), Y[:6], input_transform=None),
            "2 inputs.*got 3",
        ),
        "beyond limits": ({}, lambda: gp(outside, bell(outside)), r"hard limits.*5\.5.*row 7"),
        "nan target": ({}, lambda: _with_targets(gp(X, Y), math.nan), "finite training targets"),
        "infinite target": ({}, lambda: _with_targets(gp(X, Y), math.inf), "finite training"),
        "coarse epsilon": (
            {"epsilon": 1e3, "epsilon_unit": "raw"},
            lambda: gp(X, Y),
            r"epsilon < 4 sqrt\(beta\) theta.*got 1e\+03",
        ),
        "two outputs": ({}, lambda: gp(X, torch.cat([Y, Y], -1)), "posterior transform.*got 2"),
        "no model": ({}, lambda: "model", "exact GP.*got str"),
    }


@pytest.mark.parametrize("name", sorted(_bad_calls()))
@pytest.mark.parametrize("call", ["update", "suggest"])
@pytest.mark.parametrize("started", [False, True])
def test_bad_models_are_refused_and_change_nothing(name: str, call: str, started: bool) -> None:
    kwargs, build, message = _bad_calls()[name]
    box = ExpandingBounds.corrected(UNIT, hard_limits={0: (-5, 5)}, **FAST)
    if started:
        X, Y = data()
        box.update(gp(X, Y))
    # Settings that are bad only in the light of a model come in after a good first step.
    other = ExpandingBounds.corrected(UNIT, hard_limits={0: (-5, 5)}, **FAST, **kwargs)
    other.load_state_dict(box.state_dict())
    saved = json.dumps(other.state_dict())
    with pytest.raises(BotorchError, match=r"(?s)Expected.*" + message):
        getattr(other, call)(build())
    assert json.dumps(other.state_dict()) == saved


class TestBadSuggestCalls:
    def test_no_candidates(self) -> None:
        X, Y = data()
        with pytest.raises(InputDataError, match="q >= 1; got 0"):
            ExpandingBounds.corrected(UNIT).suggest(gp(X, Y), q=0)

    @pytest.mark.parametrize("extra", [{"q": 2}, {"X_pending": tensor([[0.5, 0.5]])}])
    def test_analytic_acquisition_cannot_do_batches(self, extra: dict[str, Any]) -> None:
        X, Y = data()
        model = gp(X, Y)
        acqf = UpperConfidenceBound(model, beta=4.0)
        with pytest.raises(UnsupportedError, match=r"Expected.*UpperConfidenceBound.*Use a q-"):
            ExpandingBounds.corrected(UNIT, **FAST).suggest(model, acqf, **extra)

    def test_acquisition_without_a_batch_version(self) -> None:
        X, Y = data()
        box = ExpandingBounds.corrected(UNIT, acquisition=lambda c: c.ucb, **FAST)
        with pytest.raises(UnsupportedError, match="batch_acquisition"):
            box.suggest(gp(X, Y), q=2)


def test_kernel_that_does_not_decay_is_refused_and_changes_nothing() -> None:
    from gpytorch.kernels import PeriodicKernel

    X, Y = data()
    box = ExpandingBounds.corrected(UNIT)
    saved = box.state_dict()
    model = SingleTaskGP(X, Y, covar_module=PeriodicKernel()).eval()
    with pytest.raises(UnsupportedError, match=r"(?s)Expected.*PeriodicKernel.*Use"):
        box.suggest(model)
    assert box.state_dict() == saved


def test_log_inputs_with_a_box_at_zero_are_refused() -> None:
    X, Y = data()
    box = ExpandingBounds.corrected(UNIT)  # its lower corner is 0
    model = SingleTaskGP(X, Y, input_transform=Log10([0, 1])).eval()
    saved = box.state_dict()
    with pytest.raises(InputDataError, match=r"Expected.*Log10.*positive"):
        box.update(model)
    assert box.state_dict() == saved
