"""Samples that satisfy constraints on inputs, and arguments that are refused."""

import math
from typing import Any

import pytest
import torch
from botorch.exceptions.errors import InputDataError, UnsupportedError

from botorch_ubo.acquisition.search import InputSpace
from tests.support.gps import tensor

BOX = tensor([[-1.0, -1.0, -1.0], [1.0, 2.0, 3.0]])
INDEX = torch.tensor([0, 1])


def samples(n: int = 64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    unit = torch.rand(n, 3, generator=generator, dtype=torch.double)
    return BOX[0] + (BOX[1] - BOX[0]) * unit


SPACES: dict[str, dict[str, Any]] = {
    "inequality": {"inequality_constraints": [(INDEX, tensor([1.0, 1.0]), 1.5)]},
    "two": {
        "inequality_constraints": [
            (INDEX, tensor([-1.0, -1.0]), -0.2),
            (torch.tensor([2]), tensor([1.0]), 2.5),
        ]
    },
    "equality": {"equality_constraints": [(INDEX, tensor([1.0, -2.0]), 0.3)]},
    "both": {
        "equality_constraints": [(torch.tensor([0, 2]), tensor([1.0, 1.0]), 2.0)],
        "inequality_constraints": [(INDEX, tensor([1.0, 1.0]), 1.0)],
    },
    "fixed": {"fixed_features": {1: 0.25}},
    "fixed beyond the box": {"fixed_features": {1: 7.0}},
    "fixed and inequality": {
        "fixed_features": {1: 1.9},
        "inequality_constraints": [(INDEX, tensor([-1.0, -1.0]), -2.0)],
    },
    "nonlinear": {"nonlinear_inequality_constraints": [(lambda x: 1 - x.square().sum(), True)]},
}


@pytest.mark.parametrize("name", SPACES)
def test_samples_satisfy_everything_and_stay_in_the_box(name: str) -> None:
    space = InputSpace(**SPACES[name])
    box = space.widen(BOX)
    X = space.satisfy(samples(), box)
    assert len(X) >= 8 and space.is_satisfied(X).all()
    assert ((X >= box[0]) & (X <= box[1])).all()
    assert len(X.unique(dim=0)) > 4


def test_discrete_inputs_get_values_and_the_others_make_up_for_it() -> None:
    """x1 in {-1, 2} and x0 + x1 = 1.1: with x1 = 2, x0 is -0.9; with -1 it would leave the box."""
    space = InputSpace(
        equality_constraints=[(INDEX, tensor([1.0, 1.0]), 1.1)],
        discrete_dims={1: [-1.0, 2.0]},
        cat_dims={2: [0.0, 1.0, 2.0]},
    )
    X = space.satisfy(samples(), space.widen(BOX))
    assert len(X) >= 3 and space.is_satisfied(X).all()
    assert set(X[:, 1].tolist()) == {2.0} and X[:, 0].tolist() == pytest.approx([-0.9] * len(X))
    assert set(X[:, 2].tolist()) == {0.0, 1.0, 2.0}


def test_what_satisfies_already_stays() -> None:
    space = InputSpace(**SPACES["inequality"])
    X = samples()
    kept = X[space.is_satisfied(X)]
    found = space.satisfy(X, BOX)
    distance = torch.cdist(kept, found).amin(dim=-1)
    assert len(kept) > 3 and float(distance.max()) < 1e-6


def test_a_sample_beyond_is_pulled_no_further_than_the_edge() -> None:
    """From (1, 2) to x0 + x1 <= 0.2: what comes of it lies on the edge or was pulled inside."""
    space = InputSpace(inequality_constraints=[(INDEX, tensor([-1.0, -1.0]), -0.2)])
    X = space.satisfy(tensor([[1.0, 2.0, 0.0]]), BOX)[:1]
    assert float(X[0, :2].sum()) == pytest.approx(0.2)


def test_nothing_to_be_found_is_said() -> None:
    never = InputSpace(nonlinear_inequality_constraints=[(lambda x: -1 - x.square().sum(), True)])
    with pytest.raises(UnsupportedError, match=r"Expected a point.*Evaluate one that does"):
        never.satisfy(samples(), BOX)
    beyond = InputSpace(inequality_constraints=[(INDEX, tensor([1.0, 1.0]), 50.0)])
    with pytest.raises(UnsupportedError, match=r"linear input constraints; there is none"):
        beyond.satisfy(samples(), BOX)


def test_equalities_that_contradict_each_other() -> None:
    twice = [(INDEX, tensor([1.0, 1.0]), 0.5), (INDEX, tensor([1.0, 1.0]), 0.7)]
    with pytest.raises(UnsupportedError, match="contradicts them"):
        InputSpace(equality_constraints=twice).satisfy(samples(), BOX)


def test_discrete_values_are_those_within_the_box_or_the_nearest() -> None:
    space = InputSpace(discrete_dims={0: [2.0, 0.0, -5.0, 0.5], 1: [40.0, 50.0]})
    assert space.values_within(BOX) == {0: [0.0, 0.5], 1: [40.0]}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"fixed_features": {3: 0.0}}, InputDataError, r"from 0 to 2; got \[3\]"),
        ({"cat_dims": {-4: [0.0]}}, InputDataError, r"got \[-4\]"),
        (
            {"inequality_constraints": [(torch.tensor([[0, 1]]), tensor([1.0]), 0.0)]},
            UnsupportedError,
            "of one point.*between them cannot be kept",
        ),
        ({"fixed_features": {0: math.nan}}, InputDataError, "a finite number for input 0"),
        ({"fixed_features": {0: "a"}}, InputDataError, "a finite number for input 0"),
        ({"fixed_features": {"0": 1.0}}, InputDataError, "index of an input"),
        ({"discrete_dims": {0: []}}, InputDataError, "at least one for input 0"),
        ({"discrete_dims": {0: "ab"}}, InputDataError, "at least one for input 0"),
        ({"discrete_dims": {0: 5}}, InputDataError, "at least one for input 0"),
        ({"discrete_dims": {-1: [0.0]}}, InputDataError, r"from 0 to 2 in `discrete_dims`"),
        ({"discrete_dims": {0: [1.0]}, "cat_dims": {0: [1.0]}}, InputDataError, r"\[0\] in both"),
        ({"inequality_constraints": 5}, InputDataError, "as a list"),
        ({"inequality_constraints": [(0, 1, 2)]}, InputDataError, "as tensors"),
        ({"equality_constraints": [(INDEX, tensor([1.0, 1.0]))]}, InputDataError, "as tensors"),
        (
            {"equality_constraints": [(INDEX, tensor([1.0, 1.0]), math.nan)]},
            InputDataError,
            "finite right-hand side",
        ),
        (
            {"equality_constraints": [(INDEX.double(), tensor([1.0, 1.0]), 0.0)]},
            InputDataError,
            "whole indices",
        ),
        ({"nonlinear_inequality_constraints": [5]}, UnsupportedError, r"\(callable, True\)"),
        (
            {"nonlinear_inequality_constraints": [(lambda x: x.sum(), False)]},
            UnsupportedError,
            r"\(callable, True\)",
        ),
        (
            {
                "nonlinear_inequality_constraints": [(lambda x: x.sum(), True)],
                "discrete_dims": {0: [0.0, 1.0]},
            },
            UnsupportedError,
            "linear constraints with `discrete_dims`",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"(?s)Expected.*{message}"):
        InputSpace(**arguments).check(3)
