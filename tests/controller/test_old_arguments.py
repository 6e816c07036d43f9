"""Arguments of 0.1.0 become parts of a method or of a search, and warn with the new form."""

from __future__ import annotations

import warnings

import pytest

from botorch_ubo import ExpandingBounds, SearchSettings, get_method
from botorch_ubo.policies.beta import ConstantBeta
from botorch_ubo.policies.factories import log_ei
from botorch_ubo.policies.triggers import Never
from botorch_ubo.strategies import VolumeDoublingBox
from tests.support.controlled import UNIT


def test_parts_of_a_method() -> None:
    with pytest.warns(DeprecationWarning, match=r"replace\(get_method\(...\), strategy=") as caught:
        box = ExpandingBounds(
            UNIT, strategy=VolumeDoublingBox(), trigger=Never(), beta=4.0, acquisition=log_ei
        )
    assert [warning.filename for warning in caught] == [__file__]
    method = box.method
    assert (method.strategy, method.trigger) == (VolumeDoublingBox(), Never())
    assert (method.beta, method.acquisition) == (ConstantBeta(4.0), log_ei)
    assert method.batch_acquisition is None


def test_of_a_method_that_is_named() -> None:
    with pytest.warns(DeprecationWarning):
        box = ExpandingBounds(UNIT, method="HuBO-EI", epsilon_unit="raw", beta=None)
    assert box.settings.epsilon_unit == "raw"
    assert box.method.strategy == get_method("HuBO-EI").strategy
    assert box.method.beta == get_method("HuBO-EI").beta


def test_parts_of_a_search() -> None:
    with pytest.warns(DeprecationWarning, match=r"search=SearchSettings\(num_restarts=...\)"):
        box = ExpandingBounds(UNIT, num_restarts=7, search=SearchSettings(raw_samples=64))
    assert box.settings.search == SearchSettings(7, 64)


def test_new_arguments_do_not_warn_and_unknown_ones_are_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ExpandingBounds(UNIT, method="HuBO-EI", search=SearchSettings(2))
    with pytest.raises(TypeError, match="restarts"):
        ExpandingBounds(UNIT, restarts=7)  # type: ignore[call-arg]
