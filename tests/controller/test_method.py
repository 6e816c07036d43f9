"""A method is data: frozen, made of parts that fit, and known by its name."""

from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement
from botorch.exceptions.errors import InputDataError

from botorch_ubo import (
    ConstantBeta,
    ExpandingBounds,
    Method,
    Never,
    TheoremBeta,
    available_methods,
    get_method,
    register_method,
)
from botorch_ubo.controller import method as registry_of
from botorch_ubo.policies.factories import log_ei, q_log_ei
from botorch_ubo.policies.triggers import Always
from botorch_ubo.strategies import FixedBox, VolumeDoublingBox
from tests.support.by_hand import random_data, rbf_model, unit_box
from tests.support.controlled import FAST, UNIT, data, gp


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_of, "_METHODS", dict(registry_of._METHODS))


def mine(**parts: Any) -> Method:
    usual: dict[str, Any] = {
        "name": "Mine", "strategy": FixedBox(), "trigger": Never(), "acquisition": log_ei,
    }  # fmt: skip
    return Method(**{**usual, **parts})


class TestData:
    def test_frozen_and_by_keyword(self) -> None:
        with pytest.raises(FrozenInstanceError):
            mine().name = "other"  # type: ignore[misc]
        with pytest.raises(TypeError):
            Method("Mine", strategy=FixedBox(), trigger=Never(), acquisition=log_ei)  # type: ignore[misc]

    def test_what_need_not_be_said(self) -> None:
        method = mine()
        assert method.beta == TheoremBeta() and method.epsilon_unit == "std"
        assert method.max_growth == 10.0 and method.batch_acquisition is None
        assert {field.name for field in fields(Method)} == {
            "name", "description", "citation", "strategy", "trigger", "acquisition",
            "batch_acquisition", "constrained_acquisition", "multi_acquisition",
            "beta", "epsilon_unit", "max_growth", "blind_limit", "initial_span",
        }  # fmt: skip

    def test_parts_are_replaced_and_the_original_stays(self) -> None:
        volume = get_method("EI-Volx2")
        still = replace(volume, name="Still", strategy=FixedBox(), trigger=Never())
        box = still.build(unit_box(), epsilon=0.1)
        assert box.method is still and box.strategy == FixedBox()
        assert box.settings.epsilon == 0.1 and box.settings.strategy == FixedBox()
        assert get_method("EI-Volx2").build(unit_box()).strategy == VolumeDoublingBox()
        X, Y = random_data(20)
        for n in (6, 20):
            assert box.update(rbf_model(X[:n], Y[:n])) is None

    def test_the_schedule_the_unit_and_the_growth_reach_the_settings(self) -> None:
        method = mine(beta=ConstantBeta(4.0), epsilon_unit="range", max_growth=3.0)
        settings = ExpandingBounds(UNIT, method=method).settings
        assert settings.beta == ConstantBeta(4.0)
        assert (settings.epsilon_unit, settings.max_growth) == ("range", 3.0)
        model = gp(*data())
        assert ExpandingBounds(UNIT, method=method).context(model).confidence.beta == 4.0

    def test_its_acquisition_functions_are_those_that_are_maximised(self) -> None:
        asked: list[str] = []

        def one(context: Any) -> LogExpectedImprovement:
            asked.append("one")
            return LogExpectedImprovement(context.model, context.observed.max())

        def several(context: Any) -> qLogExpectedImprovement:
            asked.append("several")
            return qLogExpectedImprovement(context.model, context.observed.max())

        box = ExpandingBounds(UNIT, method=mine(acquisition=one, batch_acquisition=several), **FAST)
        model = gp(*data())
        assert box.suggest(model).shape == (1, 2) and asked == ["one"]
        assert box.suggest(model, q=2).shape == (2, 2) and asked == ["one", "several"]
        box.suggest(model, X_pending=torch.rand(1, 2).double())
        assert asked == ["one", "several", "several"]

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            ({"strategy": FixedBox}, r"`strategy` of a method to be a Strategy.*instance, not a c"),
            ({"strategy": "FixedBox"}, r"a Strategy; got 'FixedBox'"),
            ({"trigger": Always}, r"`trigger` of a method to be a Trigger.*instance"),
            ({"trigger": None}, r"a Trigger; got None"),
            ({"beta": TheoremBeta}, r"`beta` of a method to be a BetaSchedule"),
            ({"beta": 4.0}, r"a BetaSchedule or one of.*; got 4\.0\. .* `ConstantBeta"),
            ({"name": 3}, r"`name` of a method to be a str; got 3"),
            ({"acquisition": "log_ei"}, r"functions of the context; got 'log_ei'.*factories"),
            ({"batch_acquisition": 1}, r"functions of the context; got 1"),
            ({"epsilon_unit": "sigma"}, r"one of \('std', 'range', 'raw'\); got 'sigma'"),
        ],
    )
    def test_parts_that_do_not_fit_are_refused_in_words(
        self, parts: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(InputDataError, match=r"Expected .*" + message):
            mine(**parts)


class TestNames:
    def test_upper_and_lower_case_do_not_matter(self) -> None:
        assert get_method("gpucb-ubo").name == "GPUCB-UBO"
        assert get_method(" Turbo-1 ").name == "TuRBO-1"

    def test_a_method_is_its_own_answer(self) -> None:
        method = mine()
        assert get_method(method) is method
        assert method not in available_methods()

    @pytest.mark.parametrize(
        ("typo", "nearest"),
        [("GPUBC-UBO", "GPUCB-UBO"), ("hubo ei", "HuBO-EI"), ("turbo", "TuRBO-1"), ("?", "EI")],
    )
    def test_an_unknown_name_answers_with_the_nearest(self, typo: str, nearest: str) -> None:
        match = rf"The nearest are .*{nearest}.*all are: EI-Turns"
        with pytest.raises(InputDataError, match=match):
            get_method(typo)

    def test_third_parties_register_theirs(self, registry: None) -> None:
        method = register_method(mine(strategy=VolumeDoublingBox(4.0)))
        assert get_method("MINE") is method and method in available_methods()
        assert ExpandingBounds(unit_box(), method="mine").strategy == VolumeDoublingBox(4.0)
        with pytest.raises(InputDataError, match=r"'Mine' is registered.*overwrite=True"):
            register_method(mine(name="mine"))
        other = mine(name="mine", batch_acquisition=q_log_ei)
        assert register_method(other, overwrite=True) is get_method("Mine") is other
        with pytest.raises(InputDataError, match="The nearest are 'mine'"):
            get_method("minne")
