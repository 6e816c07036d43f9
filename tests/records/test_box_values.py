"""Boxes and sides as plain values."""

import pytest
from botorch.exceptions.errors import InputDataError

from botorch_ubo.records.box_values import as_box, read_box, read_sides
from tests.support.gps import tensor

BOX = ((0.0, -1.0), (1.0, 2.0))


def test_a_box_from_a_tensor_and_from_lists() -> None:
    assert as_box(tensor([[0.0, -1.0], [1.0, 2.0]])) == BOX
    assert read_box([[0, -1], [1, 2]]) == BOX


@pytest.mark.parametrize(
    "values",
    [
        [[0.0], [1.0, 2.0]],
        [[1.0, 0.0], [1.0, 2.0]],
        [[0.0, 3.0], [1.0, 2.0]],
        [[0.0, "nan"], [1.0, 2.0]],
        [[0.0, "-inf"], [1.0, 2.0]],
        [[0.0, None], [1.0, 2.0]],
    ],
)
def test_what_is_no_box_is_refused(values: object) -> None:
    with pytest.raises(InputDataError, match="Expected a"):
        read_box(values)


def test_sides() -> None:
    assert read_sides([[0, "lower"], (2, "upper")]) == ((0, "lower"), (2, "upper"))
    for bad in ([[0, "left"]], [[-1, "lower"]], [["0", "lower"]]):
        with pytest.raises(InputDataError, match="Expected"):
            read_sides(bad)
