"""What a run was started with: as JSON values, and in the user's own form."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import botorch
import pytest
import torch

from botorch_ubo import (
    CalibratedBeta,
    CheckpointError,
    ConstantBeta,
    ExpandingBounds,
    SearchSettings,
    UnboundedOptimizer,
    get_method,
)
from botorch_ubo.run.config import (
    describe_epsilon,
    describe_limits,
    describe_search,
    in_users_form,
    versions,
)
from tests.support.by_hand import unit_box


def test_search() -> None:
    assert describe_search(SearchSettings()) == {}
    assert describe_search(SearchSettings(2, 32)) == {"num_restarts": 2, "raw_samples": 32}
    options = describe_search(SearchSettings(options={"maxiter": 20}))
    assert options == {"options": {"maxiter": 20}}
    assert SearchSettings(**options) == SearchSettings(options={"maxiter": 20})


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.1, 0.1), ((0.1, "std"), 0.1), ((0.1, "raw"), [0.1, "raw"])]
)
def test_epsilon(epsilon: Any, expected: Any) -> None:
    box = ExpandingBounds(unit_box(), epsilon=epsilon)
    assert describe_epsilon(box.settings, box.method) == expected


def test_epsilon_in_the_unit_of_the_method() -> None:
    box = ExpandingBounds(unit_box(), method="GPUCB-UBO (as published)", epsilon=0.1)
    assert describe_epsilon(box.settings, box.method) == 0.1


def test_limits() -> None:
    limits = torch.tensor([[-math.inf, 0.5], [math.inf, math.inf]], dtype=torch.double)
    assert describe_limits(limits) == [[None, 0.5], [None, None]]
    json.dumps(describe_limits(limits), allow_nan=False)


def test_versions() -> None:
    assert set(versions()) == {"torch", "gpytorch", "botorch"}
    assert versions()["botorch"] == botorch.__version__


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("bounds", [[0.0, 1.0], [2.0, 3.0]], "[(0.0, 2.0), (1.0, 3.0)]"),
        ("hard_limits", [[None, -5.0], [None, 5.0]], "{1: (-5.0, 5.0)}"),
        ("hard_limits", [[None], [None]], "None"),
        ("epsilon", [0.1, "raw"], "(0.1, 'raw')"),
        ("search", {"num_restarts": 2}, "SearchSettings(num_restarts=2)"),
        ("seed", 3, "3"),
        ("hard_limits", 7, "7"),
    ],
)
def test_the_users_form(key: str, value: Any, expected: str) -> None:
    assert in_users_form(key, value) == expected


class TestASchedule:
    """A run's file knows the schedule of beta, if it is not the method's usual one."""

    @staticmethod
    def begin(path: Path, beta: Any) -> UnboundedOptimizer:
        method = replace(get_method("GPUCB-UBO"), beta=beta)
        return UnboundedOptimizer([(0.0, 1.0)], method=method, checkpoint=path, seed=3)

    def test_a_named_one_is_found_again(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        self.begin(path, "calibrated")
        again = UnboundedOptimizer.open(path)
        assert again.box.method.schedule == CalibratedBeta()
        self.begin(path, "calibrated")
        self.begin(path, CalibratedBeta())

    def test_another_one_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        self.begin(path, "calibrated")
        with pytest.raises(CheckpointError, match=r"beta was 'CalibratedBeta\(.*\)', is None"):
            UnboundedOptimizer([(0.0, 1.0)], method="GPUCB-UBO", checkpoint=path, seed=3)

    def test_one_of_ones_own_is_asked_for(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        self.begin(path, ConstantBeta(2.0))
        with pytest.raises(CheckpointError, match=r"beta=ConstantBeta\(value=2\.0\)\. Register"):
            UnboundedOptimizer.open(path)
        self.begin(path, ConstantBeta(2.0))

    def test_the_usual_one_is_not_told(self, tmp_path: Path) -> None:
        self.begin(tmp_path / "run.db", "scaled")
        path = tmp_path / "run.db"
        UnboundedOptimizer([(0.0, 1.0)], method="GPUCB-UBO", checkpoint=path, seed=3)
