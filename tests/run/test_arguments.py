"""What users hand in, in many forms, comes out in one; anything else is refused by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo.run.arguments import as_bounds, as_count, as_points, as_values
from tests.support.optimizing import make


class TestBounds:
    @pytest.mark.parametrize(
        "bounds",
        [
            [(-1, 1), (0, 3)],
            [[-1, 1], [0, 3]],
            ((-1.0, 1.0), (0.0, 3.0)),
            np.array([[-1, 1], [0, 3]]),
            torch.tensor([[-1, 0], [1, 3]]),
            torch.tensor([[-1.0, 0.0], [1.0, 3.0]]),
            [[np.float32(-1), torch.tensor(1)], [0, 3]],
        ],
    )
    def test_many_forms(self, bounds: Any) -> None:
        assert as_bounds(bounds).tolist() == [[-1.0, 0.0], [1.0, 3.0]]
        assert make(bounds).box.bounds.tolist() == [[-1.0, 0.0], [1.0, 3.0]]
        assert make(bounds).box.bounds.dtype == torch.double

    @pytest.mark.parametrize(
        "bounds",
        [
            [],
            None,
            3,
            "ab",
            [1, 2],
            [(0, 1, 2)],
            [(0, None)],
            [("a", "b")],
            ["01"],  # a text of two digits is no pair
            [("0", "1")],
            [(1, 0)],
            [(0, 0)],
            [(0, math.inf)],
            [(math.nan, 1)],
            np.zeros((2, 3)),
            torch.zeros(3),
        ],
    )
    def test_bad_ones(self, bounds: Any) -> None:
        with pytest.raises(InputDataError, match="Expected"):
            make(bounds)


class TestPointsAndValues:
    @pytest.mark.parametrize("form", [list, np.array, torch.tensor, np.float32])
    def test_many_forms(self, form: Any) -> None:
        points = as_points(form([[1.0, 2.0], [3.0, 4.0]]), 2)
        assert points.dtype == torch.double
        assert points.tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert as_values(form([1.0, 2.0]), 2, "Y") == [1.0, 2.0]
        assert as_values(form([[1.0], [2.0]]), 2, "Y") == [1.0, 2.0]

    def test_a_tensor_with_a_gradient(self) -> None:
        assert not as_points(torch.ones(1, 2, requires_grad=True), 2).requires_grad

    @pytest.mark.parametrize("points", [[1.0, 2.0], [[1.0]], [[[1.0, 2.0]]], [["a", "b"]], None])
    def test_points_of_another_shape_are_refused(self, points: Any) -> None:
        with pytest.raises(InputDataError, match=r"points as n x 2 numbers|numbers in `X`"):
            as_points(points, 2)

    @pytest.mark.parametrize(
        "points",
        [
            [["1", 0.0]],  # converts, and is no number
            [[b"1", 0.0]],
            [[10**400, 0]],
            [[1j, 0.0]],
            np.array([["1", "2"]]),
            np.array([[1j, 2]]),
            np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"),
            np.ma.array([[1.0, 2.0]], mask=[[True, False]]),
            torch.ones(1, 2, dtype=torch.complex64),
            torch.empty(1, 2, device="meta"),
            [[object(), 1.0]],
        ],
    )
    def test_what_converts_but_is_no_number_is_refused(self, points: Any) -> None:
        with pytest.raises(InputDataError, match="Expected numbers in `X`"):
            as_points(points, 2)
        with pytest.raises(InputDataError, match="Expected numbers in `Y`"):
            as_values(points[0] if isinstance(points, list) else points, 2, "Y")

    def test_numbers_as_objects(self) -> None:
        """A data frame of several dtypes is an array of objects; what is missing is None."""
        rows = np.array([[1, 2.5], [np.float32(3), torch.tensor(4.0)]], dtype=object)
        assert as_points(rows, 2).tolist() == [[1.0, 2.5], [3.0, 4.0]]
        assert math.isnan(as_values([1.0, None], 2, "Y")[1])  # type: ignore[arg-type]

    @pytest.mark.parametrize("values", [3.0, [1.0], [[1.0, 2.0]], [1.0, 2.0, 3.0], ["a", "b"]])
    def test_values_of_another_number_are_refused_by_name(self, values: Any) -> None:
        with pytest.raises(InputDataError, match="`variance`"):
            as_values(values, 2, "variance")


@pytest.mark.parametrize(
    "options",
    [
        {"direction": "min"},
        {"num_initial": 0},
        {"num_initial": 2.5},
        {"num_initial": True},
        {"seed": 2**64 - 1},
        {"seed": 1.5},
        {"epsilon": 0.0},
        {"epsilon": (0.1, "metres")},
        {"max_growth": -1.0},
        {"method": "magic"},
        {"search": {"raw_samples": 32}},
        {"hard_limits": {0: (0.0, None)}},  # cuts into the box
        {"hard_limits": {5: (0.0, None)}},
        {"data": ([[0.0]], [1.0])},
        {"data": ([[0.0, 0.0]],)},
        {"data": 5},
        {"data": "x"},
        {"data": ([[0.0, 0.0]], [1.0], [1.0], [1.0])},
        {"on_expand": 5},
    ],
)
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(InputDataError, match="Expected"):
        make(**options)


@pytest.mark.parametrize("option", ["rawsamples", "num_restarts"])
def test_an_option_that_there_is_not_is_named(option: str) -> None:
    with pytest.raises(TypeError, match=option):
        make(**{option: 3})


@pytest.mark.parametrize("value", [3, np.int64(3), torch.tensor(3)])
def test_counts_in_many_forms(value: Any) -> None:
    assert as_count(value, "budget") == 3


@pytest.mark.parametrize("value", [0, -1, 2.5, 3.0, "3", None, True, [3]])
def test_what_is_no_count(value: Any) -> None:
    with pytest.raises(InputDataError, match="a whole number `budget` >= 1"):
        as_count(value, "budget")
