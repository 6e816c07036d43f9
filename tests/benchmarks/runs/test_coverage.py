from __future__ import annotations

import pytest

from benchmarks.runs.coverage import search_path

SETTINGS = {"delta": 0.1, "epsilon": 0.05, "lengthscale": 0.5, "max_evaluations": 40}


def test_stops_when_the_trigger_fires() -> None:
    search = search_path((1, 0, "beta"), SETTINGS)
    assert search["epsilon"] is not None and search["regret"] <= search["epsilon"]
    # 1/t^2 alone exceeds epsilon for four evaluations after the initial three
    assert 7 <= search["evaluations"] < SETTINGS["max_evaluations"]


@pytest.mark.slow
def test_a_fifth_of_beta() -> None:
    full, fifth = (search_path((1, 1, beta), SETTINGS) for beta in ("beta", "beta/5"))
    assert fifth["evaluations"] <= full["evaluations"]
    assert fifth["sqrt_beta"] < full["sqrt_beta"] / 2


def test_gives_up() -> None:
    search = search_path((1, 0, "beta"), {**SETTINGS, "max_evaluations": 5})
    assert search["evaluations"] == 5 and search["epsilon"] is None
