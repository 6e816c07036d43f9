"""Models that will not do are refused in words, and change nothing."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from botorch.exceptions.errors import BotorchError, InputDataError, UnsupportedError
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import Log10
from gpytorch.kernels import PeriodicKernel

from tests.support.controlled import FAST, UNIT, bell, corrected, data, gp
from tests.support.gps import tensor


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
        "two outputs": ({}, lambda: gp(X, torch.cat([Y, Y], -1)), "posterior transform.*got 2"),
        "no model": ({}, lambda: "model", "exact GP.*got str"),
    }


@pytest.mark.parametrize("name", sorted(_bad_calls()))
@pytest.mark.parametrize("call", ["update", "suggest"])
@pytest.mark.parametrize("started", [False, True])
def test_bad_models_are_refused_and_change_nothing(name: str, call: str, started: bool) -> None:
    kwargs, build, message = _bad_calls()[name]
    box = corrected(UNIT, hard_limits={0: (-5, 5)}, **FAST)
    if started:
        X, Y = data()
        box.update(gp(X, Y))
    # Settings that are bad only in the light of a model come in after a good first step.
    other = corrected(UNIT, hard_limits={0: (-5, 5)}, **FAST, **kwargs)
    other.load_state_dict(box.state_dict())
    saved = json.dumps(other.state_dict())
    with pytest.raises(BotorchError, match=r"(?s)Expected.*" + message):
        getattr(other, call)(build())
    assert json.dumps(other.state_dict()) == saved


def test_kernel_that_does_not_decay_is_refused_and_changes_nothing() -> None:
    X, Y = data()
    box = corrected(UNIT)
    saved = box.state_dict()
    model = SingleTaskGP(X, Y, covar_module=PeriodicKernel()).eval()
    with pytest.raises(UnsupportedError, match=r"(?s)Expected.*PeriodicKernel.*Use"):
        box.suggest(model)
    assert box.state_dict() == saved


def test_log_inputs_with_a_box_at_zero_are_refused() -> None:
    X, Y = data()
    box = corrected(UNIT)  # its lower corner is 0
    model = SingleTaskGP(X, Y, input_transform=Log10([0, 1])).eval()
    saved = box.state_dict()
    with pytest.raises(InputDataError, match=r"Expected.*Log10.*positive"):
        box.update(model)
    assert box.state_dict() == saved
