"""What a run was started with: as JSON values, and in the user's own form."""

from __future__ import annotations

import json
import math
from typing import Any

import botorch
import pytest
import torch

from botorch_ubo import ExpandingBounds, SearchSettings
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
