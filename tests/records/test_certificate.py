"""Certificates survive JSON and claim no more than they may."""

import dataclasses
import json
import math

import pytest
from botorch.exceptions.errors import InputDataError

from botorch_ubo.records import Certificate

CERTIFICATE = Certificate(
    bounds=((0.0, -1.0), (1.0, 2.0)),
    epsilon=0.1,
    regret_bound=0.05,
    beta=1.0,
    confidence=0.9,
    num_observations=7,
    best_X=(0.1, 0.2),
    best_value=-3.0,
)


@pytest.mark.parametrize("confidence", [0.9, None])
def test_survives_json(confidence: float | None) -> None:
    certificate = dataclasses.replace(CERTIFICATE, confidence=confidence)
    text = json.dumps(certificate.to_dict(), allow_nan=False)
    assert Certificate.from_dict(json.loads(text)) == certificate


def test_says_how_sure_it_is_and_of_what() -> None:
    text = str(CERTIFICATE)
    assert "after 7 evaluations" in text and "within 0.1 of the optimum" in text
    assert "[0, 1] x [-1, 2]" in text
    assert "with probability at least 0.9" in text
    assert "nothing is claimed beyond the box" in text
    assert "without a probability" in str(dataclasses.replace(CERTIFICATE, confidence=None))


@pytest.mark.parametrize(
    "change",
    [
        {"best_X": [0.1, math.nan]},
        {"confidence": "inf"},
        {"num_observations": 1.5},
        {"bounds": [[0.0], [0.0]]},
        {"epsilon": None},
        {"more": 1},
    ],
)
def test_nothing_else_is_taken_for_one(change: dict[str, object]) -> None:
    with pytest.raises(InputDataError, match="Expected"):
        Certificate.from_dict({**CERTIFICATE.to_dict(), **change})


def test_a_missing_field_is_named() -> None:
    values = CERTIFICATE.to_dict()
    del values["beta"]
    with pytest.raises(InputDataError, match=r"well-formed certificate with .*'beta'.*; got"):
        Certificate.from_dict(values)
